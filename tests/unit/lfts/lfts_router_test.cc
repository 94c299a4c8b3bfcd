#include "authority/lfts/lfts_router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "discovery/discovery.h"
#include "mad/header.h"
#include "routing/lft_dump.h"
#include "sim/bring_up.h"
#include "support/desks.h"
#include "support/foreign_set.h"
#include "support/scratch.h"
#include "support/sim_world.h"
#include "support/trunks.h"

namespace heddle::lfts {
namespace {

using namespace std::chrono_literals;
using opensm::PluginEvent;
using testing::HasSubstr;
using testing::IsEmpty;
using Kind = PluginEvent::Kind;

/// OpenSM on the first host: it answers SMInfo there, and writes what the file says into the switches.
class Router : public testing::Test {
 protected:
  void SetUp() override {
    sim::bring_up(sim_.fabric);
    ASSERT_TRUE(sim_.claim_sm(transport::SmClaim::Hold));
    sim_.receive_with([this](const mad::Packet& packet, Instant at) {
      if (is_question(packet)) {
        if (answers_) answer(packet);
      } else {
        sim_.engine.on_packet(packet, at);
      }
    });
    LftsOptions options;
    options.put = [this](const std::string& text) {
      files_.push_back(text);
      if (obeys_) write(text);
      return Result<void>{};
    };
    options.is_there = [this] { return there_; };
    LftsRouter::Listener listener{[this](const PluginEvent& event, Instant) { events_.push_back(event); },
                                  [this](Instant) { ++gone_; }};
    router_.emplace(sim_.engine, sim_, store_, test::at_once([this] { return sim_.now; }), std::move(options),
                    std::move(listener));
    sim_.next_deadline = [this] { return router_->next_deadline(); };
    sim_.on_timer = [this](Instant now) { router_->on_timer(now); };
  }

  [[nodiscard]] std::shared_ptr<const Survey> survey() {
    std::shared_ptr<const Survey> found;
    discovery::Discovery discovery{
        sim_.engine, {}, [&](const discovery::SweepReport& report) { found = report.survey; }};
    discovery.full(sim_.now);
    EXPECT_TRUE(sim_.run([&] { return found != nullptr; }));
    return found;
  }
  /// With what a sweep sees that has not heard all of the first switch.
  void expect_patience_with(const std::function<void(SurveyNode& sw)>& unhear) {
    auto half = std::make_shared<Survey>(*survey());
    unhear(*std::ranges::find_if(half->nodes, [](const SurveyNode& node) { return node.is_switch(); }));
    const Instant begun = sim_.now;
    router_->on_survey(half, sim_.now);
    ASSERT_TRUE(comes(Kind::Hello, 1));
    EXPECT_TRUE(sim_.run([&] { return !files_.empty(); }));
    EXPECT_GE(sim_.now - begun, LftsRouter::patience);
  }
  [[nodiscard]] std::size_t count(Kind kind) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(events_, [&](const PluginEvent& event) { return event.kind == kind; }));
  }
  bool comes(Kind kind, std::size_t number, FabricClock::duration within = 60s) {
    return sim_.run([&] { return count(kind) >= number; }, within);
  }
  /// As OpenSM does where it finds no file. The first block.
  void empty(NodeGuid guid) {
    mad::LftBlock block;
    block.ports.fill(no_path);
    set(guid, 0, block);
  }
  /// Entries of the switches that lead out of this port.
  [[nodiscard]] std::size_t entries_over(const PortRef& port) const {
    const auto table = sim_.fabric.forwarding_table(sim_.fabric.description().find_node(port.node));
    return static_cast<std::size_t>(std::ranges::count(table, port.port));
  }

  test::SimWorld sim_{"tree:k=2,n=2"};
  test::Scratch directory_;
  opensm::PlanStore store_{directory_ / "plan.json", test::at_once()};
  std::optional<LftsRouter> router_;
  std::vector<std::string> files_;
  std::vector<PluginEvent> events_;
  unsigned gone_ = 0;
  bool answers_ = true;
  bool obeys_ = true;
  bool there_ = true;  ///< the file

