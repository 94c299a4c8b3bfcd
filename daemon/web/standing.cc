#include "web/standing.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <cmath>
#include <set>

namespace heddle::web {
namespace {

/// The direction that leaves this port, or none.
std::optional<std::size_t> direction_of(const Fabric& fabric, const PortRef& ref) {
  const PortIndex port = fabric.find_port(ref);
  if (port == no_port || fabric.port(port).link == no_link) return std::nullopt;
  const LinkIndex link = fabric.port(port).link;
  return 2 * std::size_t{link.raw()} + (fabric.port_index(fabric.link(link).a) == port ? 0 : 1);
}

}  // namespace

PowerState power_state(const regulation::LinkStatus& link) {
  using regulation::LinkState;
  using regulation::Wish;
  switch (link.state) {
    case LinkState::Off:
      return link.wish == Wish::Off ? PowerState::OffByOperator : PowerState::Off;
    case LinkState::Lost:
      return PowerState::Off;
    case LinkState::Active:
      return link.wish == Wish::On || link.wish == Wish::Pin ? PowerState::OnByOperator : PowerState::On;
    default:
      return PowerState::Changing;
  }
}

void add_power(Picture& picture, const load::Sample& sample,
               const std::vector<regulation::LinkStatus>& links) {
  for (const auto& link : links) {
    if (const auto direction = direction_of(*sample.fabric, link.link.a))
      picture.power[*direction / 2] = static_cast<std::int64_t>(power_state(link));
  }
}

void add_drift(Picture& picture, const load::Sample& sample,
               const std::map<PortRef, std::string>& differing) {
  std::ranges::fill(picture.drift, 0);
  for (const auto& [port, what] : differing) {
    if (const auto direction = direction_of(*sample.fabric, port)) picture.drift[*direction] = 1;
  }
}

std::int64_t bit_errors_shown(std::optional<double> rate) {
  if (!rate) return unknown_bits;
  if (*rate <= 0) return 0;
  constexpr double decades = 20;
  return std::max<std::int64_t>(1, std::llround(100 * (std::log10(*rate) + decades)));
}

Column bit_errors_of(const Fabric& fabric, const std::vector<health::PortBitErrors>& ports) {
  Column column(2 * fabric.links().size(), unknown_bits);
  for (const health::PortBitErrors& port : ports) {
    const auto leaves = direction_of(fabric, port.port);
    if (!leaves) continue;
    column[*leaves ^ 1U] = bit_errors_shown(health::worse_window(port).effective);
  }
  return column;
}

boost::json::value routes_view(const Fabric& fabric, const std::optional<std::vector<Lid>>& lids) {
  if (!lids) return nullptr;
  std::set<NodeIndex> hosts;
  std::set<NodeIndex> switches;
  for (const Lid lid : *lids) {
    const PortIndex port = fabric.find_port(lid);
    if (port == no_port) continue;
    const NodeIndex node = fabric.port(port).node;
    (fabric.node(node).type == NodeType::Switch ? switches : hosts).insert(node);
  }
  return boost::json::object{{"lids", lids->size()}, {"hosts", hosts.size()}, {"switches", switches.size()}};
}

}  // namespace heddle::web
