#include "ledger/story.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <tuple>
#include <vector>

#include "ledger/channels.h"

namespace heddle::vef {
namespace {

using ::testing::ElementsAre;
using Step = std::tuple<std::uint64_t, After, std::uint64_t, std::uint64_t>;  // ID, after what, ticks, on

/// A rank with two channels of sending and two of receiving, and one communicator.
class StoryTest : public ::testing::Test {
 protected:
  std::vector<Step> steps(const std::vector<Record>& records) {
    Story story{numbers_};
    std::vector<Step> result;
    Told told;
    for (const Record& record : records) {
      if (story.go_on(record, told)) result.emplace_back(told.id, told.after, told.ticks, told.on);
    }
    return result;
  }
  static Record send(std::uint32_t channel, std::uint64_t at) {
    return {.what = What::Send, .where = channel, .amount = 8, .at = at};
  }
  static Record post(std::uint32_t channel) { return {.what = What::Posted, .where = channel}; }
  static Record receive(std::uint64_t post, std::uint64_t at) {
    return {.what = What::Received, .amount = post, .at = at};
  }
  static Record receive_too(std::uint64_t post, std::uint64_t at) {
    return {.what = What::ReceivedToo, .amount = post, .at = at};
  }
  static Record enter(std::uint64_t at) { return {.what = What::Enter, .at = at}; }

  Numbers numbers_{
      .first_sent = {100, 200}, .first_received = {500, 600}, .sent = {9, 1}, .first_entered = {40}};
};

TEST_F(StoryTest, AStepWaitsForWhatWasLast) {
  EXPECT_THAT(steps({send(0, 10), send(1, 15), enter(20), send(0, 50), post(0), receive(0, 60), send(0, 61)}),
              ElementsAre(Step{100, After::Nothing, 10, 0}, Step{200, After::Send, 5, 100},
                          Step{40, After::Send, 5, 200}, Step{101, After::Collective, 30, 40},
                          Step{102, After::Reception, 1, 500}));
}

// The second one that was posted ends first: it has the second message all the same.
TEST_F(StoryTest, MessagesGoToReceptionsInTheOrderOfPosting) {
  EXPECT_THAT(steps({post(0), post(0), receive(1, 5), send(0, 5), receive(0, 6), send(0, 6)}),
              ElementsAre(Step{100, After::Reception, 0, 501}, Step{101, After::Reception, 0, 500}));
}

TEST_F(StoryTest, StepsAfterSeveralReceptionsWaitForOneEach) {
  EXPECT_THAT(steps({post(0), post(1), receive(0, 5), receive_too(1, 5), send(0, 7), send(0, 8), send(0, 9)}),
              ElementsAre(Step{100, After::Reception, 2, 600}, Step{101, After::Reception, 3, 500},
                          Step{102, After::Send, 1, 101}));
}

TEST_F(StoryTest, ACancelledReceptionTakesNoMessage) {
  EXPECT_THAT(steps({post(0), post(nowhere), post(0), receive(2, 5), send(0, 5)}),
              ElementsAre(Step{100, After::Reception, 0, 501}));
}

TEST_F(StoryTest, WhatNobodySentCannotBeReceived) {
  const std::vector<Record> records{post(1), post(1), receive(0, 1), receive(1, 2)};
  EXPECT_THROW(steps(records), std::runtime_error);
}

TEST(ChannelsTest, EachHasAPlaceOfItsOwn) {
  Channels channels;
  EXPECT_EQ(channels.at({0, 1, 2}), 0U);
  EXPECT_EQ(channels.at({0, 1, -2}), 1U);
  EXPECT_EQ(channels.at({1, 1, 2}), 2U);
  EXPECT_EQ(channels.at({0, 1, 2}), 0U);
}

TEST(ChannelsTest, MoreThanCanBeKept) {
  Channels channels;
  for (std::size_t i = 0; i < Channels::most; ++i)
    ASSERT_EQ(channels.at({0, 0, static_cast<std::int32_t>(i)}), i);
  EXPECT_THROW((void)channels.at({0, 1, 0}), std::length_error);
}

}  // namespace
}  // namespace heddle::vef