 private:
  void set(NodeGuid guid, std::uint32_t number, const mad::LftBlock& block) {
    static_cast<void>(test::set_at(sim_.fabric, sim_.fabric.description().find_node(guid),
                                   mad::SmAttr::LinearForwardingTable, number, block, sim_.ps()));
  }
  static bool is_question(const mad::Packet& packet) {
    const mad::Header header = mad::read_header(packet.mad);
    return header.method == mad::Method::Get &&
           header.attribute == static_cast<std::uint16_t>(mad::SmAttr::SmInfo);
  }
  void answer(mad::Packet packet) {
    mad::Header header = mad::read_header(packet.mad);
    header.method = mad::Method::GetResp;
    mad::write_header(header, packet.mad);
    mad::SmInfo info;
    info.state = mad::SmInfo::State::Master;
    mad::encode(info, mad::smp_data(packet.mad));
    std::swap(packet.address.dlid, packet.address.slid);
    sim_.fabric.send(sim_.ps(), sim_.client(), packet);
  }
  void write(const std::string& text) {
    const auto dump = routing::parse_lft_dump(text, "opensm.lfts");
    ASSERT_TRUE(dump) << dump.error().message;
    for (const auto& each : dump->switches) {
      std::vector<mad::LftBlock> blocks(1);
      for (auto& block : blocks) block.ports.fill(no_path);
      for (const auto& entry : each.entries) {
        blocks.resize(std::max<std::size_t>(blocks.size(), entry.lid.raw() / 64 + 1U));
        blocks[entry.lid.raw() / 64].ports[entry.lid.raw() % 64] = entry.port;
      }
      for (std::uint32_t b = 0; b < blocks.size(); ++b) set(each.guid, b, blocks[b]);
    }
  }
};

TEST_F(Router, SaysThatOpenSmIsHereAndThatTheSwitchesHaveItsTables) {
  router_->on_survey(survey(), sim_.now);
  EXPECT_FALSE(router_->connected());
  ASSERT_TRUE(comes(Kind::RoutingDone, 1));
  EXPECT_TRUE(router_->connected());
  EXPECT_EQ(events_.front().kind, Kind::Hello);
  EXPECT_EQ(events_.front().state, "master");
  EXPECT_EQ(events_.back().unconnected, 0U);
  EXPECT_FALSE(files_.empty());
  EXPECT_THAT(router_->trouble(), IsEmpty());
}

TEST_F(Router, LeadsOverNoLinkThatThePlanHasOff) {
  const auto found = survey();
  router_->on_survey(found, sim_.now);
  ASSERT_TRUE(comes(Kind::RoutingDone, 1));
  const Fabric& fabric = *found->fabric;
  const LinkRef off = link_ref(fabric, fabric.link(test::trunk_links(fabric).front()));
  ASSERT_GT(entries_over(off.a) + entries_over(off.b), 0U);
  // By force: it is a spine's only way to the manager.
  store_.update(
      opensm::PlanStore::Part::Routing, [&](plan::Plan& plan) { plan.off = plan.forced = {off}; },
      [](const auto&, Instant) {});
  router_->tell(opensm::PluginCommand::NewPlan);
  ASSERT_TRUE(comes(Kind::RoutingDone, 2));
  EXPECT_EQ(events_.back().epoch, store_.plan().epoch);
  EXPECT_EQ(entries_over(off.a) + entries_over(off.b), 0U);
}

