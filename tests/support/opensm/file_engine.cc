#include "support/opensm/file_engine.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "planned/subnet.h"
#include "routing/lft_dump.h"
#include "routing/multicast.h"

namespace heddle::test {

std::optional<routing::ForwardingTables> FileEngine::route() {
  Lid top{1};
  for (const auto& each : opensm_.records().lids) {
    top = std::max(top, Lid{static_cast<std::uint16_t>(each.base.raw() + (1U << each.lmc) - 1)});
  }
  const auto guids = opensm_.switches();
  routing::ForwardingTables tables{guids, top};
  const auto text = file_();
  if (!text) return tables;
  const auto dump = routing::parse_lft_dump(*text, "opensm.lfts");
  if (!dump) {
    ADD_FAILURE() << dump.error().message;
    return std::nullopt;
  }
  for (const auto& each : dump->switches) {
    const auto s = tables.find(each.guid);
    if (s == routing::no_switch) continue;
    for (const auto& entry : each.entries) {
      if (entry.lid <= top) tables.set(s, entry.lid, entry.port);
    }
  }
  return tables;
}

/// Over whatever forwards, by an order of its own.
std::set<PortRef> FileEngine::tree(Lid group, const std::set<PortIndex>& members) {
  const auto subnet = planned::make_subnet(opensm_.records(), {});
  const auto router = routing::UpDownRouter::make(*subnet.fabric);
  const Fabric& truth = opensm_.fabric().description();
  std::set<PortRef> ports;
  if (!router || members.size() < 2) return ports;
  std::vector<routing::MulticastMember> list;
  for (const PortIndex member : members) {
    const Port& own = truth.port(member);
    const auto at = truth.peer({own.node, own.num});
    const NodeIndex node = at ? subnet.fabric->find_node(truth.node(at->node).guid) : no_node;
    if (node != no_node) list.push_back({router->graph().find(node), at->port});
  }
  const auto tree = routing::grow_tree(router->graph(), router->ranks(), subnet.usable, list, group.raw());
  for (const auto& port : tree.ports) ports.insert({router->graph().guid(port.sw), port.port});
  return ports;
}

}  // namespace heddle::test
