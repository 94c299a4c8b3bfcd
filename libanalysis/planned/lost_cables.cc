#include "planned/lost_cables.h"

#include <algorithm>

#include "routing/kept_turns.h"

namespace heddle::planned {

namespace {

bool is_staged(const plan::Plan& plan) {
  return std::ranges::any_of(plan.planes, [](const plan::Plane& plane) { return plane.staged.has_value(); });
}

/// A switch has confirmed an entry that leads there.
bool is_in_use(const PortRef& port, const routing::ForwardingTables& tables) {
  const routing::SwitchIndex sw = tables.find(port.node);
  return sw != routing::no_switch &&
         std::ranges::find(tables.row(sw), port.port.raw()) != tables.row(sw).end();
}

}  // namespace

bool keeps_off(const plan::Plan& plan) {
  return !plan.off.empty() || !plan.forced.empty() || is_staged(plan) ||
         std::ranges::any_of(plan.planes, [](const plan::Plane& plane) { return !plane.avoid.empty(); });
}

LostCables::Leave LostCables::look(const RouteMaker& maker, const Routes& routes, const SubnetRecords& seen,
                                   std::span<const LinkRef> lost, const plan::Plan* plan, unsigned lmc,
                                   const TablesInForce& in_force, bool is_calm) {
  if (lost.empty()) tried_.clear();
  if (routes.unconnected == 0 || lost.empty() || !seen.away.empty()) return Leave::No;
  const auto is_gone = [&](NodeGuid node) {
    return std::ranges::find(seen.nodes, node, &Node::guid) == seen.nodes.end();
  };
  if (std::ranges::any_of(lost,
                          [&](const LinkRef& link) { return is_gone(link.a.node) || is_gone(link.b.node); }))
    return Leave::No;
  if (std::ranges::equal(lost, tried_)) return Leave::No;
  if (plan != nullptr && keeps_off(*plan)) return is_staged(*plan) ? Leave::Later : Leave::No;
  if (!is_calm) return Leave::Later;
  const routing::ForwardingTables held = in_force.of(maker.router().graph(), routes.tables.top());
  if (std::ranges::any_of(
          lost, [&](const LinkRef& link) { return is_in_use(link.a, held) || is_in_use(link.b, held); }))
    return Leave::Later;
  tried_.assign(lost.begin(), lost.end());
  RouteMaker trial{maker.order()};
  if (!trial.make(make_subnet(seen, {}), plan, lmc, &in_force)) return Leave::No;
  const auto before = maker.router().apart();
  const auto after = trial.router().apart();
  if (after.size() >= before.size() || !std::ranges::includes(before, after)) return Leave::No;
  tried_.clear();
  return Leave::Now;
}

LostCables::Clock::time_point LostCables::again_at(Clock::time_point written, Clock::time_point now) {
  const Clock::time_point rested = written + routing::between_orders;
  return rested > now ? rested : now + routing::between_orders;
}

}  // namespace heddle::planned
