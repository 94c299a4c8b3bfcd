// Exhaustively, not at random: each MAD of a change lost, each request of it without any answer, the daemon
// killed before and after each MAD and each write.

#include "story.h"

namespace heddle::test {
namespace {

class Losses : public AnyStory {
 protected:
  /// A whole change: links go off, then load brings them back. `at_begin` is called when the fabric is up and
  /// traffic about to change. False if it did not come about.
  void play(const std::function<void()>& at_begin) {
    RegulatedWorld& world = begin();
    at_begin();
    traffic(0.05);
    // A switch that does not answer for 2 s is gone: everything comes back first, and goes a minute later.
    went_off_ = comes_to(4, 120s);
    traffic(1.0, 2);
    came_back_ = world.run([&] { return figures().delivered >= figures().wanted * 0.99; }, 60s);
  }

  void expect_done(const std::string& what) {
    SCOPED_TRACE(what);
    EXPECT_TRUE(went_off_) << what << "\n" << events();
    EXPECT_TRUE(came_back_) << what << "\n" << events();
    expect_well();
  }

  bool went_off_ = false;
  bool came_back_ = false;
};

TEST_P(Losses, EachRequestAndEachAnswerOfAChangeLostOnce) {
  std::uint64_t requests = 0;
  std::uint64_t answers = 0;
  play([&] {
    requests = world_->fate.requests;
    answers = world_->fate.answers;
  });
  const std::uint64_t all_requests = world_->fate.requests - requests;
  const std::uint64_t all_answers = world_->fate.answers - answers;
  for (std::uint64_t n = first_case(0); n < all_requests; n += step()) {
    play([&] {
      const std::uint64_t lost = world_->fate.requests + n;
      world_->fate.on_request = [lost](std::uint64_t number, const mad::Packet&) {
        return number == lost ? Fate::Verdict::Lost : Fate::Verdict::Goes;
      };
      world_->watch.say(fmt::format("request {} lost", n));
    });
    expect_done(fmt::format("request {}", n));
    if (HasFailure()) return;
  }
  for (std::uint64_t n = first_case(1); n < all_answers; n += step()) {
    play([&] {
      const std::uint64_t lost = world_->fate.answers + n;
      world_->fate.on_answer = [lost](std::uint64_t number) {
        return number == lost ? Fate::Verdict::Lost : Fate::Verdict::Goes;
      };
      world_->watch.say(fmt::format("answer {} lost", n));
    });
    expect_done(fmt::format("answer {}", n));
    if (HasFailure()) return;
  }
  RecordProperty("mads", static_cast<int>(all_requests + all_answers));
}

/// The same request, whichever attempt it is.
bool same_request(const mad::Packet& x, const mad::Packet& y) {
  constexpr std::ptrdiff_t tid = 8;  // bytes 8 to 15 (IBA 13.4.3)
  return std::equal(x.mad.begin(), x.mad.begin() + tid, y.mad.begin()) &&
         std::equal(x.mad.begin() + 2 * tid, x.mad.end(), y.mad.begin() + 2 * tid);
}

// No attempt arrives for a while: the step fails, and what it was part of is undone, and done later. A switch
// that does not answer a sweep counts as lost, and is routed around, until it answers again; loops, cycles
// and ways into links that are off are excused by nothing.
TEST_P(Losses, EachRequestOfAChangeWithoutAnyAnswer) {
  std::uint64_t requests = 0;
  play([&] { requests = world_->fate.requests; });
  const std::uint64_t all = world_->fate.requests - requests;
  for (std::uint64_t n = first_case(2); n < all; n += step()) {
    play([&] {
      const std::uint64_t first = world_->fate.requests + n;
      auto lost = std::make_shared<std::optional<mad::Packet>>();
      auto until = std::make_shared<Instant>();
      world_->fate.on_request = [this, first, lost, until](std::uint64_t number, const mad::Packet& packet) {
        if (number == first) {
          world_->watch.fault();
          *lost = packet;
          *until = world_->now + 2s;
        }
        const bool goes = !*lost || world_->now > *until || !same_request(**lost, packet);
        return goes ? Fate::Verdict::Goes : Fate::Verdict::Lost;
      };
      world_->watch.say(fmt::format("request {} never answered", n));
    });
    world_->run_for(25s);  // what a sweep missed, the next ones find
    world_->run([&] { return world_->daemon->quiet(); });
    world_->watch.settled();
    expect_done(fmt::format("request {} never answered", n));
    if (HasFailure()) return;
  }
}

// MADs lost, and late copies that overwrite what came after them, while operators are at work: whatever they
// left in the tables is found within a heavy interval, without a restart.
TEST_P(Losses, WhatLateAndLostMadsLeftInTheTablesIsMended) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    WorldOptions options;
    options.lmc = 0;
    options.governor = quick();
    options.sim.training_delay = std::chrono::milliseconds{500};
    options.sim.seed = seed;
    options.verify_within = 60s;
    RegulatedWorld& world = begin("xgft:3;3,3,2;1,2,2", options);
    world.watch.fault();
    traffic(0.05, 7);
    sim::MadFaults faults;
    faults.lost = Ratio{0.02};
    faults.delayed = Ratio{0.03};
    faults.delay = Picoseconds{150'000'000'000};
    world.fabric.set_mad_faults(faults);
    for (int turn = 0; turn < 6; ++turn) {
      world.run_for(12s);
      world.daemon->order([&](regulate::Regulator& regulator) {
        regulator.restore("alice", regulate::Regulator::Adopt::No, world.now,
                          [](const Result<std::string>&) {});
      });
      world.run_for(3s);
      world.daemon->order([&](regulate::Regulator& regulator) {
        regulator.set_mode(regulation::Mode::Enforce, "bob", world.now, [](const Result<std::string>&) {});
      });
    }
    world.fabric.set_mad_faults({});
    world.run_for(2 * options.verify_within);
    ASSERT_TRUE(world.run([&] { return world.daemon->quiet(); }, 1min));
    EXPECT_EQ(figures().unroutable, 0U) << "seed " << seed << "\n" << events();
    EXPECT_EQ(figures().into_off_link, 0U) << "seed " << seed;
    EXPECT_THAT(world.daemon->regulator().problems(), ::testing::IsEmpty()) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(WrittenBy, Losses, anybody, name_of);

}  // namespace
}  // namespace heddle::test