// As with the plugin (random run 2300822): whoever made the plan may have turned it off since the survey.
TEST_F(Router, UsesNoLinkInNeedThatAConfirmedPlanHasOff) {
  const auto found = survey();
  router_->on_survey(found, sim_.now);
  ASSERT_TRUE(comes(Kind::RoutingDone, 1));
  const Fabric& fabric = *found->fabric;
  std::vector<LinkRef> of_leaf;
  for (const LinkIndex index : test::trunk_links(fabric)) {
    const Link& link = fabric.link(index);
    const bool ends_there =
        fabric.node(link.a.node).description == "leaf-1" || fabric.node(link.b.node).description == "leaf-1";
    if (ends_there) of_leaf.push_back(link_ref(fabric, link));
  }
  ASSERT_EQ(of_leaf.size(), 2U);
  const LinkRef off = of_leaf.front();
  const auto order = [&](const std::vector<LinkRef>& avoid) {
    store_.update(
        opensm::PlanStore::Part::Routing,
        [&](plan::Plan& plan) {
          plan.off = {off};
          plan.planes.resize(1);
          plan.planes[0].avoid = avoid;
        },
        [](const auto&, Instant) {});
    router_->tell(opensm::PluginCommand::NewPlan);
  };
  order({});
  ASSERT_TRUE(comes(Kind::RoutingDone, 2));
  ASSERT_FALSE(events_.back().relaxed);
  order({of_leaf.back()});
  ASSERT_TRUE(comes(Kind::RoutingDone, 3));
  EXPECT_TRUE(events_.back().relaxed);
  EXPECT_EQ(events_.back().unconnected, 0U);
  EXPECT_EQ(entries_over(off.a) + entries_over(off.b), 0U);
}

// OpenSM does not take a file without tables, and a sweep that the next switch does not answer sees none.
TEST_F(Router, LeavesTheFileAsItIsWhileNoSwitchIsInSight) {
  const auto whole = survey();
  router_->on_survey(whole, sim_.now);
  ASSERT_TRUE(comes(Kind::RoutingDone, 1));
  const std::size_t files = files_.size();
  const Fabric& truth = sim_.fabric.description();
  for (std::uint32_t i = 0; i < truth.nodes().size(); ++i) {
    if (truth.nodes()[i].type == NodeType::Switch) sim_.fabric.kill(NodeIndex{i}, sim_.ps());
  }
  const auto alone = survey();
  ASSERT_EQ(alone->fabric->switch_count(), 0U);
  router_->on_survey(alone, sim_.now);
  router_->tell(opensm::PluginCommand::NewPlan);
  sim_.run([] { return false; }, 20s);
  EXPECT_EQ(files_.size(), files);
}

// OpenSM raises the ports after it has written the tables: while it does, a sweep finds some of them Armed.
TEST_F(Router, LeavesTablesAsTheyAreWhileLinksBecomeActive) {
  const auto whole = survey();
  const auto raised_but_of = [&](NodeGuid guid, PortState state) {
    auto part = std::make_shared<Survey>(*whole);
    for (SurveyNode& node : part->nodes) {
      for (SurveyPort& port : node.ports) {
        if (guid == NodeGuid{} || node.guid() == guid) port.info.state = state;
      }
    }
    return part;
  };
  router_->on_survey(raised_but_of(NodeGuid{}, PortState::Init), sim_.now);
  ASSERT_TRUE(comes(Kind::RoutingDone, 1));
  const std::size_t before = files_.size();
  const auto leaf =
      std::ranges::find_if(whole->nodes, [](const SurveyNode& node) { return node.is_switch(); });
  router_->on_survey(raised_but_of(leaf->guid(), PortState::Armed), sim_.now);
  ASSERT_TRUE(comes(Kind::RoutingDone, 2));
  EXPECT_EQ(files_.size(), before);
}

TEST_F(Router, DoesNotTakeHalfOfAFabricForTheWhole) {
  expect_patience_with([](SurveyNode& sw) { sw.ports[1].silent = true; });
}

// The switch looks as if it had no cables, and a file of that cuts off all that is behind it.
TEST_F(Router, DoesNotTakeASwitchThatAnsweredHalfForTheWholeOfIt) {
  expect_patience_with([](SurveyNode& sw) { sw.ports[2] = {}; });
}

