// Switches none of whose links is on.

#include <gtest/gtest.h>

#include <algorithm>

#include "unit/regulation/governor_world.h"

namespace heddle::regulation {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing_support::World;

class GovernorUnusedTest : public testing::Test {
 protected:
  // Leaves with hosts, and tops without.
  World world_{"tree:k=4,n=2"};

  void SetUp() override {
    world_.enforce_rules = false;
    world_.start();
    world_.shift_traffic(1, 0.02);
  }
  /// The first switch of a higher rank than leaves: no host at it.
  [[nodiscard]] NodeGuid top() const {
    std::set<NodeIndex> leaves;
    for (const Link& link : world_.fabric->links()) {
      if (world_.fabric->node(link.a.node).type != NodeType::Switch) leaves.insert(link.b.node);
      if (world_.fabric->node(link.b.node).type != NodeType::Switch) leaves.insert(link.a.node);
    }
    for (std::uint32_t i = 0; i < world_.fabric->nodes().size(); ++i) {
      const Node& node = world_.fabric->nodes()[i];
      if (node.type == NodeType::Switch && !leaves.contains(NodeIndex{i})) return node.guid;
    }
    return {};
  }
  void drain(NodeGuid node) {
    Drain drain{"top", {}, {node}, "", "ada", {}, std::nullopt, false};
    for (std::uint32_t i = 0; i < world_.fabric->links().size(); ++i) {
      const LinkRef ref = world_.ref(LinkIndex{i});
      if (ref.a.node == node || ref.b.node == node) drain.links.push_back(ref);
    }
    std::sort(drain.links.begin(), drain.links.end());
    world_.tell(SetDrain{drain, Force::CutHostsOff, CommandId{1}});
    world_.run(minutes{5});
  }
  [[nodiscard]] std::vector<std::string> told(ReportKind kind) const {
    std::vector<std::string> texts;
    for (const Report& report : world_.reports) {
      if (report.kind == kind) texts.push_back(report.reason);
    }
    return texts;
  }
};

TEST_F(GovernorUnusedTest, AreToldOfOnceAndWhenTheyAreNeededAgain) {
  const NodeGuid node = top();
  drain(node);
  ASSERT_EQ(told(ReportKind::Unused).size(), 1U);
  EXPECT_EQ(told(ReportKind::Unused)[0].find(to_string(node)), 0U);
  EXPECT_NE(told(ReportKind::Unused)[0].find("43.4 W with all ports off"), std::string::npos);
  EXPECT_TRUE(told(ReportKind::Needed).empty());

  world_.restart();
  world_.enforce_rules = false;
  world_.run(minutes{5});
  EXPECT_EQ(told(ReportKind::Unused).size(), 1U) << "told anew after a restart";

  world_.tell(EndDrain{"top", "ada", CommandId{2}});
  world_.run(minutes{5});
  ASSERT_EQ(told(ReportKind::Needed).size(), 1U);
  EXPECT_NE(told(ReportKind::Needed)[0].find("needed again in 2.0 s"), std::string::npos);
}

TEST_F(GovernorUnusedTest, ThePlanNamesThemAndThoseThatOnlyManagersReach) {
  const NodeGuid node = top();
  const auto idle = [&]() -> std::optional<IdleSwitch> {
    for (const IdleSwitch& each : world_.governor.idle_switches()) {
      if (each.node == node) return each;
    }
    return std::nullopt;
  };
  EXPECT_FALSE(idle());
  drain(node);
  ASSERT_TRUE(idle());
  EXPECT_EQ(idle()->links_on, 0U);
  EXPECT_EQ(idle()->base, Watts{43.4});

  GovernorOptions options = World::default_options();
  options.select.policy = SelectPolicy::General;
  World quiet{"tree:k=4,n=2", options};
  quiet.start();
  quiet.shift_traffic(1, 0.02);
  quiet.run(minutes{30});
  std::size_t with_one = 0;
  for (const IdleSwitch& each : quiet.governor.idle_switches()) with_one += each.links_on == 1 ? 1 : 0;
  EXPECT_GT(with_one, 0U);
}

}  // namespace
}  // namespace heddle::regulation
