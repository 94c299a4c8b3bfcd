#include "authority/opensm/beside_opensm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "discovery/discovery.h"
#include "support/desks.h"
#include "support/managed_world.h"
#include "support/scratch.h"
#include "support/sim_world.h"
#include "support/trunks.h"

namespace heddle::opensm {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

auto says(const char* text) { return testing::Field(&Problem::text, HasSubstr(text)); }

class Beside : public testing::Test,
               private PluginPort,
               private authority::Seat,
               private authority::FabricListener {
 protected:
  void SetUp() override {
    store_.emplace(directory_ / "plan.json", test::at_once());
    make();
  }
  void make() {
    beside_.emplace(sim_.engine, sim_, static_cast<authority::Seat&>(*this), static_cast<PluginPort&>(*this),
                    *store_, nullptr, OpenSmActuatorOptions{});
    beside_->regulate_with(*this, {});
  }

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
  std::vector<regulation::OffRecord> evidence_;
  std::vector<std::size_t> apart_;  ///< each word on it
  unsigned fabrics_ = 0;            ///< of which the listener was told
  authority::KnownFabric known_;    ///< the last one
  test::SimWorld sim_{"tree:k=2,n=2"};

 private:
  [[nodiscard]] bool connected() const override { return connected_; }
  [[nodiscard]] bool has_others() const override { return others_; }
  void tell(PluginCommand) override {}
  [[nodiscard]] std::shared_ptr<const Survey> survey() const override { return nullptr; }
  void adopt(std::shared_ptr<const Survey>) override {}
  void take_routes(std::shared_ptr<const Survey>) override {}
  void look_at(const std::vector<NodeGuid>&, Instant) override {}
  void use(std::shared_ptr<const Survey>) override {}
  void show(std::shared_ptr<const Survey>) override {}
  void hold() override {}
  void release(Instant) override {}
  void begin_anew(Instant) override {}
  void set_change_bits(authority::ChangeBits) override {}
  void on_fabric(const authority::KnownFabric& known, Instant) override {
    ++fabrics_;
    known_ = known;
  }
  void on_mastership(authority::Mastership, Instant) override {}
  void on_apart(std::size_t pairs, Instant) override { apart_.push_back(pairs); }
  [[nodiscard]] std::vector<authority::KnownLink> known_links() const override { return {}; }
  [[nodiscard]] std::vector<LinkRef> links_off() const override { return {}; }
  void on_evidence(const std::vector<regulation::OffRecord>& off, Instant) override {
    evidence_.insert(evidence_.end(), off.begin(), off.end());
  }

  test::Scratch directory_;
};

TEST_F(Beside, SaysThatThePluginIsAwayAfterTwentySeconds) {
  beside_->on_timer(now_);
  EXPECT_THAT(beside_->problems(), IsEmpty());
  ASSERT_EQ(beside_->next_deadline(), now_ + 20s);
  now_ += 20s;
  beside_->on_timer(now_);
  EXPECT_THAT(beside_->problems(), ElementsAre(says("for more than 20 s")));
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
  EXPECT_THAT(beside_->problems(), ElementsAre(says("is not the master")));
}

TEST_F(Beside, KnowsWhichLidsKeepEarlierRoutesUntilTheNextRoutingOrThePluginGoes) {
  PluginEvent routed;
  routed.kind = PluginEvent::Kind::RoutingDone;
  routed.staying = {Lid{5}, Lid{9}};
  beside_->on_plugin(routed, now_);
  EXPECT_THAT(beside_->staying(), ElementsAre(Lid{5}, Lid{9}));
  say(PluginEvent::Kind::SubnetUp, "");
  EXPECT_THAT(beside_->staying(), ElementsAre(Lid{5}, Lid{9}));
  beside_->on_plugin_gone(now_);
  EXPECT_THAT(beside_->staying(), IsEmpty());
  beside_->on_plugin(routed, now_);
  routed.staying.clear();
  beside_->on_plugin(routed, now_);
  EXPECT_THAT(beside_->staying(), IsEmpty());
  PluginEvent greeting;
  greeting.kind = PluginEvent::Kind::Hello;
  greeting.staying = {Lid{7}};
  beside_->on_plugin(greeting, now_);
  EXPECT_THAT(beside_->staying(), ElementsAre(Lid{7}));
}

TEST_F(Beside, SaysThatThePlanCannotBeWritten) {
  std::filesystem::create_directory(store_->path() + ".tmp");
  store_->update(
      PlanStore::Part::Routing, [](plan::Plan&) {}, [](const auto& epoch, Instant) { EXPECT_FALSE(epoch); });
  EXPECT_THAT(beside_->problems(), ElementsAre(says("cannot be written")));
}

// A link that is off by the plan, its port disabled, and a journal that is a fresh one.
TEST_F(Beside, KnowsFromThePlanWhatAJournalThatIsLostSaid) {
  std::shared_ptr<const Survey> survey;
  discovery::Discovery discovery{
      sim_.engine, {}, [&](const discovery::SweepReport& report) { survey = report.survey; }};
  discovery.full(sim_.now);
  ASSERT_TRUE(sim_.run([&] { return survey != nullptr; }));
  const Fabric& fabric = *survey->fabric;
  const Link& trunk = fabric.link(test::trunk_links(fabric).front());
  const LinkRef off = link_ref(fabric, trunk);
  const LinkRef on = link_ref(fabric, fabric.links().back());
  ASSERT_NE(off, on);
  store_->update(
      PlanStore::Part::Routing,
      [&](plan::Plan& plan) {
        plan.off = {off, on};
      },
      [](const auto& epoch, Instant) { ASSERT_TRUE(epoch); });
  make();
  auto disabled = std::make_shared<Survey>(*survey);
  disabled->nodes[fabric.find_node(off.b.node).raw()].ports[off.b.port.raw()].info.physical =
      PhysState::Disabled;
  beside_->on_found(disabled, now_);
  ASSERT_EQ(evidence_.size(), 1U);
  EXPECT_EQ(evidence_[0].link, off);
  EXPECT_EQ(evidence_[0].port, off.b);
  EXPECT_EQ(evidence_[0].full, (power::LinkMode{trunk.width, trunk.speed}));
  beside_->on_found(disabled, now_);
  EXPECT_EQ(evidence_.size(), 1U) << "once";
}

// The order of the switches is chosen once.
class FirstSurvey : public Beside {
 protected:
  FirstSurvey() {
    managed_.bring_up();
    half_ = *managed_.survey;
    const auto sw = std::find_if(half_.nodes.begin(), half_.nodes.end(),
                                 [](const SurveyNode& node) { return node.is_switch(); });
    sw->ports[1].silent = true;
    for (const Port& port : half_.fabric->ports()) {
      if (port.lid != no_lid) managers_ = {port.lid};
    }
  }
  [[nodiscard]] bool begun() { return fabrics_ > 0; }

