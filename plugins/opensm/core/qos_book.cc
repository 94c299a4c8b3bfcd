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
  const bool high = block == ArbBlock::HighFirst || block == ArbBlock::HighSecond;
  const bool second = block == ArbBlock::LowSecond || block == ArbBlock::HighSecond;
  const qos::ArbTable& table = high ? tables.high : tables.low;
  std::array<qos::ArbEntry, block_entries> entries{};
  for (std::size_t i = 0; i < block_entries; ++i) {
    const std::size_t at = i + (second ? block_entries : 0);
    if (at < table.size()) entries[i] = table[at];
  }
  return entries;
}

}  // namespace heddle::plugin
