#include "trace/write_vef.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "trace/trace_summary.h"

namespace heddle::trace {
namespace {

using testing::HasSubstr;

/// From the thesis; then collectives of both forms.
const std::string example =
    "VEF3 19 8 1 0 0 0 1000\nC0 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18\n"
    "0 0 18 8 4 17 -1\n1 0 18 8 5 0 0\n3 18 0 8 6 2 0\n4 18 0 72 6 2 1\n5 0 18 8 2 2 3\n6 0 18 8 2 2 4\n"
    "7 0 17 8 5 2 6\n8 0 17 8 5 0 7\n";
const std::string collectives =
    "VEF3 2 3 1 1 2 0 1000\nC0 0 1\n1 0 1 100 4 5 -1\nG1 0 allreduce 0 8 0 0 -1\nL2 0 broadcast 1 64 0 3 2 "
    "1\n"
    "L2 0 broadcast 1 64 1 2 1 1\n2 1 0 50 3 4 2\n3 0 1 0 0 0 -1\n";

Trace parsed_trace(const std::string& text) {
  std::istringstream in{text};
  auto trace = read_vef(in, "t.vef");
  EXPECT_TRUE(trace) << trace.error().message;
  return trace ? *trace : Trace{};
}

std::string written(const Trace& trace) {
  std::ostringstream out;
  write_vef(trace, out);
  return out.str();
}

TEST(WriteVef, WhatWasReadIsWrittenAgain) {
  EXPECT_EQ(written(parsed_trace("VEF3 2 1 1 0 0 0 500\nC0 0 1\n7 0 1 640 0 3 -1\n")),
            "VEF3 2 1 1 0 0 0 500\nC0 0 1\n7 0 1 640 0 3 -1\n");
}

TEST(WriteVef, WritingTwiceChangesNothing) {
  const Trace trace = parsed_trace(collectives);
  const std::string once = written(trace);
  EXPECT_EQ(written(parsed_trace(once)), once);
  EXPECT_THAT(once, HasSubstr("VEF3 2 3 1 1 2 0 1000\n"));
  EXPECT_THAT(once, HasSubstr("G1 0 allreduce 0 8 0 0 -1\n"));
  EXPECT_THAT(once, HasSubstr("L2 0 broadcast 1 64 1 2 1 1\n"));
}

/// Each task enters what it shares with the next one, then what it shares with the one before: the last one
/// lets all go on.
TEST(WriteVef, CollectivesThatFreeOneAnotherNeedNoStack) {
  Trace trace;
  trace.tasks = 300'000;
  trace.program.resize(trace.tasks);
  const auto enter = [](std::uint32_t index) {
    Step step;
    step.kind = Step::Kind::Enter;
    step.index = index;
    return step;
  };
  for (std::uint32_t task = 0; task < trace.tasks; ++task) {
    if (task + 1 < trace.tasks) {
      Collective collective;
      collective.id = task;
      collective.communicator = task;
      collective.together = true;
      trace.collectives.push_back(collective);
      trace.communicators.push_back({task, task + 1});
      trace.program[task].push_back(enter(task));
    }
    if (task > 0) trace.program[task].push_back(enter(task - 1));
  }
  const std::string text = written(trace);
  EXPECT_EQ(std::ranges::count(text, 'G'), trace.tasks - 1);
  EXPECT_LT(text.find("G299998 "), text.find("G0 "));
}

TEST(WriteVef, StrippedTracesHaveNoTriggersAndNoClock) {
  const std::string text =
      written(strip(parsed_trace("VEF3 2 2 1 0 0 0 1000\nC0 0 1\n10 0 1 640 4 7 -1\n12 1 0 8 2 3 10\n")));
  EXPECT_EQ(text, "VEF2 2 2 1 0 0 0\nC0 0 1\n10 0 1 640 0 7 -1\n12 1 0 8 2 3 10\n");
  EXPECT_EQ(parsed_trace(text).version, Version::Vef2);
}

TEST(WriteVef, ScaledTimesAndLengths) {
  const Trace trace = parsed_trace("VEF3 2 2 1 0 0 0 1000\nC0 0 1\n10 0 1 3 4 7 -1\n12 1 0 0 2 3 10\n");
  EXPECT_EQ(written(scale(trace, {2, 0.1}).value()),
            "VEF3 2 2 1 0 0 0 1000\nC0 0 1\n10 0 1 1 4 14 -1\n12 1 0 0 2 6 10\n");
  EXPECT_FALSE(scale(trace, {-1, 1}));
  EXPECT_THAT(scale(trace, {1e30, 1}).error().message, HasSubstr("more than a trace can say"));
}

TEST(TraceSummary, CountsAndPlaysTheTraceAlone) {
  const TraceSummary summary = summarize(parsed_trace(example));
  EXPECT_EQ(summary.messages, 8U);
  EXPECT_EQ(summary.bytes, 128U);
  EXPECT_EQ(summary.largest, 72U);
  EXPECT_EQ(summary.triggers, 6U);
  EXPECT_EQ(summary.idle_triggers, 2U);  // 7 and 8
  EXPECT_EQ(summary.pairs, 3U);
  EXPECT_EQ(summary.heaviest.front().source, 18U);
  EXPECT_EQ(summary.heaviest.front().bytes, 80U);
  // Arrivals a tick later: 0 and 1 at 18, 3 and 4 at 21, 5 and 6 leave at 23, 7 and 8 at 25.
  EXPECT_EQ(summary.ticks_alone, Tick{26});
}

TEST(TraceSummary, ATraceThatWaitsForItselfNeverEnds) {
  EXPECT_FALSE(summarize(parsed_trace("VEF3 2 2 0 0 0 0 1000\n1 0 1 8 6 0 2\n2 1 0 8 6 0 1\n")).ticks_alone);
}

}  // namespace
}  // namespace heddle::trace
