#include "routing/update_plan.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/random.h"
#include "fabric/generators.h"
#include "routing/hop_map.h"
#include "routing/updn.h"

namespace heddle::routing {
namespace {

/// Packets that somebody sends to a LID from a switch, whichever of two entries each switch follows.
class Mixture {
 public:
  Mixture(const UpDownRouter& router, const ForwardingTables& old, const ForwardingTables& wanted)
      : router_{router}, map_{router.graph()}, tables_{&old, &wanted} {}

  /// Whether some are turned up again where neither the order nor its mends allow it.
  [[nodiscard]] bool turns_up(const Target& target, SwitchIndex first) const {
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> next{{HopMap::none, first.raw()}};
    while (!next.empty()) {
      const auto [from, at] = next.back();
      next.pop_back();
      if (at == target.at.raw() || !seen.emplace(from, at).second) continue;
      for (const ForwardingTables* const tables : tables_) {
        const std::uint32_t hop = map_.hop(at, tables->port(SwitchIndex{at}, target.base).raw());
        if (hop == HopMap::none) continue;
        if (from != HopMap::none && is_forbidden(from, at, map_.peer(hop))) return true;
        next.emplace_back(at, map_.peer(hop));
      }
    }
    return false;
  }

 private:
  [[nodiscard]] bool is_forbidden(std::uint32_t from, std::uint32_t over, std::uint32_t to) const {
    const Ranks& ranks = router_.ranks();
    return ranks.above(SwitchIndex{from}, SwitchIndex{over}) &&
           ranks.above(SwitchIndex{to}, SwitchIndex{over}) &&
           !router_.mends().turns(SwitchIndex{from}, SwitchIndex{over}, SwitchIndex{to});
  }

  const UpDownRouter& router_;
  HopMap map_;
  const ForwardingTables* tables_[2];
};

// 380715715 of the swarm: links of a switch went off that has an aggregation node and no host. It lost its
// way to hosts that nobody sends it packets for, and another turned those up again that the node had sent.
TEST(UpdatePlan, AggregationNodesSendPacketsToo) {
  const auto fabric = assign_lids(**generate("grown:seed=715,hosts=40")).value();
  auto router = *UpDownRouter::make(*fabric);
  const SwitchGraph& graph = router.graph();
  std::set<SwitchIndex> senders;
  for (const Target& target : graph.targets())
    if (target.link != no_link) senders.insert(target.at);
  Random random(1);
  std::size_t plans = 0;
  for (unsigned draw = 0; draw < 200; ++draw) {
    LinkSet active = LinkSet::all(*fabric);
    for (std::uint32_t i = 0; i < fabric->links().size(); ++i) {
      const Link& link = fabric->link(LinkIndex{i});
      const bool is_switch = fabric->node(link.a.node).type == NodeType::Switch &&
                             fabric->node(link.b.node).type == NodeType::Switch;
      if (is_switch && random.below(2) == 0) active.erase(LinkIndex{i});
    }
    ForwardingTables before = router.tables();
    router.update(active);
    if (!router.unconnected().empty()) continue;
    const auto plan = plan_update(graph, router.ranks(), before, router.tables(), &router.mends());
    ASSERT_TRUE(plan) << plan.error().message;
    ++plans;
    for (const auto& stage : plan->stages) {
      ForwardingTables after = before;
      (void)apply(stage, after);
      const Mixture mixture(router, before, after);
      for (const Target& target : graph.targets()) {
        for (const SwitchIndex s : senders)
          ASSERT_FALSE(mixture.turns_up(target, s)) << "draw " << draw << ", LID " << target.base.raw();
      }
      before = std::move(after);
    }
  }
  EXPECT_GT(plans, 10U);
}

}  // namespace
}  // namespace heddle::routing
