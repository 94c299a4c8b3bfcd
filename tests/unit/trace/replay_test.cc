#include "trace/replay.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <sstream>

namespace heddle::trace {
namespace {

Trace parse(const std::string& text) {
  std::istringstream in{text};
  auto trace = read_vef(in, "t.vef");
  EXPECT_TRUE(trace) << trace.error().message;
  return trace ? *trace : Trace{};
}

/// A network that delivers everything `ticks` later, at its own port for each task unless told otherwise.
struct IdealNetwork {
  explicit IdealNetwork(Trace trace, Tick ticks = 2, ReplayOptions options = {}) : delay{ticks} {
    if (options.port_of_task.empty()) options.port_of_task = round_robin(trace.tasks, trace.tasks);
    replay = std::make_unique<Replay>(std::move(trace), options);
  }
  void run() {
    std::multimap<Tick, std::uint64_t> arriving;
    std::vector<Outgoing> out;
    while (replay->next() != Replay::never || !arriving.empty()) {
      const Tick arrival = arriving.empty() ? Replay::never : arriving.begin()->first;
      if (arrival <= replay->next()) {
        const std::uint64_t handle = arriving.begin()->second;
        arriving.erase(arriving.begin());
        replay->received(handle, arrival);
      } else {
        out.clear();
        replay->take(replay->next(), out);
        for (const Outgoing& message : out) {
          sent[message.handle] = message.at;
          arriving.emplace(message.at + delay, message.handle);
        }
      }
    }
  }
  Tick delay;
  std::unique_ptr<Replay> replay;
  std::map<std::uint64_t, Tick> sent;  ///< by position in the trace
};

// facts/vef3.md, "Example".
TEST(Replay, TheExampleToTheTick) {
  IdealNetwork network{
      parse("VEF3 19 8 1 0 0 0 1000\n"
            "C0 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18\n"
            "0 0 18 8 4 17 -1\n1 0 18 8 5 0 0\n3 18 0 8 6 2 0\n4 18 0 72 6 2 1\n"
            "5 0 18 8 2 2 3\n6 0 18 8 2 2 4\n7 0 17 8 5 2 6\n8 0 17 8 5 0 7\n")};
  network.run();
  const std::map<std::uint64_t, Tick> expected{{0, 17}, {1, 17}, {2, 21}, {3, 21},
                                               {4, 25}, {5, 25}, {6, 27}, {7, 27}};
  EXPECT_EQ(network.sent, expected);
  EXPECT_TRUE(network.replay->finished());
  EXPECT_EQ(network.replay->summary().finish, 29U);
  EXPECT_EQ(network.replay->summary().messages, 8U);
  EXPECT_EQ(network.replay->summary().bytes, 7U * 8 + 72);
  EXPECT_DOUBLE_EQ(network.replay->summary().mean_latency(), 2);
}

TEST(Replay, StartsLater) {
  ReplayOptions options;
  options.start = 100;
  IdealNetwork network{parse("VEF3 2 1 0 0 0 0 1000\n5 0 1 8 0 17 -1\n"), 2, options};
  network.run();
  EXPECT_EQ(network.sent.at(0), 117U);
}

TEST(Replay, MessagesOnOnePortNeverComeOut) {
  ReplayOptions options;
  options.port_of_task = {0, 0};
  options.local_ticks = 5;
  options.local_bytes_per_tick = 4;
  IdealNetwork network{parse("VEF3 2 2 0 0 0 0 1000\n5 0 1 8 4 10 -1\n6 1 0 8 2 1 5\n"), 2, options};
  network.run();
  EXPECT_TRUE(network.sent.empty());
  EXPECT_TRUE(network.replay->finished());
  EXPECT_EQ(network.replay->summary().finish, 10U + 7 + 1 + 7);
  EXPECT_EQ(network.replay->summary().local_messages, 2U);
}

TEST(Replay, ATraceThatWaitsForItselfIsStuck) {
  IdealNetwork network{parse("VEF3 2 2 0 0 0 0 1000\n1 0 1 8 6 1 2\n2 1 0 8 6 1 1\n")};
  network.run();
  EXPECT_FALSE(network.replay->finished());
  EXPECT_TRUE(network.replay->stuck());
  EXPECT_EQ(network.replay->stuck_line(), 2U);
}

// Dissemination among five takes three rounds of two ticks; the last member enters at 9.
TEST(Replay, ABarrierLetsNobodyGoBeforeTheLastHasCome) {
  IdealNetwork network{
      parse("VEF3 5 1 1 0 5 0 1000\nC0 0 1 2 3 4\n"
            "L1 0 barrier 0 0 0 0 0 -1\nL1 0 barrier 0 0 1 0 9 -1\nL1 0 barrier 0 0 2 0 1 -1\n"
            "L1 0 barrier 0 0 3 0 2 -1\nL1 0 barrier 0 0 4 0 3 -1\n7 0 1 8 3 4 1\n")};
  network.run();
  EXPECT_TRUE(network.replay->finished());
  EXPECT_GE(network.sent.at(0), 9U + 2 + 4);
  EXPECT_LE(network.sent.at(0), 9U + 3 * 2 + 4);
}

TEST(Replay, EveryCollectiveEnds) {
  EXPECT_TRUE(rc::check("for any kind, size, root and entry", [] {
    const auto members = *rc::gen::inRange<std::uint32_t>(1, 20);
    const auto root = *rc::gen::inRange<std::uint32_t>(0, members);
    const auto kind = static_cast<CollectiveKind>(*rc::gen::inRange(0, 8));
    std::string text = fmt::format("VEF3 {} 0 1 2 {} 0 1000\nC0", members, members);
    for (std::uint32_t i = 0; i < members; ++i) text += fmt::format(" {}", i);
    text += fmt::format("\nG1 0 {} {} 8 0 3 -1\n", to_string(kind), root);
    for (std::uint32_t i = 0; i < members; ++i) {
      text += fmt::format("L2 0 {} {} 8 {} 3 {} 1\n", to_string(kind), root, i, *rc::gen::inRange(0, 30));
    }
    text += fmt::format("G3 0 barrier 0 0 3 1 2\n");
    IdealNetwork network{parse(text)};
    network.run();
    RC_ASSERT(network.replay->finished());
  }));
}

TEST(Replay, MappingsOfTasksToPorts) {
  EXPECT_THAT(round_robin(5, 2), testing::ElementsAre(0, 1, 0, 1, 0));
  EXPECT_THAT(in_blocks(5, 2), testing::ElementsAre(0, 0, 0, 1, 1));
  std::istringstream good{"1\n0\n1\n"};
  EXPECT_THAT(*read_mapping(good, "m", 3, 2), testing::ElementsAre(1, 0, 1));
  std::istringstream bad{"1\n2\n"};
  EXPECT_THAT(read_mapping(bad, "m", 2, 2).error().message, testing::HasSubstr("m:2: end port is 2"));
  std::istringstream few{"1\n"};
  EXPECT_THAT(read_mapping(few, "m", 2, 2).error().message,
              testing::HasSubstr("m:2: the file ends with 1 end ports for 2 tasks"));
}

}  // namespace
}  // namespace heddle::trace
