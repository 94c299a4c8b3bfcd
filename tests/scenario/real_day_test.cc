// Two days on whole published fabrics, with the load curve of an installation and another pattern of traffic
// every quarter of an hour: at the start nobody knows how long links train, on the second day heddled has
// learnt it. By night only (`scenario.real_days_night`), for an hour and more a fabric.
// HEDDLE_DAY_HOURS=18-24: only these hours of each day. HEDDLE_DAY_EVENTS=1: what regulation says, too.

#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "story.h"
#include "support/day_of_loads.h"
#include "support/places.h"

namespace heddle::test {
namespace {

using regulation::ChosenFor;

struct Drawn {
  const char* fabric;
  std::uint64_t seed;
  ChosenFor chosen_for;
};
void PrintTo(const Drawn& site, std::ostream* out) {
  *out << site.fabric << ", seed " << site.seed;
  if (site.chosen_for == ChosenFor::Any) *out << ", for any traffic";
}

/// Of a day, or of what has passed of it.
struct Account {
  double wanted = 0;     ///< bits
  double delivered = 0;  ///< bits
  double all_on = 0;     ///< J that links between switches would draw if all were on
  double least = 0;      ///< J of the least that any allowed set may draw, by what each plan says of its time
  double saved = 0;      ///< J
};

class RealDay : public Story, public testing::WithParamInterface<Drawn> {
 protected:
  static constexpr auto step = 15s;  ///< rates count as steady for so long
  struct Hours {
    int from = 0;
    int to = 24;
  };
  static Hours hours() {
    Hours asked;
    const char* text = std::getenv("HEDDLE_DAY_HOURS");
    if (text != nullptr && std::sscanf(text, "%d-%d", &asked.from, &asked.to) != 2)
      ADD_FAILURE() << "HEDDLE_DAY_HOURS=" << text << " is not like 18-24";
    return asked;
  }

  static WorldOptions how(regulation::Mode mode) {
    WorldOptions options;
    options.governor.mode = mode;
    options.governor.select.policy = regulation::SelectPolicy::General;
    // Both sites run active cables between switches, as their makers' guide has it (power/models.toml).
    options.governor.power =
        power::PowerModel{power::shipped_models(), power::Unmatched::Unknown, power::Cable::Aoc};
    options.sampling = 30s;
    options.light_sweep = 10min;
    options.heavy_sweep = 1h;
    options.sim.training_delay = 2s;
    options.sim.longest_training = 180s;
    return options;
  }

  void begin_day(regulation::Mode mode) {
    WorldOptions options = how(mode);
    options.governor.chosen_for = GetParam().chosen_for;
    options.sim.seed = GetParam().seed;
    phase_.reset();
    begin(file(), options).watch.packets_live(options.governor.packet_life);
  }
  static std::string file() {
    return shared_data() / "fabrics" / (std::string{GetParam().fabric} + ".ibnetdiscover");
  }

  void send(int quarter) {
    if (phase_) {
      ASSERT_TRUE(world_->player.remove(*phase_, world_->plane, world_->ps()));
    }
    sim::Phase phase;
    const std::uint64_t draw = GetParam().seed * 1000 + static_cast<std::uint64_t>(quarter);
    phase.pattern = pattern_of_day(GetParam().seed, quarter);
    phase.load = load_of_day(quarter);
    phase.destinations = 16;
    phase.hot = 0.05;
    phase.targets = 8;
    phase.seed = draw;
    const auto added = world_->player.add(phase, world_->ps());
    ASSERT_TRUE(added) << added.error().message;
    phase_ = *added;
  }

  Account pass_day() {
    Account day;
    const auto [from, to] = hours();
    for (int quarter = from * quarters_an_hour; quarter < to * quarters_an_hour && !HasFailure(); ++quarter) {
      send(quarter);
      for (auto passed = 0s; passed < 15min; passed += step) {
        world_->run_for(step);
        count(day);
      }
      expect_well();
      if (quarter % 4 == 3)
        std::cout << fmt::format("{:2} h: {}\n", quarter / 4 + 1, said(day)) << std::flush;
      if (std::getenv("HEDDLE_DAY_EVENTS") != nullptr) tell_events();
    }
    return day;
  }

