// A day with the load curve of an installation: quiet at night, busy by day.

#include <iostream>
#include <optional>

#include "story.h"

namespace heddle::test {
namespace {

/// All of it; under sanitizers from the quietest hour until all are busy.
constexpr int first_quarter = sanitized ? 4 * 4 : 0;
constexpr int last_quarter = sanitized ? 10 * 4 : 24 * 4;

class Day : public AnyStory {
 protected:
  /// Bits that arrived of what was wanted, as rates at the end of each quarter of an hour.
  struct Delivered {
    double wanted = 0;
    double delivered = 0;
  };

  Delivered pass(regulation::Mode mode) { return pass(mode, {}, first_quarter, last_quarter); }

  /// `longest`: each link trains for a time of its own from 2 s on; none: all for 4.5 s.
  Delivered pass(regulation::Mode mode, std::optional<Picoseconds> longest, int first, int last) {
    WorldOptions options;
    options.governor.mode = mode;  // all else as shipped
    options.sampling = 30s;
    options.light_sweep = 10min;
    options.sim.training_delay = std::chrono::milliseconds{4500};  // DDR 4x (table 2 of the paper)
    if (longest) {
      options.sim.training_delay = 2s;
      options.sim.longest_training = *longest;
    }
    RegulatedWorld& world = begin("torus:4x4,hosts=1,links=4,width=4x,speed=DDR", options);
    // Shares of a host's link, hour by hour, to a host on the other side.
    constexpr double hours[24] = {0.10, 0.08, 0.05, 0.05, 0.05, 0.08, 0.15, 0.30, 0.55, 0.80, 0.90, 0.95,
                                  0.85, 0.90, 1.00, 0.95, 0.90, 0.75, 0.55, 0.40, 0.30, 0.25, 0.20, 0.15};
    const Instant begun = world.now;
    Delivered sum;
    for (int quarter = first; quarter < last; ++quarter) {
      traffic(hours[quarter / 4], 1 + static_cast<std::size_t>(quarter) % 7);
      world.run_for(15min);
      expect_well();
      sum.wanted += figures().wanted.value();
      sum.delivered += figures().delivered.value();
    }
    EXPECT_EQ(world.now - begun, FabricClock::duration{15min} * (last - first));
    return sum;
  }
};

TEST_P(Day, TwentyFourHoursSaveEnergyAndViolateNothing) {
  const Delivered all_on = pass(regulation::Mode::Off);
  const Delivered regulated = pass(regulation::Mode::Enforce);
  world_->daemon->order([&](regulate::Regulator& regulator) { regulator.save(world_->now); });
  const regulate::Regulator& regulator = world_->daemon->regulator();
  const power::EnergyTotals energy = regulator.energy().total();
  unsigned most = 0;
  unsigned all = 0;
  std::size_t links = 0;
  for (const auto& link : regulator.governor().links()) {
    most = std::max(most, link.transitions);
    all += link.transitions;
    ++links;
  }
  const double share = energy.saved / (energy.saved + energy.spent);
  std::cout << fmt::format(
      "{} h: {:.2f} kWh spent, {:.2f} kWh saved ({:.1f} %), {} links, {} transitions, at most {} of one "
      "link, "
      "{:.2f} % of the traffic delivered ({:.2f} % with all links on), {} instants checked\n",
      (last_quarter - first_quarter) / 4, energy.spent.value() / 3.6e6, energy.saved.value() / 3.6e6,
      share * 100, links, all, most, regulated.delivered / regulated.wanted * 100,
      all_on.delivered / all_on.wanted * 100, world_->watch.instants());
  EXPECT_GT(share, 0.05);
  EXPECT_LE(most, regulation::GovernorOptions{}.most_transitions);
  EXPECT_GE(regulated.delivered, all_on.delivered * 0.99);
  EXPECT_EQ(regulator.transitions().failed, 0U);
}

// From the quietest hour until all are busy, with links that train from 2 to 180 s, and nobody knows it at
// the start: traffic gets through all the same, and what took minutes once stays on.
TEST_P(Day, LinksThatTrainForMinutesAreLearntOnTheWay) {
  constexpr int night = 4 * 4;
  constexpr int morning = 10 * 4;
  const Delivered all_on = pass(regulation::Mode::Off, 180s, night, morning);
  const Delivered regulated = pass(regulation::Mode::Enforce, 180s, night, morning);
  world_->daemon->order([&](regulate::Regulator& regulator) { regulator.save(world_->now); });
  const regulate::Regulator& regulator = world_->daemon->regulator();
  const power::EnergyTotals energy = regulator.energy().total();
  std::size_t seen = 0;
  std::size_t slow = 0;
  for (const auto& link : regulator.governor().links()) {
    seen += link.wake.seen > 0 ? 1 : 0;
    slow += link.exempt == regulation::Exempt::SlowWake ? 1 : 0;
  }
  std::cout << fmt::format(
      "saved {:.1f} %; {} links came back, {} took minutes; delivered {:.2f} %, {:.2f} % "
      "with all links on; {:.0f} s waited, {:.0f} s at most\n",
      100 * (energy.saved / (energy.saved + energy.spent)), seen, slow,
      100 * regulated.delivered / regulated.wanted, 100 * all_on.delivered / all_on.wanted,
      seconds(regulator.transitions().waited), seconds(regulator.transitions().longest));
  EXPECT_GT(energy.saved, Joules{0});
  EXPECT_GT(seen, 0U);
  EXPECT_GT(slow, 0U);
  EXPECT_GE(regulated.delivered, 0.99 * all_on.delivered);
}

INSTANTIATE_TEST_SUITE_P(WrittenBy, Day, anybody, name_of);

}  // namespace
}  // namespace heddle::test