TEST_F(Router, TakesTheWholeAtOnceWhenItComes) {
  const auto whole = survey();
  auto half = std::make_shared<Survey>(*whole);
  half->nodes[whole->local.raw()].ports[1].info.lid = no_lid;
  std::ranges::find_if(half->nodes, [](const SurveyNode& node) { return node.is_switch(); })
      ->ports[1]
      .silent = true;
  router_->on_survey(half, sim_.now);
  const Instant begun = sim_.now;
  router_->on_survey(whole, sim_.now);
  ASSERT_TRUE(comes(Kind::RoutingDone, 1));
  EXPECT_LT(sim_.now - begun, LftsRouter::patience);
}

TEST_F(Router, SaysThatOpenSmDoesNotTakeTheFile) {
  obeys_ = false;
  router_->on_survey(survey(), sim_.now);
  ASSERT_TRUE(comes(Kind::Plan, 1));
  EXPECT_FALSE(events_.back().taken);
  EXPECT_THAT(router_->trouble(), HasSubstr("opensm.reload"));
  EXPECT_EQ(count(Kind::RoutingDone), 0U);
  obeys_ = true;
  ASSERT_TRUE(comes(Kind::RoutingDone, 1));
  EXPECT_THAT(router_->trouble(), IsEmpty());
}

// Each sweep while it is so is another reason to try: it must not try more often for that in the end.
TEST_F(Router, TriesOnceInAWhileHoweverOftenItHasFailed) {
  const auto found = survey();
  obeys_ = false;
  router_->on_survey(found, sim_.now);
  ASSERT_TRUE(comes(Kind::Plan, 1));
  for (unsigned i = 2; i < 10; ++i) {
    router_->on_survey(found, sim_.now);
    ASSERT_TRUE(comes(Kind::Plan, i));
  }
  const std::size_t before = files_.size();
  sim_.run([] { return false; }, 10 * LftsRouter::again_after);
  EXPECT_LE(files_.size() - before, 10U);
}

TEST_F(Router, SeesThatTablesHaveBeenEmptiedAndGivesThemAgain) {
  const auto found = survey();
  router_->on_survey(found, sim_.now);
  ASSERT_TRUE(comes(Kind::RoutingDone, 1));
  const auto sw = std::ranges::find_if(found->nodes, [](const SurveyNode& node) { return node.is_switch(); });
  const PortRef host{sw->guid(), PortNum{1}};
  const std::size_t before = entries_over(host);
  ASSERT_GT(before, 0U);
  empty(sw->guid());
  ASSERT_EQ(entries_over(host), 0U);
  obeys_ = false;
  ASSERT_TRUE(sim_.run([&] { return !router_->trouble().empty(); }, 2 * LftsRouter::look_every));
  EXPECT_THAT(router_->trouble(), HasSubstr("other tables than OpenSM was given"));
  obeys_ = true;
  ASSERT_TRUE(comes(Kind::RoutingDone, 2));
  EXPECT_EQ(entries_over(host), before);
  EXPECT_THAT(router_->trouble(), IsEmpty());
}

TEST_F(Router, WritesAFileThatWasTakenAwayBeforeOpenSmMissesIt) {
  router_->on_survey(survey(), sim_.now);
  ASSERT_TRUE(comes(Kind::RoutingDone, 1));
  const std::size_t before = files_.size();
  there_ = false;
  ASSERT_TRUE(sim_.run([&] { return files_.size() > before; }, 2 * LftsRouter::look_every));
  EXPECT_EQ(files_.back(), files_[before - 1]);
}

TEST_F(Router, SaysThatOpenSmHasGone) {
  router_->on_survey(survey(), sim_.now);
  ASSERT_TRUE(comes(Kind::RoutingDone, 1));
  answers_ = false;
  ASSERT_TRUE(sim_.run([&] { return gone_ == 1; }));
  EXPECT_FALSE(router_->connected());
  answers_ = true;
  ASSERT_TRUE(comes(Kind::Hello, 2));
}

}  // namespace
}  // namespace heddle::lfts
