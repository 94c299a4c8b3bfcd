/// Tables for OpenSM from its subnet and a plan. Keeps the router between two routings of the same topology,
/// so that a plan that turns a few links off costs only what depends on them. OpenSM's routing thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"
#include "planned/order.h"
#include "planned/subnet.h"
#include "planned/tables_in_force.h"
#include "planned/transition.h"
#include "routing/link_set.h"
#include "routing/updn.h"

namespace heddle::planned {

struct Routes {
  /// Of the subnet that was routed; null before the first.
  std::shared_ptr<const Fabric> fabric;
  /// Of switches that are away, no entry.
  routing::ForwardingTables tables;
  /// Links that every plane may use: for multicast, and for nobody else to be surprised.
  routing::LinkSet permitted;
  /// By plane, those that it may use: ways that work over them are kept.
  std::vector<routing::LinkSet> by_plane;
  /// Links that planes go on using where they would cut somebody off without.
  routing::LinkSet open;
  /// Per plane, the stages of its update; 0 where it has none.
  std::vector<std::uint32_t> stages;
  /// Pairs of host switches without a path in some plane, of those that are in sight.
  std::size_t unconnected = 0;
  /// A plane goes on using links that the plan wants to avoid, because without them hosts would be cut off,
  /// or lose ways that the order does not give and that work.
  bool relaxed = false;
  std::vector<std::string> remarks;
};

class RouteMaker {
 public:
  RouteMaker() = default;
  /// By an order that another one has.
  explicit RouteMaker(Order order) : order_{std::move(order)} {}

  /// `plan` null: without exclusions. `lmc`: of hosts; the plan's planes beyond 2^lmc have no LIDs.
  /// `in_force`: what switches hold, null where nobody knows. A router that is made anew lets packets turn as
  /// they do by these, as far as that can be (routing/kept_turns.h). Errors: of routing::UpDownRouter, for a
  /// subnet that cannot be routed at all.
  [[nodiscard]] Result<Routes> make(const Subnet& subnet, const plan::Plan* plan, unsigned lmc,
                                    const TablesInForce* in_force = nullptr);

  /// The pass after what is in force, on the way to `routes`, which the last make() brought; entries that
  /// work stay where there is no way for them (routing/kept_ways.h): OpenSM need not have everything as
  /// Active that the order counts on.
  [[nodiscard]] Pass next_pass(const Subnet& subnet, const Routes& routes, const TablesInForce& in_force,
                               Packets packets);

  /// Valid until the next make(). Precondition: a make() that succeeded.
  [[nodiscard]] const routing::UpDownRouter& router() const { return *router_; }
  [[nodiscard]] const Order& order() const { return order_; }

 private:
  Result<void> renew(const std::shared_ptr<const Fabric>& fabric, const plan::Plan* plan, unsigned planes,
                     const TablesInForce* in_force);
  void allow_turns(const TablesInForce& in_force, routing::UpDownOptions options);
  using Pair = std::pair<routing::SwitchIndex, routing::SwitchIndex>;
  [[nodiscard]] std::vector<Pair> apart(unsigned plane, const Subnet& subnet, const plan::Plan* plan) const;
  [[nodiscard]] std::vector<Pair> unmanaged(unsigned plane, const Subnet& subnet,
                                            const plan::Plan* plan) const;
  [[nodiscard]] std::size_t count_host_pairs(const std::vector<Pair>& pairs) const;
  [[nodiscard]] bool takes_a_way(unsigned plane, const std::vector<Pair>& apart, const routing::LinkSet& to,
                                 const routing::LinkSet& open, const TablesInForce& in_force) const;
  void route_plane(unsigned plane, const Subnet& subnet, const plan::Plan* plan,
                   const TablesInForce* in_force, Routes& routes);
  void route_staged(unsigned plane, const routing::LinkSet& to, const Subnet& subnet, const plan::Plan& plan,
                    Routes& routes);

  Order order_;
  std::shared_ptr<const Fabric> fabric_;  ///< that router_ was made for
  RankList ranks_;                        ///< likewise
  std::optional<routing::UpDownRouter> router_;
  std::optional<Course> course_;  ///< by router_
};

}  // namespace heddle::planned
