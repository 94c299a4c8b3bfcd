#include "core/qos_book.h"

namespace heddle::plugin {

QosBook::QosBook(const plan::Qos& qos) {
  if (qos.everywhere) {
    everywhere_ = &*qos.everywhere;
    has_sl2vl_ = qos.everywhere->sl2vl.has_value();
  }
  for (const plan::QosGroup& group : qos.groups) {
    has_sl2vl_ = has_sl2vl_ || group.tables.sl2vl.has_value();
    for (const PortRef& port : group.ports) by_port_.emplace(port, &group.tables);
  }
}

const plan::QosTables* QosBook::tables(const PortRef& port) const {
  const auto it = by_port_.find(port);
  return it != by_port_.end() ? it->second : everywhere_;
}

std::array<qos::ArbEntry, block_entries> block_of(const qos::VlArbitration& tables, ArbBlock block) {
  return qos::blocks_of(tables)[static_cast<std::size_t>(block)];
}

}  // namespace heddle::plugin
