#include "app/alarm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transport/clock.h"

namespace heddle::app {
namespace {

using namespace std::chrono_literals;

// Random run 900089 of the real programs: an answer had come while the daemon computed, and it repeated its
// question all the same.
TEST(Alarm, WhatHasComeInGoesFirst) {
  boost::asio::io_context io;
  transport::SteadyClock clock;
  std::vector<std::string> order;
  Alarm alarm{io, clock, [&](Instant) { order.emplace_back("alarm"); }};
  boost::asio::post(io, [&] {
    alarm.set(clock.now());  // due when the next is about to begin
    boost::asio::post(io, [&] {
      order.emplace_back("computed");
      boost::asio::post(io, [&] { order.emplace_back("answer"); });
    });
  });
  io.run();
  EXPECT_THAT(order, testing::ElementsAre("computed", "answer", "alarm"));
}

TEST(Alarm, OneThatIsSetLaterWhileItIsDueWaits) {
  boost::asio::io_context io;
  transport::SteadyClock clock;
  std::vector<Instant> rung;
  Alarm alarm{io, clock, [&](Instant now) { rung.push_back(now); }};
  const Instant begun = clock.now();
  boost::asio::post(io, [&] {
    alarm.set(begun);
    boost::asio::post(io, [&] { alarm.set(begun + 30ms); });
  });
  io.run();
  ASSERT_EQ(rung.size(), 1U);
  EXPECT_GE(rung[0], begun + 30ms);
}

TEST(Alarm, OneThatIsTakenBackOrGoneDoesNotRing) {
  boost::asio::io_context io;
  transport::SteadyClock clock;
  unsigned rung = 0;
  Alarm alarm{io, clock, [&](Instant) { ++rung; }};
  auto gone = std::make_unique<Alarm>(io, clock, [&](Instant) { ++rung; });
  boost::asio::post(io, [&] {
    alarm.set(clock.now());
    gone->set(clock.now());
    boost::asio::post(io, [&] {
      alarm.set(std::nullopt);
      gone.reset();
    });
  });
  io.run();
  EXPECT_EQ(rung, 0U);
}

}  // namespace
}  // namespace heddle::app
