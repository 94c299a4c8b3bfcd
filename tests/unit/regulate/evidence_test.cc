#include "regulate/regulator.h"

#include <gtest/gtest.h>

#include "support/scratch.h"

namespace heddle::regulate {
namespace {

const LinkRef link{{NodeGuid{1}, PortNum{1}}, {NodeGuid{2}, PortNum{1}}};

class Idle final : public Actuator {
 public:
  [[nodiscard]] unsigned planes() const override { return 1; }
  [[nodiscard]] regulation::Movement movement() const override { return regulation::Movement::Staged; }
  void write_tables(std::optional<unsigned>, const std::vector<LinkRef>&, Instant, Done) override {}
  void migrate(unsigned, Instant, Done) override {}
  void set_links(const std::vector<LinkOrder>&, Instant, LinksDone) override {}
};

class Evidence : public testing::Test {
 protected:
  void SetUp() override { journal_ = journal::open_journal(directory_ / "journal.db", {}).value(); }
  void tell() {
    journal::Scribe scribe{*journal_, Desk{[](const auto& work, const auto& then) {
                                             work();
                                             then();
                                           },
                                           [] { return Instant{}; }}};
    Regulator regulator(RegulatorOptions{}, scribe, actuator_, [](const journal::Event&) {});
    regulation::OffRecord record;
    record.link = link;
    record.port = link.a;
    regulator.on_evidence({record}, Instant{});
  }

  test::Scratch directory_;
  std::unique_ptr<journal::Journal> journal_;
  Idle actuator_;
};

TEST_F(Evidence, CountsForAFreshJournal) {
  tell();
  ASSERT_EQ(journal_->memory().off.size(), 1U);
  EXPECT_EQ(journal_->memory().off.at(link).port, link.a);
}

// A journal that knows of changes knows more.
TEST_F(Evidence, CountsForNoOther) {
  ASSERT_TRUE(journal_->write(regulation::Intent{regulation::ChangeId{5}, Instant{}, {}, {link}}));
  ASSERT_TRUE(journal_->write(regulation::Outcome{regulation::ChangeId{5}, Instant{}, {}, {link}, ""}));
  tell();
  EXPECT_TRUE(journal_->memory().off.empty());
}

}  // namespace
}  // namespace heddle::regulate
