// Under a load that does not change, the regulation comes to rest, however its times compare.

#include <algorithm>

#include "base/random.h"
#include "story.h"

namespace heddle::test {
namespace {

class Steady : public AnyStory {
 protected:
  /// A network that is full however many links are on: every choice is a close one.
  RegulatedWorld& begin_full(FabricClock::duration packet_life) {
    WorldOptions how;
    how.lmc = 1;
    how.agents = HostAgents::Absent;
    how.sampling = 200ms;
    how.light_sweep = 500ms;
    how.governor = quick();
    how.governor.select.policy = regulation::SelectPolicy::General;
    how.governor.quiet = 1s;
    how.governor.plan_every = 1s;
    how.governor.least_on = 100ms;
    how.governor.least_off = 100ms;
    how.governor.drain = 200ms;
    how.governor.wake = 100ms;
    how.governor.most_transitions = 1000;
    how.governor.packet_life = packet_life;
    how.sim.training_delay = 200ms;
    RegulatedWorld& world = begin("torus:3x3,hosts=2,links=2", how);
    return world;
  }
  /// All to all, at 90 % of what hosts can send; each flow some percent more or less every while, as counters
  /// say that are not read at the very same moment. The sum stays.
  void run_jittery(FabricClock::duration span) {
    for (const Instant end = world_->now + span; world_->now < end; world_->run_for(300ms)) {
      for (const sim::TrafficId flow : flows_) world_->plane.remove(flow, world_->ps());
      flows_.clear();
      for (const PortIndex from : hosts_) {
        const Port& port = world_->fabric.description().port(from);
        const BitRate most = data_rate(port.width, port.speed);
        for (const PortIndex to : hosts_) {
          if (from == to) continue;
          const double jitter = 0.9 + 0.2 * random_.unit();
          const double share = 0.9 / static_cast<double>(hosts_.size() - 1);
          flows_.push_back(
              *world_->plane.add({.from = from, .to = to, .demand = most * (share * jitter)}, world_->ps()));
        }
      }
    }
  }
  [[nodiscard]] std::size_t events_of(std::string_view kind, Instant since) const {
    const auto& events = world_->daemon->events;
    return static_cast<std::size_t>(std::ranges::count_if(events, [&](const journal::Event& event) {
      return event.kind == kind && event.at.time_since_epoch() >= since.time_since_epoch();
    }));
  }
  Random random_{7};
};

TEST_P(Steady, ComesToRest) {
  for (const FabricClock::duration packet_life : {20ms, 1074ms, 3000ms}) {
    SCOPED_TRACE(std::chrono::duration_cast<std::chrono::milliseconds>(packet_life).count());
    RegulatedWorld& world = begin_full(packet_life);
    const Instant began = world.now;
    run_jittery(2min);
    EXPECT_GT(world.links_off().size(), 0U);
    const Instant later = world.now;
    run_jittery(2min);
    EXPECT_LE(events_of("decided", later), 4U) << events();
    EXPECT_EQ(events_of("called-off", began), 0U) << events();
    expect_well();
  }
}

// Links that come back take no way away: nothing of theirs waits for packets but what was under way before.
TEST_P(Steady, ComingBackUnderLoadWaitsForOnePacketLifetimeAtMost) {
  for (const std::string_view generator : {"torus:4x4,hosts=1,links=2", "tree:k=3,n=3"}) {
    const auto back_after = [&](FabricClock::duration packet_life) {
      WorldOptions how;
      how.lmc = 0;
      how.governor = quick();
      how.governor.select.policy = regulation::SelectPolicy::General;
      how.governor.packet_life = packet_life;
      how.sim.training_delay = 500ms;
      RegulatedWorld& world = begin(generator, how);
      traffic(0.02);
      world.run_for(4min);
      EXPECT_GT(world.links_off().size(), 4U) << events();
      traffic(1.0, 3);
      const Instant rise = world.now;
      // Every flow has all that it asks for, or nothing changes any more.
      Instant last = world.now;
      double delivered = 0;
      world.run(
          [&] {
            const double sum = figures().delivered.value();
            if (sum > 1.001 * delivered) {
              delivered = sum;
              last = world.now;
            }
            return world.now - last > 20s;
          },
          3min);
      return last - rise;
    };
    const auto without = back_after(1ms);
    const auto with = back_after(3s);
    EXPECT_LE(with, without + 3s) << generator;
  }
}

INSTANTIATE_TEST_SUITE_P(WrittenBy, Steady, anybody, name_of);

}  // namespace
}  // namespace heddle::test
