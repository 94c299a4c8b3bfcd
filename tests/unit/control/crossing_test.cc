#include "control/crossing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace heddle::control {
namespace {

namespace asio = boost::asio;

/// Both sides on the test's thread: each runs when the test says so.
class CrossingTest : public testing::Test {
 protected:
  CrossingTest() {
    crossing.emplace(
        doors, daemon,
        [this](const Request& request, Respond respond) {
          seen.push_back(request.path);
          if (handle) handle(request, std::move(respond));
        },
        CrossingLimits{.rest = 3, .waiting = 3}, [this] { return had; });
    ask_at = crossing->handler();
  }
  void ask(const std::string& path, const Peer& peer, Access access = Access::Read) {
    Request request;
    request.path = path;
    request.peer = peer;
    request.access = access;
    ask_at(request, [this](Response response) { got.push_back(std::move(response)); });
  }
  void run() {
    for (int rounds = 0; rounds < 100; ++rounds) {
      doors.restart();
      daemon.restart();
      if (doors.poll() + daemon.poll() == 0) return;
    }
  }

  asio::io_context doors;
  asio::io_context daemon;
  std::chrono::hours had{0};  ///< of a processor, by the daemon's thread
  std::function<void(const Request&, Respond)> handle = [](const Request& request, const Respond& respond) {
    respond(text_response("text/plain", request.path));
  };
  std::optional<Crossing> crossing;
  Handler ask_at;
  std::vector<std::string> seen;
  std::vector<Response> got;
};

TEST_F(CrossingTest, ReadersCrossOneAtATimeWhoHadLeastFirst) {
  for (const char* path : {"/a1", "/a2", "/a3"}) ask(path, "a");
  ask("/b1", "b");
  ask("/op", "root", Access::Change);
  daemon.poll();
  EXPECT_THAT(seen, testing::ElementsAre("/a1", "/op"));
  run();
  EXPECT_THAT(seen, testing::ElementsAre("/a1", "/op", "/b1", "/a2", "/a3"));
  EXPECT_EQ(got.size(), 5U);
}

TEST_F(CrossingTest, TheNextReaderWaitsForAsLongAsARequestTookOfAProcessor) {
  handle = [this](const Request& request, const Respond& respond) {
    if (request.path == "/hard") ++had;
    respond(text_response("text/plain", request.path));
  };
  ask("/easy", "a");
  ask("/hard", "b");
  ask("/easy", "c");
  run();
  EXPECT_THAT(seen, testing::ElementsAre("/easy", "/hard"));
  ask("/op", "root", Access::Change);
  run();
  EXPECT_EQ(seen.back(), "/op");
}

// Another thread has the processor meanwhile.
TEST(ProcessorTime, StandsStillWhileAThreadWaits) {
  const auto begun = processor_time();
  std::chrono::steady_clock::duration other{};
  std::thread{[&] {
    while ((other = processor_time()) < std::chrono::milliseconds{50}) {
    }
  }}.join();
  EXPECT_LT(processor_time() - begun, other);
}

TEST_F(CrossingTest, TooManyReadersAreToldToAskAgain) {
  for (int i = 0; i < 5; ++i) ask("/x", "a");
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got.front().status, 503U);
  run();
  EXPECT_EQ(got.size(), 5U);
}

// 503 to a scraper, because a crowd had filled the queue.
TEST_F(CrossingTest, WhoAsksForMuchGivesPlaceToWhoAsksForLittle) {
  for (const char* path : {"/a1", "/a2", "/a3", "/a4"}) ask(path, "a");
  ask("/b1", "b");
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got.front().status, 503U);
  run();
  EXPECT_THAT(seen, testing::ElementsAre("/a1", "/b1", "/a2", "/a3"));
  EXPECT_EQ(got.size(), 5U);
}

TEST_F(CrossingTest, PiecesCrossOneByOneAndEndWithWhoWantedThem) {
  const auto alive = std::make_shared<int>(0);
  handle = [&](const Request&, const Respond& respond) {
    respond({200, "text/plain", nullptr, [alive](const NextPiece& next) {
               next(std::make_shared<const std::string>("piece " + std::to_string(++*alive)));
             }});
  };
  ask("/events", "a");
  run();
  ASSERT_EQ(got.size(), 1U);
  std::string text;
  got.front().pieces([&](const Piece& piece) { text = *piece; });
  run();
  EXPECT_EQ(text, "piece 1");
  handle = nullptr;
  EXPECT_EQ(alive.use_count(), 2);
  got.clear();
  run();
  EXPECT_EQ(alive.use_count(), 1);
}

TEST_F(CrossingTest, WhatIsDroppedInsideIsDroppedOutside) {
  handle = [](const Request&, const Respond&) {};
  const auto client = std::make_shared<int>(0);
  ask_at(Request{}, [client](const Response&) {});
  EXPECT_EQ(client.use_count(), 2);
  run();
  EXPECT_EQ(client.use_count(), 1);
}

TEST_F(CrossingTest, NothingCrossesAfterTheEnd) {
  Respond late;
  handle = [&](const Request&, Respond respond) { late = std::move(respond); };
  ask("/late", "a");
  run();
  ASSERT_TRUE(late);
  crossing->close();
  late(text_response("text/plain", "too late"));
  ask("/after", "a", Access::Change);
  run();
  EXPECT_TRUE(got.empty());
  EXPECT_EQ(seen.size(), 1U);
  crossing.reset();
  ask("/gone", "a");
}

}  // namespace
}  // namespace heddle::control
