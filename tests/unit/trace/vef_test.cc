#include "trace/vef.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <sstream>

namespace heddle::trace {
namespace {

using testing::HasSubstr;

Result<Trace> read(const std::string& text) {
  std::istringstream in{text};
  return read_vef(in, "t.vef");
}

std::string error(const std::string& text) {
  const auto trace = read(text);
  return trace ? "no error" : trace.error().message;
}

constexpr const char* two = "VEF3 2 2 1 0 0 0 1000\nC0 0 1\n";

TEST(Vef, ReadsARecordsFields) {
  const auto trace = read(std::string{two} + "10 0 1 640 4 7 -1\n12 1 0 8 2 3 10\n");
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->tasks, 2U);
  EXPECT_EQ(trace->clock_ps, 1000);
  ASSERT_EQ(trace->messages.size(), 2U);
  EXPECT_EQ(trace->messages[0].bytes, 640U);
  EXPECT_TRUE(trace->messages[0].trigger);
  EXPECT_EQ(trace->messages[1].when.dependency, Dependency::AfterReceive);
  EXPECT_EQ(trace->messages[1].when.after, 0U);
  EXPECT_EQ(trace->messages[1].when.ticks, 3U);
}

TEST(Vef, ReadsVef2WithoutClockAndTriggers) {
  const auto trace = read("VEF2 2 2 1 0 0 0\nC0 0 1\n10 0 1 640 0 7 -1\n12 1 0 8 2 3 10\n");
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->version, Version::Vef2);
  EXPECT_TRUE(trace->messages[0].trigger);  // found from who waits for it
  EXPECT_THAT(error("VEF2 2 1 0 0 0 0\n10 0 1 640 4 7 -1\n"), HasSubstr("t.vef:2: Dep is 4, at most 3"));
}

TEST(Vef, SaysFileLineAndField) {
  EXPECT_THAT(error(""), HasSubstr("t.vef:1: header is missing"));
  EXPECT_THAT(error("VEF4 1 1"), HasSubstr("t.vef:1: header begins with \"VEF4\""));
  EXPECT_THAT(error("VEF3 0 0 0 0 0 0 1"), HasSubstr("nNodes is 0"));
  EXPECT_THAT(error("VEF3 2 0 0 0 0 0"), HasSubstr("t.vef:1: clock is missing"));
  EXPECT_THAT(error("VEF3 2 0 0 0 0 0 0"), HasSubstr("clock is 0"));
  EXPECT_THAT(error(std::string{two} + "10 0 5 640 4 7 -1\n"), HasSubstr("t.vef:3: dst is 5, at most 1"));
  EXPECT_THAT(error(std::string{two} + "10 0 1 x 4 7 -1\n"), HasSubstr("t.vef:3: length is \"x\""));
  EXPECT_THAT(error(std::string{two} + "10 0 1 8 9 7 -1\n"), HasSubstr("Dep is 9"));
  EXPECT_THAT(error(std::string{two} + "10 0 1 8 0 7 3\n"), HasSubstr("IDdep must be -1"));
  EXPECT_THAT(error(std::string{two} + "10 0 1 8 0 7\n"), HasSubstr("IDdep must be -1"));
  EXPECT_THAT(error(std::string{two} + "10 0 1 8 0 7 -1 5\n"), HasSubstr("after the last field"));
  EXPECT_THAT(error(std::string{two} + "10 0 1 8 0 7 -1\n10 0 1 8 0 7 -1\n"),
              HasSubstr("t.vef:4: ID 10 is there twice"));
  EXPECT_THAT(error(std::string{two} + "10 0 1 8 0 7 -1\n"), HasSubstr("nMsgs is 2, but the file has 1"));
  EXPECT_THAT(error(std::string{two} + "C0 1\n"), HasSubstr("communicator 0 is there twice"));
  EXPECT_THAT(error(std::string{two} + "1 0 1 8 0 7 -1\n2 0 1 8 2 7 1\n"),
              HasSubstr("t.vef:4: IDdep 1 is not received by"));
  EXPECT_THAT(error(std::string{two} + "1 0 1 8 0 7 -1\n2 1 0 8 2 7 1\n"), HasSubstr("is no trigger"));
  EXPECT_THAT(error(std::string{two} + "1 0 1 8 0 7 -1\n2 1 0 8 1 7 9\n"), HasSubstr("names no message"));
}

