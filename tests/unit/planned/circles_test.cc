// Packets that wait for one another while a pass of OpenSM's is written: repairs turn them as the order
// allows, and what stands may still turn them as an earlier one did.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "planned/route_maker.h"
#include "planned/transition.h"
#include "routing/dependencies.h"
#include "routing/hop_map.h"
#include "unit/planned/subnets.h"

namespace heddle::planned {
namespace {

using routing::ForwardingTables;
using routing::HopMap;
using routing::SwitchIndex;

SubnetRecords without(SubnetRecords records, const LinkRef& link) {
  remove(records, link);
  return records;
}

/// Some switches have the one, and some the other.
bool mixtures_have_circle(const routing::SwitchGraph& graph, const ForwardingTables& now,
                          const ForwardingTables& next) {
  const HopMap map{graph};
  routing::Dependencies all(graph);
  for (const routing::Target& target : graph.targets()) {
    for (std::uint32_t s = 0; s < graph.size(); ++s) {
      for (const ForwardingTables* first : {&now, &next}) {
        const std::uint32_t by = map.hop(s, first->port(SwitchIndex{s}, target.base).raw());
        if (SwitchIndex{s} == target.at || by == HopMap::none) continue;
        const SwitchIndex over{map.peer(by)};
        for (const ForwardingTables* then : {&now, &next}) {
          const std::uint32_t on = map.hop(over.raw(), then->port(over, target.base).raw());
          if (over != target.at && on != HopMap::none) all.add(by, on, target.base);
        }
      }
    }
  }
  return !all.find_cycle().empty();
}

LinkRef cable_at(const SubnetRecords& records, const std::string& end) {
  const auto links = trunks_of(records);
  return *std::ranges::find(links, end, [](const LinkRef& link) { return to_string(link.a); });
}

struct Swap {
  const char* missing;  ///< at first
  const char* lost;     ///< when that one comes
};
class Circles : public testing::TestWithParam<Swap> {};

// Worlds 4000000059 and 6000000088 of the swarm: a cable comes while another one is lost, so that the mends
// are others; what the loss has broken was repaired by these at once.
TEST_P(Circles, ARepairWaitsForWhatStandsByAnEarlierOrder) {
  const SubnetRecords whole = records_of(*fabric_of("torus:4x4,hosts=1,links=1"));
  RouteMaker earlier;
  const Subnet part = make_subnet(without(whole, cable_at(whole, GetParam().missing)), {});
  ForwardingTables now = earlier.make(part, nullptr, 0).value().tables;
  plan::Plan plan;
  for (std::uint32_t s = 0; s < earlier.router().graph().size(); ++s)
    plan.ranks.emplace_back(earlier.router().graph().guid(SwitchIndex{s}),
                            earlier.router().ranks().rank(SwitchIndex{s}));
  const Subnet subnet = make_subnet(without(whole, cable_at(whole, GetParam().lost)), {});
  RouteMaker maker;
  const ForwardingTables wanted = maker.make(subnet, &plan, 0).value().tables;
  const auto& graph = maker.router().graph();
  auto packets = Packets::UnderWay;
  for (std::size_t passes = 0; passes < 200; ++passes) {
    const Pass pass = next_pass({graph, maker.router().ranks(), maker.router().mends(), &subnet.usable}, now,
                                wanted, packets);
    if (!pass.writes && pass.behind == 0) break;
    ASSERT_TRUE(pass.writes || packets == Packets::UnderWay) << "it stands still";
    EXPECT_FALSE(mixtures_have_circle(graph, now, pass.tables)) << "pass " << passes;
    packets = pass.writes ? Packets::UnderWay : Packets::Gone;
    now = pass.tables;
  }
  EXPECT_EQ(now, wanted);
}

INSTANTIATE_TEST_SUITE_P(Some, Circles,
                         testing::Values(Swap{"0x0248450100000000/2", "0x0248450100000000/4"},
                                         Swap{"0x0248450100000100/4", "0x0248450100000000/3"},
                                         Swap{"0x0248450100000100/4", "0x0248450100000500/4"},
                                         Swap{"0x0248450100000100/4", "0x0248450100000600/2"},
                                         Swap{"0x0248450100000100/4", "0x0248450100000d00/4"}));

}  // namespace
}  // namespace heddle::planned
