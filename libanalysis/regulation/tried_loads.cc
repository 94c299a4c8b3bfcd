#include "regulation/tried_loads.h"

#include <algorithm>

namespace heddle::regulation {

using routing::SwitchIndex;

namespace {

/// One host in so many: where more are led otherwise, all are followed, and the next tables are held against
/// these.
constexpr std::size_t few = 5;

}  // namespace

AnyTraffic::Loads TriedLoads::loads(const AnyTraffic& traffic, const routing::ForwardingTables& tables) {
  const bool is_first = before_.switch_count() == 0;
  const std::vector<std::uint32_t> hosts =
      is_first ? std::vector<std::uint32_t>{} : led_otherwise(traffic, tables);
  if (is_first || few * hosts.size() > traffic.host_count()) {
    before_ = tables;
    loads_ = traffic.by_pattern(tables, plane_);
    return traffic.sum_up(loads_);
  }
  AnyTraffic::ByPattern loads = loads_;
  for (const std::uint32_t host : hosts) {
    traffic.follow(host, before_, plane_, -1, loads);
    traffic.follow(host, tables, plane_, 1, loads);
  }
  return traffic.sum_up(loads);
}

std::vector<std::uint32_t> TriedLoads::led_otherwise(const AnyTraffic& traffic,
                                                     const routing::ForwardingTables& tables) const {
  std::vector<std::uint8_t> differs(tables.stride(), 0);
  for (std::uint32_t s = 0; s < tables.switch_count(); ++s) {
    const auto now = tables.row(SwitchIndex{s});
    const auto before = before_.row(SwitchIndex{s});
    for (std::size_t lid = 0; lid < now.size(); ++lid) differs[lid] |= now[lid] ^ before[lid];
  }
  std::vector<std::uint32_t> hosts;
  for (std::uint32_t host = 0; host < traffic.host_count(); ++host) {
    if (differs[traffic.lid(host, plane_).raw()] != 0) hosts.push_back(host);
  }
  return hosts;
}

}  // namespace heddle::regulation