TEST(Vef, ReadsCollectives) {
  const auto trace = read(
      "VEF3 3 0 1 1 3 0 1000\nC7 0 1 2\nG1 7 barrier 0 0 0 5 -1\n"
      "L2 7 broadcast 1 64 0 3 2 1\nL2 7 broadcast 1 64 1 3 0 1\nL2 7 broadcast 1 64 2 0 9 -1\n");
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->collectives.size(), 2U);
  EXPECT_EQ(trace->program[2].size(), 2U);
  EXPECT_EQ(trace->program[0][1].when.dependency, Dependency::AfterCollective);
}

TEST(Vef, RefusesHalfACollective) {
  EXPECT_THAT(error("VEF3 3 0 1 0 1 0 1000\nC7 0 1 2\nL2 7 broadcast 1 64 0 0 0 -1\n"),
              HasSubstr("t.vef:3: collective 2 is entered by 1 of 3 members"));
  EXPECT_THAT(error("VEF3 3 0 1 1 0 0 1000\nC7 0 1\nG2 7 broadcast 2 64 0 0 -1\n"),
              HasSubstr("root 2 is no member"));
  EXPECT_THAT(error("VEF3 3 0 1 1 0 0 1000\nC7 0 1\nG2 7 sing 0 64 0 0 -1\n"), HasSubstr("kind is \"sing\""));
}

TEST(Vef, RefusesACollectiveThatIsEnteredAgain) {
  EXPECT_THAT(
      error("VEF3 2 0 1 1 2 0 1000\nC0 0 1\nG1 0 allreduce 0 8 0 0 -1\nL1 0 allreduce 0 8 0 0 0 -1\n"),
      HasSubstr("t.vef:4: ID 1 is there twice"));
}

TEST(Vef, SurvivesRubbish) {
  EXPECT_TRUE(rc::check("any change of a valid trace is read or refused", [] {
    std::string text =
        std::string{two} + "C1 1\n10 0 1 640 4 7 -1\n12 1 0 8 2 3 10\nG3 0 barrier 0 0 0 1 -1\n";
    const int changes = *rc::gen::inRange(1, 6);
    for (int i = 0; i < changes; ++i) {
      const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
      if (*rc::gen::arbitrary<bool>()) {
        text[at] = *rc::gen::arbitrary<char>();
      } else {
        text.erase(at, *rc::gen::inRange<std::size_t>(0, 9));
      }
      if (text.empty()) break;
    }
    const auto trace = read(text);
    if (trace) return;
    const std::string& message = trace.error().message;
    RC_ASSERT(message.starts_with("t.vef:"));
    RC_ASSERT(message.find_first_not_of("0123456789", 6) == message.find(": "));
  }));
}

TEST(Names, AreReadAndChecked) {
  std::istringstream good{"NODES:3:4\n0:Core_0\n2:DMA_9\n1:L2Cache_1\n"};
  const auto names = read_names(good, "n");
  ASSERT_TRUE(names) << names.error().message;
  EXPECT_EQ(names->tile_ticks, 4U);
  EXPECT_EQ(names->kinds[1], "L2Cache");
  EXPECT_EQ(names->tiles[1], 1U);
  EXPECT_EQ(names->tiles[2], 0U);
  const auto error_of = [](const std::string& text) {
    std::istringstream in{text};
    const auto read = read_names(in, "n");
    return read ? "no error" : read.error().message;
  };
  EXPECT_THAT(error_of("NODES:2:4\n0:Core_0\n"), HasSubstr("n:1: 2 devices, but device 1 has no line"));
  EXPECT_THAT(error_of("NODES:2:4\n0:Core\n"), HasSubstr("n:2: kind_tile"));
  EXPECT_THAT(error_of("NODES:2:4\n5:Core_1\n"), HasSubstr("n:2: id is 5"));
  EXPECT_THAT(error_of("nodes"), HasSubstr("header must be NODES"));
}

}  // namespace
}  // namespace heddle::trace
