#include "journal/scribe.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace heddle::journal {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Says what it is asked to do, and fails when told to.
class ScriptedJournal final : public Journal {
 public:
  Result<void> write(const regulation::Record& record) override {
    said.push_back(fmt::format("record {}", record.index()));
    if (broken) return fail(ErrorCode::Io, "disk is full");
    regulation::apply(memory_, record);
    return {};
  }
  [[nodiscard]] const regulation::Memory& memory() const override { return memory_; }
  Result<void> put_ranks(std::span<const Rank>) override { return say("ranks"); }
  [[nodiscard]] Result<std::vector<Rank>> ranks() const override {
    return std::vector<Rank>{{NodeGuid{1}, 7}};
  }
  Result<void> put_lids(std::span<const PortLid>) override { return say("lids"); }
  [[nodiscard]] Result<std::vector<PortLid>> lids() const override {
    return std::vector<PortLid>{{{NodeGuid{1}, PortNum{1}}, Lid{5}}};
  }
  Result<void> put_cables(std::span<const Cable>) override { return say("cables"); }
  [[nodiscard]] Result<std::vector<Cable>> cables() const override { return std::vector<Cable>{}; }
  Result<void> put_energy(const power::EnergyRecord&) override { return say("energy"); }
  [[nodiscard]] Result<power::EnergyRecord> energy() const override { return power::EnergyRecord{}; }
  Result<std::uint64_t> append(const Event& event) override {
    said.push_back(event.text);
    return said.size();
  }
  [[nodiscard]] Result<std::vector<Event>> events(std::uint64_t after, std::size_t most) const override {
    return std::vector<Event>{{after + most, {}, "", "", ""}};
  }

  bool broken = false;
  std::vector<std::string> said;

 private:
  Result<void> say(const char* what) {
    said.emplace_back(what);
    return {};
  }
  regulation::Memory memory_;
};

class ScribeTest : public ::testing::Test {
 protected:
  /// The disk takes the next thing, and word of it comes back.
  void disk() {
    auto [work, then] = std::move(given_.front());
    given_.pop_front();
    work();
    then();
  }
  /// Tells when it is called.
  [[nodiscard]] auto told(std::string what) {
    return [this, what = std::move(what)](const auto&...) { told_.push_back(what); };
  }

  ScriptedJournal journal_;
  Instant now_{};
  std::deque<std::pair<std::function<void()>, std::function<void()>>> given_;
  std::vector<std::string> told_;
  std::optional<Scribe> scribe_{std::in_place, journal_,
                                Desk{[this](std::function<void()> work, std::function<void()> then) {
                                       given_.emplace_back(std::move(work), std::move(then));
                                     },
                                     [this] { return now_; }}};
};

TEST_F(ScribeTest, WritesInTheOrderOfTheCallsAndSaysSoAfterwards) {
  scribe_->write(regulation::ModeRecord{regulation::Mode::Enforce, "root"}, told("mode"));
  scribe_->append({0, {}, "", "", "decided"}, told("event"));
  scribe_->after(told("both"));
  scribe_->put_ranks({{NodeGuid{2}, 1}}, told("ranks"));
  EXPECT_THAT(journal_.said, IsEmpty()) << "the caller has not waited";
  EXPECT_THAT(told_, IsEmpty());
  disk();
  EXPECT_THAT(told_, ElementsAre("mode"));
  disk();
  EXPECT_THAT(told_, ElementsAre("mode", "event", "both"));
  disk();
  EXPECT_THAT(told_, ElementsAre("mode", "event", "both", "ranks"));
  EXPECT_THAT(journal_.said, ElementsAre("record 3", "decided", "ranks"));
  scribe_->after(told("nothing"));
  EXPECT_EQ(told_.back(), "nothing") << "nothing is to be waited for";
}

TEST_F(ScribeTest, KnowsWhatWasHandedOverUntilTheDiskRefusesIt) {
  EXPECT_THAT(*scribe_->ranks(), ElementsAre(Rank{NodeGuid{1}, 7}));
  scribe_->put_ranks({{NodeGuid{2}, 1}}, told(""));
  EXPECT_THAT(*scribe_->ranks(), ElementsAre(Rank{NodeGuid{2}, 1}));
  disk();
  Result<void> said;
  scribe_->write(regulation::ModeRecord{regulation::Mode::Enforce, "root"},
                 [&](const Result<void>& stored) { said = stored; });
  EXPECT_EQ(scribe_->memory().mode, regulation::Mode::Enforce);
  journal_.broken = true;
  disk();
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().message, "disk is full");
  EXPECT_FALSE(scribe_->memory().mode);
}

TEST_F(ScribeTest, LeavesOutWhatWaitsAlready) {
  scribe_->put_energy({}, told("first"));
  scribe_->put_energy({}, told("second"));
  EXPECT_EQ(given_.size(), 1U);
  disk();
  scribe_->put_energy({}, told("third"));
  disk();
  EXPECT_THAT(told_, ElementsAre("first", "third"));
}

TEST_F(ScribeTest, RefusesWhatIsNotNeededWhenTheDiskDoesNothing) {
  for (std::size_t i = 0; i < Scribe::most_waiting; ++i) scribe_->append({}, told("done"));
  now_ += 7s;
  EXPECT_EQ(scribe_->wait(), 7s);
  Result<void> appended;
  scribe_->append({}, [&](const Result<void>& stored) { appended = stored; });
  Result<std::vector<Event>> read;
  scribe_->events(0, 1, [&](const auto& found) { read = found; });
  ASSERT_FALSE(appended);
  EXPECT_THAT(appended.error().message, HasSubstr("for 7 s"));
  EXPECT_FALSE(read);
  // A record is never refused for that.
  scribe_->write(regulation::PlaneRecord{1}, told("record"));
  while (!given_.empty()) disk();
  EXPECT_EQ(told_.back(), "record");
  EXPECT_EQ(scribe_->wait(), 0s);
  scribe_->events(3, 4, [&](const auto& found) { read = found; });
  disk();
  ASSERT_TRUE(read);
  EXPECT_EQ(read->front().id, 7U);
}

// Each read keeps what is to be written waiting.
TEST_F(ScribeTest, ReadsAFewTimesAtOnceAndNoMore) {
  std::size_t refused = 0;
  for (std::size_t i = 0; i < Scribe::most_reads + 3; ++i) {
    scribe_->events(0, 1, [&](const auto& found) { refused += found ? 0 : 1; });
  }
  EXPECT_EQ(refused, 3U);
  EXPECT_EQ(given_.size(), Scribe::most_reads);
  while (!given_.empty()) disk();
  EXPECT_EQ(scribe_->reads_waiting(), 0U);
  scribe_->events(0, 1, told("read"));
  disk();
  EXPECT_EQ(told_, std::vector<std::string>{"read"});
}

TEST_F(ScribeTest, TellsNobodyAfterItsEnd) {
  scribe_->write(regulation::PlaneRecord{1}, told("record"));
  scribe_->after(told("fence"));
  scribe_.reset();
  disk();
  EXPECT_THAT(told_, IsEmpty());
  EXPECT_THAT(journal_.said, ElementsAre("record 4")) << "it was handed over";
}

}  // namespace
}  // namespace heddle::journal
