// Packets that wait in a queue keep its link on, though nothing else tells of them: behind a blocked head of
// line a link moves little.

#include "story.h"

namespace heddle::test {
namespace {

/// The traffic as it is, and a queue that nobody sees by counters.
class BlockedQueue final : public sim::CounterSource {
 public:
  explicit BlockedQueue(sim::CounterSource& real) : real_{real} {}

  [[nodiscard]] sim::PortTotals read(PortIndex port, Picoseconds now) override {
    return real_.read(port, now);
  }
  [[nodiscard]] sim::VlTotals read_vls(PortIndex port, Picoseconds now) override {
    return real_.read_vls(port, now);
  }
  [[nodiscard]] std::uint32_t queue_depth(PortIndex port, Vl vl, Picoseconds now) override {
    if (port == blocked && vl == Vl{2}) return 7;
    return real_.queue_depth(port, vl, now);
  }
  [[nodiscard]] Picoseconds queue_delay(PortIndex port, Vl vl, Picoseconds now) override {
    return real_.queue_delay(port, vl, now);
  }

  PortIndex blocked = no_port;

 private:
  sim::CounterSource& real_;
};

class Queues : public Story {
 protected:
  static WorldOptions looking() {
    WorldOptions how = usual();
    how.governor.queue_looks = 64;
    return how;
  }
};

TEST_F(Queues, KeepTheirTrunkUntilTheyAreEmpty) {
  RegulatedWorld& world = begin(ring, looking());
  const Fabric& truth = world.fabric.description();
  BlockedQueue queue{world.plane};
  world.fabric.set_counter_source(&queue);
  traffic(0.02);
  ASSERT_TRUE(comes_to(4)) << events();  // one of each trunk
  const Link one = truth.link(world.links_off().front());
  traffic(0.9);
  ASSERT_TRUE(comes_to(0)) << events();

  queue.blocked = truth.port_index(one.a);
  for (std::uint32_t i = 0; i < truth.links().size(); ++i) {
    const Link& link = truth.link(LinkIndex{i});
    const bool beside = link.a.node == one.a.node && link.b.node == one.b.node && !(link.a == one.a);
    if (beside) queue.blocked = truth.port_index(link.a);
  }
  traffic(0.02);
  ASSERT_TRUE(comes_to(3)) << events();
  world.run_for(2min);
  EXPECT_EQ(world.links_off().size(), 3U) << events();
  for (const LinkIndex link : world.links_off()) {
    const bool same = truth.link(link).a.node == one.a.node && truth.link(link).b.node == one.b.node;
    EXPECT_FALSE(same) << events();
  }
  EXPECT_THAT(events(), ::testing::HasSubstr("7 credits wait at"));
  EXPECT_THAT(events(), ::testing::HasSubstr("for VL 2"));
  queue.blocked = no_port;
  EXPECT_TRUE(comes_to(4)) << events();
  expect_well();
  world.fabric.set_counter_source(&world.plane);
}

// Hardware without PortSamplesControl: what regulation does by loads, it does.
TEST_F(Queues, AreNoMatterWhereNobodyTellsOfThem) {
  WorldOptions how = looking();
  how.sim.traits.samples = false;
  begin(ring, how);
  traffic(0.02);
  EXPECT_TRUE(comes_to(4)) << events();
  expect_well();
}

}  // namespace
}  // namespace heddle::test
