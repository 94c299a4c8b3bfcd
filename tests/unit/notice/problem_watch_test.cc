#include "notice/problem_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::notice {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::SizeIs;

const WallTime wall_start{std::chrono::milliseconds{1'795'435'200'000}};

class ProblemWatchTest : public ::testing::Test {
 protected:
  std::vector<Notice> look(FabricClock::duration when, const Problems& problems) {
    return watch_.look(problems, Instant{when},
                       wall_start + std::chrono::floor<std::chrono::milliseconds>(when));
  }

  ProblemWatch watch_{{}, Instant{}};
};

const Problem one_link{ProblemKind::LostLinks, "1 link is down: leaf-1/3"};
const Problem two_links{ProblemKind::LostLinks, "2 links are down: leaf-1/3, leaf-1/4"};
const Problem drift{ProblemKind::Qos, "3 ports differ"};

TEST_F(ProblemWatchTest, AProblemBeginsOnceAndEndsOnce) {
  const auto began = look(0s, {one_link});
  ASSERT_THAT(began, SizeIs(1));
  EXPECT_EQ(began[0].what, What::ProblemBegan);
  EXPECT_EQ(began[0].kind, "lost-links");
  EXPECT_EQ(began[0].text, one_link.text);
  EXPECT_THAT(look(1s, {one_link}), IsEmpty());
  EXPECT_THAT(look(2s, {}), IsEmpty());
  const auto ended = look(11s, {});
  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_EQ(ended[0].what, What::ProblemEnded);
  EXPECT_EQ(ended[0].since, wall_start);
  EXPECT_EQ(ended[0].at, wall_start + 11s);
  EXPECT_THAT(watch_.open(), IsEmpty());
}

// A link that flaps every few seconds makes one notice, not one for each time.
TEST_F(ProblemWatchTest, WhatComesAndGoesIsOneProblem) {
  std::size_t told = 0;
  for (int i = 0; i < 600; ++i)
    told += look(std::chrono::seconds{i}, i % 5 == 0 ? Problems{one_link} : Problems{}).size();
  EXPECT_EQ(told, 1U);
}

TEST_F(ProblemWatchTest, AllOfOneKindAreOneProblem) {
  const auto began = look(0s, {{ProblemKind::Discovery, "a"}, drift, {ProblemKind::Discovery, "b"}});
  ASSERT_THAT(began, SizeIs(2));
  EXPECT_EQ(began[0].text, "a; b");
}

TEST_F(ProblemWatchTest, AChangeIsToldAndNotMoreOftenThanOnceAMinute) {
  (void)look(0s, {one_link});
  EXPECT_THAT(look(59s, {two_links}), IsEmpty());
  const auto changed = look(60s, {two_links});
  ASSERT_THAT(changed, SizeIs(1));
  EXPECT_EQ(changed[0].what, What::ProblemChanged);
  EXPECT_EQ(changed[0].text, two_links.text);
  EXPECT_EQ(changed[0].since, wall_start);
  EXPECT_THAT(look(119s, {one_link}), IsEmpty());
}

TEST_F(ProblemWatchTest, ASpanOfTimeThatGrowsIsNoChange) {
  EXPECT_EQ(without_spans("for 12 s, 3.5 min, 2 hosts, leaf-1/3"), "for , , 2 hosts, leaf-1/3");
  (void)look(0s, {{ProblemKind::Journal, "the disk has taken nothing for 12 s: leaf-1"}});
  EXPECT_THAT(look(70s, {{ProblemKind::Journal, "the disk has taken nothing for 82 s: leaf-1"}}), IsEmpty());
  EXPECT_THAT(look(71s, {{ProblemKind::Journal, "the disk has taken nothing for 82 s: leaf-2"}}), SizeIs(1));
}

// A daemon that was killed goes on where it was: nothing is told twice, and what went meanwhile ends.
TEST_F(ProblemWatchTest, ARestartKnowsWhatWasTold) {
  (void)look(0s, {one_link, drift});
  watch_ = ProblemWatch{watch_.open(), Instant{100s}};
  EXPECT_THAT(look(100s, {}), IsEmpty());
  EXPECT_THAT(look(130s, {one_link}), IsEmpty());
  EXPECT_THAT(look(159s, {one_link}), IsEmpty());
  const auto ended = look(160s, {one_link});
  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_EQ(ended[0].kind, "qos");
  EXPECT_EQ(ended[0].what, What::ProblemEnded);
  EXPECT_EQ(ended[0].since, wall_start);
}

}  // namespace
}  // namespace heddle::notice
