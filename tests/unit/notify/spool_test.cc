#include "notify/spool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "notify/destination.h"
#include "support/scratch.h"

namespace heddle::notify {
namespace {

using namespace std::chrono_literals;
using notice::Notice;
using notice::What;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const notice::WallTime wall{std::chrono::milliseconds{1'795'435'200'123}};
constexpr unsigned all = wants_events | wants_problems;

class SpoolTest : public ::testing::Test {
 protected:
  void SetUp() override { open({{"oncall", all}, {"log", wants_events}}); }

  void open(const std::vector<Reader>& readers, std::uint64_t most = 100) {
    spool_.reset();
    auto spool = open_spool(path(), most);
    ASSERT_TRUE(spool) << spool.error().message;
    spool_ = *std::move(spool);
    ASSERT_TRUE(spool_->use(readers));
  }
  [[nodiscard]] std::string path() const { return directory_ / "notices.db"; }
  void append(What what, const std::string& text) {
    ASSERT_TRUE(spool_->append({0, wall, what, "kind", "links", text, wall - 1s}));
  }
  void events(int number) {
    for (int i = 1; i <= number; ++i) append(What::Event, std::to_string(i));
  }
  [[nodiscard]] std::vector<std::string> waiting(std::size_t reader, std::size_t most = 1000) const {
    std::vector<std::string> texts;
    const auto found = spool_->read(reader, most).value();
    for (const Notice& notice : found) texts.push_back(notice.text);
    return texts;
  }

  test::Scratch directory_;
  std::unique_ptr<Spool> spool_;
};

TEST_F(SpoolTest, GivesBackWhatItWasGiven) {
  append(What::ProblemBegan, "it \"is\" broken");
  const auto found = spool_->read(0, 10).value();
  EXPECT_THAT(found, ElementsAre(Notice{1, wall, What::ProblemBegan, "kind", "links", "it \"is\" broken",
                                        wall - 1s}));
}

TEST_F(SpoolTest, EachReaderHasItsOwnPlace) {
  events(3);
  append(What::ProblemBegan, "p");
  EXPECT_THAT(waiting(0, 2), ElementsAre("1", "2"));
  ASSERT_TRUE(spool_->done(0, 2, Spool::End::Delivered));
  EXPECT_THAT(waiting(0), ElementsAre("3", "p"));
  EXPECT_THAT(waiting(1), ElementsAre("1", "2", "3"));
  EXPECT_THAT(spool_->standings(), ElementsAre(Standing{2, 0}, Standing{3, 0}));
}

// As after kill -9: nothing is closed in order, and nothing that append() came back for is lost.
TEST_F(SpoolTest, NothingIsLostOverARestart) {
  events(3);
  append(What::ProblemBegan, "p");
  ASSERT_TRUE(spool_->done(0, 1, Spool::End::Delivered));
  test::Scratch copy;
  for (const char* file : {"notices.db", "notices.db-wal"}) {
    std::ifstream in{directory_ / file, std::ios::binary};
    std::ofstream{copy / file, std::ios::binary} << in.rdbuf();
  }
  auto again = open_spool(copy / "notices.db", 100);
  ASSERT_TRUE(again) << again.error().message;
  const std::vector<Reader> readers{{"oncall", all}, {"log", wants_events}};
  ASSERT_TRUE((*again)->use(readers));
  EXPECT_THAT((*again)->standings(), ElementsAre(Standing{3, 0}, Standing{3, 0}));
  EXPECT_THAT((*again)->open_problems().value(), ElementsAre(notice::OpenProblem{"kind", "p", wall - 1s}));
}

TEST_F(SpoolTest, TheOldestGoAndAreCounted) {
  open({{"oncall", all}, {"log", wants_events}}, 10);
  append(What::ProblemBegan, "p");
  events(4);
  ASSERT_TRUE(spool_->done(0, 3, Spool::End::Delivered));
  events(10);
  EXPECT_THAT(spool_->standings(), ElementsAre(Standing{10, 2}, Standing{10, 4}))
      << "\"log\" never wanted the problem";
  EXPECT_THAT(waiting(1, 2), ElementsAre("1", "2"));
  open({{"oncall", all}, {"log", wants_events}}, 10);
  EXPECT_THAT(spool_->standings(), ElementsAre(Standing{10, 2}, Standing{10, 4}));
}

TEST_F(SpoolTest, WhatIsRefusedCountsAsDropped) {
  events(2);
  ASSERT_TRUE(spool_->done(0, 1, Spool::End::Dropped));
  EXPECT_EQ(spool_->standings()[0], (Standing{1, 1}));
}

TEST_F(SpoolTest, ANewReaderBeginsWithWhatIsNewAndOneThatWentHoldsNothing) {
  events(3);
  open({{"oncall", all}, {"later", all}});
  EXPECT_THAT(waiting(0), ElementsAre("1", "2", "3"));
  EXPECT_THAT(waiting(1), IsEmpty());
  open({{"later", all}});
  events(1);
  EXPECT_THAT(waiting(0), ElementsAre("1"));
  open({{"later", all}, {"oncall", all}});
  EXPECT_THAT(waiting(1), IsEmpty()) << "it had been taken away";
}

TEST_F(SpoolTest, KnowsWhichProblemsWereTold) {
  append(What::ProblemBegan, "p");
  append(What::ProblemChanged, "q");
  EXPECT_THAT(spool_->open_problems().value(), ElementsAre(notice::OpenProblem{"kind", "q", wall - 1s}));
  append(What::ProblemEnded, "q");
  EXPECT_THAT(spool_->open_problems().value(), IsEmpty());
}

TEST_F(SpoolTest, AFileOfAnotherProgramIsLeftAlone) {
  std::ofstream{directory_ / "other"}
      << "no database, and long enough to be read as one, which it is not at all";
  const auto spool = open_spool(directory_ / "other", 10);
  ASSERT_FALSE(spool);
  EXPECT_THAT(spool.error().message, HasSubstr("other"));
}

}  // namespace
}  // namespace heddle::notify
