#include "authority/opensm/beside_opensm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support/sim_world.h"

namespace heddle::opensm {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Beside : public testing::Test, private PluginPort, private regulate::FabricSeat {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::path(testing::TempDir()) /
                 (std::string("beside-") + testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
    journal_ = journal::open_journal(directory_ / "journal.db", {}).value();
    store_.emplace(directory_ / "plan.json");
    beside_.emplace(
        regulate::RegulatorOptions{}, sim_.engine, static_cast<regulate::FabricSeat&>(*this),
        static_cast<PluginPort&>(*this), *store_, *journal_, nullptr, [](const journal::Event&) {},
        OpenSmActuatorOptions{});
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  void say(PluginEvent::Kind kind, const char* state) {
    PluginEvent event;
    event.kind = kind;
    event.state = state;
    beside_->on_plugin(event, now_);
  }

  Instant now_{};
  bool connected_ = false;
  bool others_ = false;
  std::optional<PlanStore> store_;
  std::optional<BesideOpenSm> beside_;

 private:
  [[nodiscard]] bool connected() const override { return connected_; }
  [[nodiscard]] bool has_others() const override { return others_; }
  void tell(PluginCommand) override {}
  [[nodiscard]] std::shared_ptr<const Survey> survey() const override { return nullptr; }
  void adopt(std::shared_ptr<const Survey>) override {}
  void look_at(const std::vector<NodeGuid>&, Instant) override {}

  std::filesystem::path directory_;
  test::SimWorld sim_{"tree:k=2,n=2"};
  std::unique_ptr<journal::Journal> journal_;
};

TEST_F(Beside, SaysThatThePluginIsAwayAfterTwentySeconds) {
  beside_->on_timer(now_);
  EXPECT_THAT(beside_->problems(), IsEmpty());
  ASSERT_EQ(beside_->next_deadline(), now_ + 20s);
  now_ += 20s;
  beside_->on_timer(now_);
  EXPECT_THAT(beside_->problems(), ElementsAre(HasSubstr("for more than 20 s")));
  EXPECT_NE(beside_->next_deadline(), now_) << "nothing is left to wait for";
  connected_ = true;
  say(PluginEvent::Kind::Hello, "master");
  EXPECT_THAT(beside_->problems(), IsEmpty());
}

TEST_F(Beside, SaysThatItsOpenSmIsNotTheMasterUnlessAnotherOneHereMayBecomeIt) {
  connected_ = others_ = true;
  say(PluginEvent::Kind::Hello, "standby");
  EXPECT_THAT(beside_->problems(), IsEmpty());
  others_ = false;
  say(PluginEvent::Kind::SmState, "standby");
  EXPECT_THAT(beside_->problems(), ElementsAre(HasSubstr("is not the master")));
}

TEST_F(Beside, SaysThatThePlanCannotBeWritten) {
  std::filesystem::create_directory(store_->path() + ".tmp");
  EXPECT_FALSE(store_->update(PlanStore::Part::Routing, [](plan::Plan&) {}));
  EXPECT_THAT(beside_->problems(), ElementsAre(HasSubstr("cannot be written")));
}

}  // namespace
}  // namespace heddle::opensm
