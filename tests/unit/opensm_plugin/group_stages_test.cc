#include "core/group_stages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "base/random.h"

namespace heddle::plugin {
namespace {

using namespace std::chrono_literals;
using Tree = GroupStages::Tree;
using Leads = GroupStages::Leads;

constexpr std::uint16_t mlid = 0xc000;
constexpr auto life = 50ms;

/// Switches 1 to n, a link between each two with probability a half, a host at port 0x80 of each.
class Switches {
 public:
  Switches(std::size_t number, Random& random) : random_{random}, number_{number}, ends_(number) {
    for (std::size_t a = 0; a < number; ++a) {
      for (std::size_t b = a + 1; b < number; ++b) {
        if (a + 1 == b || random.chance(0.5)) join(a, b);
      }
    }
  }
  struct Cable {
    PortRef a;
    PortRef b;
    bool up = true;
  };

  /// A spanning tree of the cables that are up, with the hosts of some switches.
  Tree tree() {
    std::vector<std::size_t> order(cables.size());
    std::iota(order.begin(), order.end(), 0U);
    random_.shuffle(order);
    std::map<NodeGuid, NodeGuid> root;
    Tree result;
    for (const std::size_t i : order) {
      if (!cables[i].up || !unite(root, cables[i])) continue;
      result.insert(cables[i].a);
      result.insert(cables[i].b);
    }
    for (std::size_t s = 0; s < number_; ++s) {
      if (random_.chance(0.7)) result.insert({NodeGuid{s + 1}, PortNum{0x80}});
    }
    return result;
  }
  [[nodiscard]] Leads leads(const PortRef& port) const {
    if (port.port == PortNum{0x80}) return Leads::ToHost;
    for (const Cable& each : cables) {
      if (each.a == port || each.b == port) return each.up ? Leads::ToSwitch : Leads::Nowhere;
    }
    return Leads::Unknown;
  }
  /// Whether cables over which a packet may go, by whichever end, close a circle.
  [[nodiscard]] bool has_circle(const Tree& ports) const {
    std::map<NodeGuid, NodeGuid> root;
    return std::ranges::any_of(cables, [&](const Cable& each) {
      const bool used = each.up && (ports.contains(each.a) || ports.contains(each.b));
      return used && !unite(root, each);
    });
  }
  std::vector<Cable> cables;

 private:
  void join(std::size_t a, std::size_t b) {
    cables.push_back({{NodeGuid{a + 1}, PortNum{static_cast<std::uint8_t>(++ends_[a])}},
                      {NodeGuid{b + 1}, PortNum{static_cast<std::uint8_t>(++ends_[b])}}});
  }
  static NodeGuid find(std::map<NodeGuid, NodeGuid>& root, NodeGuid node) {
    while (root.contains(node) && root.at(node) != node) node = root.at(node);
    return node;
  }
  static bool unite(std::map<NodeGuid, NodeGuid>& root, const Cable& cable) {
    const NodeGuid a = find(root, cable.a.node);
    const NodeGuid b = find(root, cable.b.node);
    if (a == b) return false;
    root[a] = b;
    return true;
  }
  Random& random_;
  std::size_t number_;
  std::vector<int> ends_;
};

Tree both(const Tree& x, const Tree& y) {
  Tree result = x;
  result.insert(y.begin(), y.end());
  return result;
}

// Trees follow each other, links fail and come back, confirmations stay away.
TEST(GroupStages, NoMixtureAtAnyMomentHasACircle) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random{seed};
    Switches switches{4 + random.below(5), random};
    GroupStages stages;
    GroupStages::Time now{};
    Tree may_have;  // of all switches together: what any may hold
    GroupStages::Time last_loss = now - 1s;
    bool all_confirmed = true;
    const auto ports = [&](const PortRef& port) { return switches.leads(port); };
    for (int round = 0; round < 12; ++round) {
      if (random.chance(0.3)) {
        // A port trains and is raised in a sweep, which writes what was not confirmed before.
        bool& up = switches.cables[random.below(switches.cables.size())].up;
        if (up || all_confirmed) up = !up;
      }
      const Tree wanted = switches.tree();
      for (int pass = 0;; ++pass) {
        ASSERT_LT(pass, 5);
        const Tree write = stages.next(mlid, wanted, ports, now);
        EXPECT_FALSE(switches.has_circle(both(may_have, write)));
        const auto alive = [&](const PortRef& port) { return ports(port) == Leads::ToSwitch; };
        const bool gains = std::ranges::any_of(
            write, [&](const PortRef& port) { return alive(port) && !may_have.contains(port); });
        const bool loses = std::ranges::any_of(
            may_have, [&](const PortRef& port) { return alive(port) && !write.contains(port); });
        EXPECT_TRUE(!gains || now >= last_loss + life);
        may_have = both(may_have, write);
        // No answer to some: something else is wanted meanwhile.
        all_confirmed = !random.chance(0.2);
        if (!all_confirmed) break;
        now += 1ms;
        stages.confirm(now, life);
        may_have = write;
        if (loses) last_loss = now;
        if (stages.settled(mlid)) {
          EXPECT_EQ(write, wanted);
          break;
        }
        EXPECT_TRUE(stages.due_by(now).empty());
        now += life;
        EXPECT_EQ(stages.due_by(now), std::vector{mlid});
      }
    }
  }
}

TEST(GroupStages, WhoJoinsAtASwitchOfTheTreeWaitsForNothing) {
  GroupStages stages;
  const auto ports = [](const PortRef& port) {
    return port.port.raw() < 10 ? Leads::ToSwitch : Leads::ToHost;
  };
  const PortRef a{NodeGuid{1}, PortNum{1}};
  const PortRef b{NodeGuid{2}, PortNum{1}};
  const PortRef host{NodeGuid{1}, PortNum{20}};
  const PortRef other{NodeGuid{2}, PortNum{21}};
  const GroupStages::Time now{};
  EXPECT_EQ(stages.next(mlid, {a, b, host}, ports, now), (Tree{a, b, host}));
  stages.confirm(now, life);
  EXPECT_EQ(stages.next(mlid, {a, b, other}, ports, now), (Tree{a, b, other}));
  EXPECT_FALSE(stages.settled(mlid));
  stages.confirm(now, life);
  EXPECT_TRUE(stages.settled());
}

TEST(GroupStages, AskedForOnce) {
  GroupStages stages;
  const auto ports = [](const PortRef&) { return Leads::ToSwitch; };
  const PortRef a{NodeGuid{1}, PortNum{1}};
  const PortRef b{NodeGuid{1}, PortNum{2}};
  const GroupStages::Time now{};
  (void)stages.next(mlid, {a}, ports, now);
  stages.confirm(now, life);
  EXPECT_EQ(stages.next(mlid, {b}, ports, now), Tree{});
  stages.confirm(now, life);
  ASSERT_EQ(stages.due_by(now + life).size(), 1U);
  stages.asked_for(mlid);
  EXPECT_TRUE(stages.due_by(now + life).empty());
  EXPECT_EQ(stages.next(mlid, {b}, ports, now + life), Tree{b});
}

}  // namespace
}  // namespace heddle::plugin
