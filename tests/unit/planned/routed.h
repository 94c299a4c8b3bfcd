/// Tables in force as OpenSM comes to have them, pass by pass.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <vector>

#include "planned/route_maker.h"
#include "planned/transition.h"
#include "unit/planned/mixture.h"

namespace heddle::planned {

inline void confirm(const routing::SwitchGraph& graph, const routing::ForwardingTables& tables,
                    TablesInForce& in_force) {
  for (std::uint32_t s = 0; s < graph.size(); ++s)
    in_force.confirm(graph.guid(routing::SwitchIndex{s}), tables.row(routing::SwitchIndex{s}),
                     tables.row(routing::SwitchIndex{s}));
  in_force.end_pass();
}

/// One OpenSM: what it routes is in force at once.
class Routed {
 public:
  /// How many entries stand where the router had none. As many planes as the plan has; one without it.
  std::size_t route(const SubnetRecords& records, std::span<const LinkRef> absent,
                    const plan::Plan* plan = nullptr) {
    const Subnet subnet = make_subnet(records, absent);
    const unsigned lmc = plan != nullptr && plan->planes.size() > 1 ? 1 : 0;
    const Routes routes = maker_.make(subnet, plan, lmc, &in_force_).value();
    Packets packets = Packets::UnderWay;
    for (std::size_t passes = 0; passes < 100; ++passes) {
      const Pass pass = maker_.next_pass(subnet, routes, in_force_, packets);
      const auto wrongs = Mixture(graph(), subnet.usable, now(), pass.tables).find();
      // Whom a plan leaves no way to a switch without hosts needs none.
      EXPECT_EQ(plan == nullptr ? wrongs.lost : wrongs.lost_to_hosts, 0U) << "pass " << passes;
      EXPECT_EQ(wrongs.circles, 0U) << "pass " << passes;
      confirm(graph(), pass.tables, in_force_);
      if (!pass.writes && pass.behind == 0) break;
      if (!pass.writes) in_force_.forget_packets();
      packets = pass.writes ? Packets::UnderWay : Packets::Gone;
    }
    std::size_t kept = 0;
    const routing::ForwardingTables stands = now();
    for (const routing::BlockRef& at : routing::differing_blocks(stands, routes.tables)) {
      for (std::size_t i = 0; i < routing::lids_per_block; ++i) {
        const bool is_wanted = routes.tables.block(at.sw, at.block)[i] != no_path.raw();
        kept += !is_wanted && stands.block(at.sw, at.block)[i] != no_path.raw() ? 1 : 0;
      }
    }
    return kept;
  }
  /// As far as it waits for no packets: `stood` is what has stood since those before were gone.
  void begin(const SubnetRecords& records, std::span<const LinkRef> absent,
             std::vector<routing::ForwardingTables>& stood) {
    const Subnet subnet = make_subnet(records, absent);
    const Routes routes = maker_.make(subnet, nullptr, 0, &in_force_).value();
    if (stood.empty()) {
      in_force_.forget_packets();
      stood.push_back(now());
    }
    Packets packets = stood.size() == 1 ? Packets::Gone : Packets::UnderWay;
    for (std::size_t passes = 0; passes < 100; ++passes) {
      const Pass pass = maker_.next_pass(subnet, routes, in_force_, packets);
      if (!pass.writes) return;
      confirm(graph(), pass.tables, in_force_);
      stood.push_back(pass.tables);
      packets = Packets::UnderWay;
    }
    ADD_FAILURE() << "it does not end";
  }
  [[nodiscard]] routing::ForwardingTables now() const {
    return in_force_.of(graph(), maker_.router().tables().top());
  }
  [[nodiscard]] const routing::SwitchGraph& graph() const { return maker_.router().graph(); }

 private:
  RouteMaker maker_;
  TablesInForce in_force_;
};

}  // namespace heddle::planned
