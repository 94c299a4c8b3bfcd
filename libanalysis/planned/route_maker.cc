#include "planned/route_maker.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/printable.h"
#include "routing/kept_turns.h"
#include "routing/kept_ways.h"
#include "routing/safe_update.h"

namespace heddle::planned {
namespace {

using routing::LinkSet;
using routing::SwitchGraph;

bool same_node(const Node& x, const Node& y) {
  return x.guid == y.guid && x.type == y.type && x.port_count == y.port_count &&
         x.aggregation == y.aggregation;
}

/// The same nodes, LIDs and cables: then routers for one are good for the other.
bool same_topology(const Fabric& x, const Fabric& y) {
  const auto same_lids = [](const Port& a, const Port& b) { return a.lid == b.lid && a.lmc == b.lmc; };
  const auto same_ends = [](const Link& a, const Link& b) { return a.a == b.a && a.b == b.b; };
  return std::ranges::equal(x.nodes(), y.nodes(), same_node) &&
         std::ranges::equal(x.ports(), y.ports(), same_lids) &&
         std::ranges::equal(x.links(), y.links(), same_ends);
}

void erase(LinkSet& set, const Fabric& fabric, const std::vector<LinkRef>& links) {
  for (const LinkRef& link : links) {
    const PortIndex port = fabric.find_port(link.a);
    if (port == no_port || fabric.port(port).link == no_link) continue;
    const Link& found = fabric.link(fabric.port(port).link);
    if (link_ref(fabric, found) == link) set.erase(fabric.port(port).link);
  }
}

/// Of the plan's planes; a plan without any has one.
const plan::Plane& plane_of(const plan::Plan& plan, unsigned plane) {
  static const plan::Plane nothing;
  return plan.planes.empty() ? nothing : plan.planes[plane % plan.planes.size()];
}

/// Where a port with LIDs hangs, or whose it is.
std::optional<NodeIndex> switch_of(const Fabric& fabric, const PortRef& ref) {
  const PortIndex port = fabric.find_port(ref);
  if (port == no_port) return std::nullopt;
  const NodeIndex node = fabric.port(port).node;
  if (fabric.node(node).type == NodeType::Switch) return node;
  const auto peer = fabric.peer({node, ref.port});
  if (!peer || fabric.node(peer->node).type != NodeType::Switch) return std::nullopt;
  return peer->node;
}

LinkSet permitted(const Subnet& subnet, const plan::Plan* plan, const std::vector<LinkRef>* avoid) {
  LinkSet set = subnet.usable;
  if (plan != nullptr) erase(set, *subnet.fabric, plan->off);
  if (avoid != nullptr) erase(set, *subnet.fabric, *avoid);
  return set;
}

/// Where `to`, which the plan permits, would cut hosts off: not what an operator wants off by force, and not
/// what may be off by now. A link that the plan permits again has been seen to come.
LinkSet usable_in_need(const Subnet& subnet, const plan::Plan* plan, const LinkSet& to) {
  LinkSet up = subnet.usable;
  if (plan != nullptr) erase(up, *subnet.fabric, plan->forced);
  LinkSet sure = up;
  erase(sure, *subnet.fabric, subnet.released);
  LinkSet set = sure;
  LinkSet::for_each_difference(up, sure, [&](LinkIndex link) {
    if (to.contains(link)) set.insert(link);
  });
  return set;
}

/// Why a plane is not routed as the plan wants it: whom it would part, and what OpenSM does not see as
/// Active.
std::string relaxed_remark(unsigned plane, const Subnet& subnet, const SwitchGraph& graph,
                           const std::vector<std::pair<routing::SwitchIndex, routing::SwitchIndex>>& apart) {
  const auto name = [&](routing::SwitchIndex sw) {
    const NodeGuid guid = graph.guid(sw);
    return fmt::format("\"{}\" ({})",
                       printable(subnet.fabric->node(subnet.fabric->find_node(guid)).description),
                       to_string(guid));
  };
  std::string text = fmt::format(
      "plane {}: the plan's links would leave {} pairs of switches without a path, first {} to {}; "
      "links that it avoids are used as long as they are up",
      plane, apart.size(), name(apart.front().first), name(apart.front().second));
  if (subnet.waiting != 0) text += fmt::format("; {} links are not Active to OpenSM", subnet.waiting);
  return text;
}

void intersect(LinkSet& set, const LinkSet& other) {
  LinkSet both = set;
  LinkSet::for_each_difference(set, other, [&](LinkIndex link) { both.erase(link); });
  set = both;
}

}  // namespace

Result<void> RouteMaker::renew(const std::shared_ptr<const Fabric>& fabric, const plan::Plan* plan,
                               unsigned planes, const TablesInForce* in_force) {
  auto graph = routing::SwitchGraph::make(*fabric);
  if (!graph) return fail(graph.error());
  RankList ranks = order_.ranks(*graph, plan);
  if (router_ && router_->planes() == planes && ranks == ranks_ && same_topology(*fabric, *fabric_)) {
    return {};
  }
  routing::UpDownOptions options;
  options.ranks = ranks;
  options.planes = planes;
  auto router = routing::UpDownRouter::make(*fabric, options);
  if (!router) return fail(router.error());
  router_.emplace(std::move(*router));
  course_.reset();
  fabric_ = fabric;
  if (in_force != nullptr && !in_force->empty()) allow_turns(*in_force, options);
  order_.keep(router_->graph(), router_->ranks());
  ranks_ = order_.ranks(router_->graph(), nullptr);
  return {};
}

/// By the router that was made last: its mends are made once more where packets turn in other ways.
void RouteMaker::allow_turns(const TablesInForce& in_force, routing::UpDownOptions options) {
  const routing::SwitchGraph& graph = router_->graph();
  options.turns =
      routing::standing_turns(graph, router_->ranks(), in_force.of(graph, router_->tables().top()));
  const auto standing = routing::turns_of(graph, options.turns);
  const auto is_allowed = [&](const routing::Turn& turn) {
    return router_->mends().turns(turn.from, turn.over, turn.to);
  };
  if (std::ranges::all_of(standing, is_allowed)) return;
  if (auto router = routing::UpDownRouter::make(*fabric_, options)) router_.emplace(std::move(*router));
}

void RouteMaker::route_staged(unsigned plane, const LinkSet& to, const Subnet& subnet, const plan::Plan& plan,
                              Routes& routes) {
  const plan::Staged& staged = *plane_of(plan, plane).staged;
  (void)router_->update(plane, permitted(subnet, &plan, &staged.from));
  const routing::ForwardingTables before = router_->tables();
  const std::vector<Pair> parted = apart(plane, subnet, &plan);
  (void)router_->update(plane, to);
  // Whom these parted has a way over what they avoid: the passes lead from what is in force.
  if (!std::ranges::includes(apart(plane, subnet, &plan), parted)) {
    routes.stages[plane] = 1;
    return;
  }
  const routing::ForwardingTables& after = router_->tables();
  const auto stages = routing::plan_safe_update({router_->graph(), router_->ranks(), router_->mends()},
                                                before, after, routing::differing_blocks(before, after))
                          .plan.stages;
  routes.stages[plane] = static_cast<std::uint32_t>(stages.size());
  for (std::size_t stage = staged.stage + 1U; stage < stages.size(); ++stage) {
    for (const routing::EntryWrite& write : stages[stage])
      routes.tables.set(write.sw, write.lid, before.port(write.sw, write.lid));
  }
  // An entry that is written twice is neither as before nor as wanted in between.
  for (std::size_t stage = 0; stage <= staged.stage && stage < stages.size(); ++stage) {
    for (const routing::EntryWrite& write : stages[stage]) routes.tables.set(write.sw, write.lid, write.port);
  }
}

/// Switches with hosts, and the manager's with any: a way is missing. Sorted. Who is away misses nobody.
std::vector<RouteMaker::Pair> RouteMaker::apart(unsigned plane, const Subnet& subnet,
                                                const plan::Plan* plan) const {
  const std::vector<Pair> unmanaged = this->unmanaged(plane, subnet, plan);
  std::vector<Pair> pairs;
  std::ranges::set_union(router_->unconnected(plane), unmanaged, std::back_inserter(pairs));
  const auto is_away = [&](routing::SwitchIndex sw) {
    return std::ranges::binary_search(subnet.away, router_->graph().guid(sw));
  };
  if (!subnet.away.empty())
    std::erase_if(pairs, [&](const Pair& pair) { return is_away(pair.first) || is_away(pair.second); });
  return pairs;
}

/// A switch that an operator drains needs no way. One that a plan leaves none by itself is missed: whoever
/// made it did not know that the others are gone.
std::vector<RouteMaker::Pair> RouteMaker::unmanaged(unsigned plane, const Subnet& subnet,
                                                    const plan::Plan* plan) const {
  const SwitchGraph& graph = router_->graph();
  const auto manager = subnet.manager ? switch_of(*subnet.fabric, *subnet.manager) : std::nullopt;
  if (!manager) return {};
  const auto is_drained = [&](routing::SwitchIndex sw) {
    return plan != nullptr && std::ranges::binary_search(plan->drained, graph.guid(sw));
  };
  auto pairs = router_->unmanaged(graph.find(*manager), plane);
  std::erase_if(pairs, [&](const Pair& pair) { return is_drained(pair.first) || is_drained(pair.second); });
  return pairs;
}

std::size_t RouteMaker::count_host_pairs(const std::vector<Pair>& pairs) const {
  const SwitchGraph& graph = router_->graph();
  return static_cast<std::size_t>(std::ranges::count_if(pairs, [&](const Pair& pair) {
    return graph.hosts_at(pair.first) != 0 && graph.hosts_at(pair.second) != 0;
  }));
}

/// Ways that work and that the order does not give (routing/kept_ways.h).
bool RouteMaker::takes_a_way(unsigned plane, const std::vector<Pair>& apart, const LinkSet& to,
                             const LinkSet& open, const TablesInForce& in_force) const {
  const SwitchGraph& graph = router_->graph();
  return routing::lose_a_way(graph, {plane, router_->planes()}, apart,
                             in_force.of(graph, router_->tables().top()), to, open);
}

void RouteMaker::route_plane(unsigned plane, const Subnet& subnet, const plan::Plan* plan,
                             const TablesInForce* in_force, Routes& routes) {
  LinkSet to = permitted(subnet, plan, plan != nullptr ? &plane_of(*plan, plane).avoid : nullptr);
  (void)router_->update(plane, to);
  std::vector<Pair> without = apart(plane, subnet, plan);
  LinkSet open = usable_in_need(subnet, plan, to);
  routes.open = open;
  if (!without.empty() && to != open) {
    (void)router_->update(plane, open);
    std::vector<Pair> left = apart(plane, subnet, plan);
    if (left.size() < without.size() ||
        (in_force != nullptr && takes_a_way(plane, without, to, open, *in_force))) {
      routes.remarks.push_back(relaxed_remark(plane, subnet, router_->graph(), without));
      routes.relaxed = true;
      to = std::move(open);
      without = std::move(left);
    } else {
      (void)router_->update(plane, to);
    }
  }
  routes.unconnected += count_host_pairs(without);
  if (plane == 0) {
    routes.permitted = to;
  } else {
    intersect(routes.permitted, to);
  }
  routes.by_plane.push_back(std::move(to));
}

Result<Routes> RouteMaker::make(const Subnet& subnet, const plan::Plan* plan, unsigned lmc,
                                const TablesInForce* in_force) {
  const std::size_t wanted = plan != nullptr && !plan->planes.empty() ? plan->planes.size() : 1;
  const auto planes =
      static_cast<unsigned>(std::min<std::size_t>(wanted, std::size_t{1} << std::min(lmc, 7U)));
  if (auto renewed = renew(subnet.fabric, plan, planes, in_force); !renewed) return fail(renewed.error());
  Routes routes;
  routes.fabric = subnet.fabric;
  routes.stages.assign(planes, 0);
  for (unsigned plane = 0; plane < planes; ++plane) route_plane(plane, subnet, plan, in_force, routes);
  routes.tables = router_->tables();
  for (unsigned plane = 0; plan != nullptr && plane < planes; ++plane) {
    if (!plane_of(*plan, plane).staged || routes.relaxed) continue;
    const LinkSet to = router_->active(plane);
    route_staged(plane, to, subnet, *plan, routes);
  }
  for (const NodeGuid guid : subnet.away) {
    const auto sw = router_->graph().find(subnet.fabric->find_node(guid));
    std::ranges::fill(routes.tables.row(sw), no_path.raw());
  }
  return routes;
}

Pass RouteMaker::next_pass(const Subnet& subnet, const Routes& routes, const TablesInForce& in_force,
                           Packets packets) {
  const routing::SwitchGraph& graph = router_->graph();
  return planned::next_pass({graph, router_->ranks(), router_->mends(), &subnet.usable, &routes.permitted,
                             &routes.open, routes.by_plane},
                            in_force.of(graph, routes.tables.top()), routes.tables, packets,
                            &in_force.recent(), &course_);
}

}  // namespace heddle::planned
