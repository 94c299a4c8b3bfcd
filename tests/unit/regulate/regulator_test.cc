#include "regulate/regulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "fabric/generators.h"
#include "journal/scribe.h"

namespace heddle::regulate {
namespace {

using namespace std::chrono_literals;

/// Remembers what was asked for, and answers nothing.
class Recorder final : public Actuator {
 public:
  [[nodiscard]] unsigned planes() const override { return 1; }
  [[nodiscard]] regulation::Movement movement() const override { return regulation::Movement::Staged; }
  void write_tables(std::optional<unsigned>, const std::vector<LinkRef>& avoid, Instant, Done) override {
    avoided.push_back(avoid);
  }
  void migrate(unsigned, Instant, Done) override {}
  void set_links(const std::vector<LinkOrder>&, Instant, LinksDone) override {}

  std::vector<std::vector<LinkRef>> avoided;
};

class RegulatorTest : public testing::Test {
 protected:
  RegulatorTest() {
    std::filesystem::create_directories(directory_);
    journal_ = journal::open_journal(directory_ / "journal.db", {}).value();
    known_.reference = fabric_;
    known_.up = routing::LinkSet::all(*fabric_);
    for (const Node& node : fabric_->nodes()) {
      if (node.type == NodeType::Switch) known_.present.insert(node.guid);
    }
    for (const Port& port : fabric_->ports()) {
      if (port.lid != no_lid && known_.managers.empty()) known_.managers = {port.lid};
    }
    scribe_.emplace(*journal_, Desk{[](const auto& work, const auto& then) {
                                               work();
                                               then();
                                             },
                                             [] { return Instant{}; }});
    regulator_.emplace(RegulatorOptions{}, *scribe_, actuator_, [](const journal::Event&) {});
  }
  ~RegulatorTest() override { std::filesystem::remove_all(directory_); }

  std::shared_ptr<const Fabric> fabric_ = assign_lids(**generate("tree:k=4,n=2"), 0).value();
  std::filesystem::path directory_ = std::filesystem::path(testing::TempDir()) / "heddle-regulator";
  std::unique_ptr<journal::Journal> journal_;
  std::optional<journal::Scribe> scribe_;
  Recorder actuator_;
  KnownFabric known_;
  std::optional<Regulator> regulator_;
};

// It is down: no table can lead over it. When it is back, whoever is master may use it before that is known
// here, and tables that avoid it would take its way from somebody who has no other.
TEST_F(RegulatorTest, AsksNobodyToAvoidWhatFell) {
  regulator_->on_fabric(known_, Instant{} + 1s);
  const auto joins_switches = [&](const Link& link) {
    return fabric_->node(link.a.node).type == NodeType::Switch &&
           fabric_->node(link.b.node).type == NodeType::Switch;
  };
  const auto link = std::find_if(fabric_->links().begin(), fabric_->links().end(), joins_switches);
  known_.up.erase(LinkIndex{static_cast<std::uint32_t>(link - fabric_->links().begin())});
  const std::size_t before = actuator_.avoided.size();
  regulator_->on_fabric(known_, Instant{} + 2s);
  ASSERT_GT(actuator_.avoided.size(), before);
  EXPECT_THAT(actuator_.avoided.back(), testing::IsEmpty());
}

}  // namespace
}  // namespace heddle::regulate