  vlarb::ManagedWorld managed_{"tree:k=2,n=2"};
  Survey half_;
  std::vector<Lid> managers_;
};

TEST_F(FirstSurvey, IsTheFirstThatIsWhole) {
  connected_ = true;
  say(PluginEvent::Kind::Hello, "master");
  beside_->surveyed(half_, managers_, now_);
  EXPECT_FALSE(begun());
  beside_->surveyed(*managed_.survey, managers_, now_ + 1s);
  EXPECT_TRUE(begun());
}

TEST_F(FirstSurvey, IsTakenAsItIsAfterTwentySeconds) {
  connected_ = true;
  say(PluginEvent::Kind::Hello, "master");
  beside_->surveyed(half_, managers_, now_);
  EXPECT_FALSE(begun());
  ASSERT_EQ(beside_->next_deadline(), now_ + 20s);
  now_ += 20s;
  beside_->on_timer(now_);
  EXPECT_TRUE(begun());
}

// The plugin makes its mends without a cable that keeps hosts apart on what is left of a ring; the governor
// is to know as much.
class CutRing : public Beside {
 protected:
  CutRing() { managed_.bring_up(); }
  void routed(std::size_t unconnected) {
    PluginEvent event;
    event.kind = PluginEvent::Kind::RoutingDone;
    event.unconnected = unconnected;
    beside_->on_plugin(event, now_);
  }
  void surveyed() {
    for (const Port& port : managed_.survey->fabric->ports()) {
      if (port.lid != no_lid) return beside_->surveyed(*managed_.survey, {port.lid}, now_);
    }
  }

  vlarb::ManagedWorld managed_{"torus:4,hosts=2"};
};

TEST_F(CutRing, IsKnownWithoutACableThatThePluginLeft) {
  connected_ = true;
  say(PluginEvent::Kind::Hello, "master");
  routed(0);
  surveyed();
  const Fabric& truth = managed_.sim.fabric.description();
  std::size_t left = 0;
  for (const LinkIndex cable : test::trunk_links(truth)) {
    const auto has_cable = [&](const Fabric& fabric) {
      const PortIndex port = fabric.find_port(link_ref(truth, truth.link(cable)).a);
      return port != no_port && fabric.port(port).link != no_link;
    };
    managed_.sim.fabric.cut(cable, managed_.sim.ps());
    managed_.sweep_until([&](const Survey& survey) { return !has_cable(*survey.fabric); });
    routed(2);
    surveyed();
    EXPECT_TRUE(known_.left.empty());
    EXPECT_TRUE(has_cable(*known_.reference));
    routed(0);
    left += known_.left.size();
    EXPECT_EQ(has_cable(*known_.reference), known_.left.empty());
    managed_.sim.fabric.mend(cable, managed_.sim.ps());
    managed_.sweep_until([&](const Survey& survey) { return has_cable(*survey.fabric); });
    surveyed();
    EXPECT_TRUE(known_.left.empty());
    EXPECT_TRUE(has_cable(*known_.reference));
  }
  EXPECT_GT(left, 0U);
}

TEST_F(CutRing, ThoseWhomThePluginKeepsApartAreToldOfOnce) {
  connected_ = true;
  say(PluginEvent::Kind::Hello, "master");
  routed(3);
  EXPECT_THAT(apart_, IsEmpty()) << "before the first fabric";
  surveyed();
  EXPECT_THAT(apart_, ElementsAre(3U));
  routed(3);
  routed(0);
  routed(1);
  beside_->on_plugin_gone(now_);
  EXPECT_THAT(apart_, ElementsAre(3U, 0U, 1U, 0U));
}

}  // namespace
}  // namespace heddle::opensm