  /// What regulation has said since it was called the last time.
  void tell_events() {
    constexpr int most = 160;  // characters of a text that names thousands of links
    const auto& events = world_->daemon->events;
    for (events_told_ = std::min(events_told_, events.size()); events_told_ < events.size(); ++events_told_) {
      const auto& event = events[events_told_];
      std::cout << fmt::format("    {:.0f} s {}: {:.{}}\n",
                               std::chrono::duration<double>(event.at.time_since_epoch()).count(), event.kind,
                               event.text, most);
    }
  }

  void count(Account& day) {
    const double seconds_each = std::chrono::duration<double>(step).count();
    const sim::FlowFigures now = figures();
    day.wanted += now.wanted.value() * seconds_each;
    day.delivered += now.delivered.value() * seconds_each;
    const auto& plan = world_->daemon->regulator().governor().plan();
    if (!plan || plan->watts_now <= Watts{0}) return;  // nothing could be chosen
    const double all = watts_of_all();
    day.all_on += all * seconds_each;
    day.least += plan->watts_least.value() * seconds_each;
    for (const LinkIndex link : world_->links_off()) day.saved += watts(link) * seconds_each;
  }

  double watts(LinkIndex link) {
    const Fabric& truth = world_->fabric.description();
    return world_->options.governor.power.link(truth, link, power::mode_of(truth.link(link))).value();
  }
  /// Of links between switches, as a plan counts them.
  double watts_of_all() {
    const Fabric& truth = world_->fabric.description();
    double sum = 0;
    for (std::uint32_t i = 0; i < truth.links().size(); ++i) {
      const Link& cable = truth.link(LinkIndex{i});
      if (cable.a.node != cable.b.node && truth.node(cable.a.node).type == NodeType::Switch &&
          truth.node(cable.b.node).type == NodeType::Switch) {
        sum += watts(LinkIndex{i});
      }
    }
    return sum;
  }

  std::string said(const Account& day) {
    const std::string got = fmt::format("delivered {:.2f} %", 100 * day.delivered / day.wanted);
    if (day.all_on == 0) return got;
    return fmt::format(
        "saved {:.1f} % of links' power of {:.1f} % that any allowed set may: {:.2f} of it; {}; {} links off",
        100 * day.saved / day.all_on, 100 * (1 - day.least / day.all_on),
        day.saved / (day.all_on - day.least), got, world_->links_off().size());
  }

 private:
  std::optional<sim::PhaseId> phase_;
  std::size_t events_told_ = 0;
};

// How much is saved is printed, beside the bound: docs/regulation.md has what it came to.
TEST_P(RealDay, TrafficGetsThroughAndPowerIsSaved) {
  if (!is_night()) GTEST_SKIP() << "whole ones at night";
  if (!std::filesystem::exists(file())) GTEST_SKIP() << file() << " is not here";
  begin_day(regulation::Mode::Off);
  const Account all_on = pass_day();
  begin_day(regulation::Mode::Enforce);
  for (const char* day : {"unknown", "learnt"}) {
    const Account account = pass_day();
    std::cout << fmt::format("training {}: {} ({:.2f} % with all links on), {} instants\n", day,
                             said(account), 100 * all_on.delivered / all_on.wanted, world_->watch.instants());
    EXPECT_GT(account.saved, 0) << day;
    EXPECT_GT(account.delivered, 0.99 * all_on.delivered) << day;
  }
}

INSTANTIATE_TEST_SUITE_P(Published, RealDay,
                         testing::Values(Drawn{"superpod-krskp-hdr-2022", 1, ChosenFor::Present},
                                         Drawn{"selene-compute-hdr-2021", 1, ChosenFor::Present},
                                         Drawn{"superpod-krskp-hdr-2022", 1, ChosenFor::Any},
                                         Drawn{"superpod-krskp-hdr-2022", 2, ChosenFor::Any},
                                         Drawn{"superpod-krskp-hdr-2022", 3, ChosenFor::Any},
                                         Drawn{"selene-compute-hdr-2021", 1, ChosenFor::Any},
                                         Drawn{"selene-compute-hdr-2021", 2, ChosenFor::Any},
                                         Drawn{"selene-compute-hdr-2021", 3, ChosenFor::Any}));

}  // namespace
}  // namespace heddle::test
