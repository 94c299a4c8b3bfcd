#include "core/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/backoff.h"
#include "core/event_queue.h"
#include "support/golden.h"

namespace heddle::plugin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// The newest was dropped: after an outage of the daemon it heard how things had been, and the window stayed
/// shut until OpenSM's next heavy sweep.
TEST(EventQueue, DropsTheOldestAndCountsIt) {
  EventQueue queue(2);
  for (const char* line : {"a", "b", "c", "d"}) queue.push(line);
  EXPECT_THAT(queue.take(), ElementsAre("c", "d"));
  EXPECT_EQ(queue.dropped(), 2U);
  queue.push("e");
  EXPECT_THAT(queue.take(), ElementsAre("e"));
  EXPECT_EQ(queue.dropped(), 2U);
}

TEST(EventQueue, ForgetsWhatAGreetingSaysBetter) {
  EventQueue queue(2);
  queue.push("stale");
  queue.forget();
  queue.push("a");
  EXPECT_THAT(queue.take(), ElementsAre("a"));
  EXPECT_EQ(queue.dropped(), 0U);
}

TEST(Backoff, CallsSoonAfterAGoodConnectionAndEverLaterAfterBadOnes) {
  Backoff backoff;
  Backoff::Clock::time_point now{};
  std::vector<std::int64_t> waits;
  for (int i = 0; i < 6; ++i) {
    backoff.connected(now);
    waits.push_back(backoff.lost(now).count());
  }
  EXPECT_THAT(waits, ElementsAre(500, 1000, 2000, 4000, 8000, 8000));
  backoff.connected(now);
  EXPECT_EQ(backoff.lost(now + Backoff::good).count(), 500);
}

TEST(EventQueue, WakesForEachLine) {
  EventQueue queue(1);
  int woken = 0;
  queue.on_push([&] { ++woken; });
  queue.push("a");
  queue.push("b");
  EXPECT_EQ(woken, 2);
}

TEST(Events, SayWhatWasConfirmed) {
  Confirmation done;
  done.epoch = 7;
  done.reroute = true;
  done.stages = {0, 3};
  done.packet_life = std::chrono::nanoseconds{1500};
  EXPECT_EQ(
      routing_line(done),
      R"({"epoch":7,"kind":"reroute","confirmed":true,"switches_behind":0,"unconnected":0,"relaxed":false,)"
      R"("errors":false,"stages":[0,3],"multicast_groups":0,"lft_blocks":0,"packet_life_us":2,"event":"routing_done"})"
      "\n");
  for (auto spoil : {+[](Confirmation& c) { c.switches_behind = 1; },
                     +[](Confirmation& c) { c.relaxed = true; }, +[](Confirmation& c) { c.errors = true; }}) {
    Confirmation spoilt = done;
    spoil(spoilt);
    EXPECT_THAT(routing_line(spoilt), HasSubstr(R"("confirmed":false)"));
  }
}

TEST(Events, AreOneLineWhateverIsInThem) {
  const std::string line = plan_line(1, false, "a\nb\"c\x01");
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_THAT(line, HasSubstr(R"(a?b\"c?)"));
  // In Latin 1: no JSON has such a byte, and the daemon refused the line.
  EXPECT_THAT(plan_line(1, false, "/etc/caf\xe9/plan.json"), HasSubstr("/etc/caf?/plan.json"));
}

TEST(Events, TimingsNameEveryCallback) {
  Timings timings;
  timings.add(Callback::Prepare, std::chrono::nanoseconds(5));
  timings.add(Callback::Prepare, std::chrono::nanoseconds(3));
  const std::string line = timings_line(timings);
  EXPECT_THAT(line, HasSubstr(R"("prepare":{"calls":2,"total_ns":8,"longest_ns":5})"));
  EXPECT_THAT(line, HasSubstr(R"("report":{"calls":0)"));
}

TEST(Commands, AreKnownByTheirWord) {
  EXPECT_EQ(parse_command(R"({"command":"new_plan"})"), Command::NewPlan);
  EXPECT_EQ(parse_command(R"({"command":"heavy_sweep"})"), Command::HeavySweep);
  EXPECT_EQ(parse_command(R"({"command":"status"})"), Command::Status);
  for (const char* nonsense : {"", "{", "[]", "7", R"({"command":7})", R"({"command":"reboot"})", "\xff"}) {
    EXPECT_EQ(parse_command(nonsense), Command::None);
  }
}

/// The daemon of another version reads them.
TEST(Events, EachLineIsAsItsGoldenFile) {
  Confirmation done;
  done.epoch = 7;
  done.reroute = true;
  done.switches_behind = 1;
  done.unconnected = 2;
  done.relaxed = true;
  done.errors = true;
  done.stages = {0, 3};
  done.groups = 4;
  done.blocks = 5;
  done.packet_life = std::chrono::microseconds{4194};
  Timings timings;
  timings.add(Callback::Prepare, std::chrono::microseconds{3});
  std::string lines;
  for (const std::string& line :
       {hello_line({"OpenSM 3.3.23", "/var/lib/heddle/plan.json", "master", 6, true}, done),
        routing_line(done), multicast_line(7, false), subnet_up_line(true, 7),
        plain_line("heavy_sweep_start"), plain_line("heavy_sweep_done"), state_line("standby"),
        trap_line(1, 128, 3), plan_line(8, false, "plan.json: wrong checksum"), timings_line(timings)}) {
    lines += line;
    if (!line.ends_with('\n')) lines += '\n';
  }
  expect_golden("answers/opensm/from_plugin.txt", lines);
}

}  // namespace
}  // namespace heddle::plugin
