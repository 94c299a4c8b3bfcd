// What operators ask for.

#include "mad/port_set.h"
#include "story.h"
#include "support/foreign_set.h"

namespace heddle::test {
namespace {

class Operators : public AnyStory {
 protected:
  static WorldOptions leaving() {
    WorldOptions options = usual();
    options.on_stop = regulation::Stopping::Links::Stay;
    return options;
  }
  [[nodiscard]] LinkRef ref(LinkIndex link) const {
    const Fabric& truth = world_->fabric.description();
    return link_ref(truth, truth.link(link));
  }
  Result<std::string> ask(LinkIndex link, regulation::Wish wish, const std::string& by,
                          std::optional<FabricClock::duration> length = std::nullopt,
                          regulation::Force force = regulation::Force::No) {
    Result<std::string> answer = fail(ErrorCode::Io, "no answer");
    regulation::Override value{wish, "a test", by, std::nullopt};
    if (length) value.until = world_->now + *length;
    world_->daemon->order([&](regulate::Regulator& regulator) {
      regulator.set_override(ref(link), value, force, world_->now,
                             [&](const Result<std::string>& given) { answer = given; });
    });
    return answer;
  }
  [[nodiscard]] bool is_off(LinkIndex link) const {
    const auto off = world_->links_off();
    return std::count(off.begin(), off.end(), link) == 1;
  }
};

TEST_P(Operators, TwoWhoWantDifferentThings) {
  RegulatedWorld& world = begin();
  traffic(0.3);
  const LinkIndex link = trunk_links()[0];
  ASSERT_TRUE(ask(link, regulation::Wish::Off, "alice"));
  // Before that has come about, another one wants it on: the last word counts.
  world.run_for(100ms);
  ASSERT_TRUE(ask(link, regulation::Wish::Pin, "bob"));
  world.run_for(30s);
  EXPECT_FALSE(is_off(link)) << events();
  EXPECT_THAT(events(), ::testing::AllOf(::testing::HasSubstr("alice"), ::testing::HasSubstr("bob")));
  expect_well();

  ASSERT_TRUE(ask(link, regulation::Wish::Off, "alice"));
  ASSERT_TRUE(world.run([&] { return is_off(link); }, 30s)) << events();
  ASSERT_TRUE(ask(link, regulation::Wish::On, "bob"));
  ASSERT_TRUE(world.run([&] { return !is_off(link) && world.daemon->quiet(); }, 30s)) << events();
  expect_well();
}

TEST_P(Operators, AWishWithATimeEndsByItself) {
  RegulatedWorld& world = begin();
  traffic(0.5, 2);  // nothing that regulation would take
  const LinkIndex link = trunk_links()[1];
  ASSERT_TRUE(ask(link, regulation::Wish::Off, "alice", 20s));
  ASSERT_TRUE(world.run([&] { return is_off(link); }, 15s)) << events();
  ASSERT_TRUE(world.run([&] { return !is_off(link); }, 30s)) << events();
  ASSERT_TRUE(world.run([&] { return world.daemon->quiet(); }, 30s));
  EXPECT_TRUE(world.daemon->regulator().governor().memory().overrides.empty());
  expect_well();
}

TEST_P(Operators, OnlyForceCutsHostsOffAndTheyAreNamedBefore) {
  WorldOptions options;
  options.governor = quick();
  RegulatedWorld& world = begin("xgft:2;2,2;1,1", options);  // a tree without any spare link
  const LinkIndex link = trunk_links()[1];
  const auto refused = ask(link, regulation::Wish::Off, "alice");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Refused);
  const Fabric& truth = world.fabric.description();
  for (const std::size_t host : {2, 3}) {
    EXPECT_THAT(refused.error().message,
                ::testing::HasSubstr(truth.node(truth.port(hosts_[host]).node).description));
  }
  world.run_for(20s);
  EXPECT_FALSE(is_off(link));
  EXPECT_THAT(world.watch.violations(), ::testing::IsEmpty());
}

TEST_P(Operators, WhatTheConfigurationPinsStaysOn) {
  WorldOptions options;
  options.governor = quick();
  options.sim.training_delay = std::chrono::milliseconds{500};
  options.pins = {"sw-0-0", "nowhere-*"};
  RegulatedWorld& world = begin(ring, options);
  traffic(0.05);
  ASSERT_TRUE(comes_to(2)) << events();  // of the two trunks that do not end at sw-0-0
  world.run_for(60s);
  const Fabric& truth = world.fabric.description();
  ASSERT_EQ(world.links_off().size(), 2U);
  for (const LinkIndex link : world.links_off()) {
    EXPECT_NE(truth.node(truth.link(link).a.node).description, "sw-0-0");
    EXPECT_NE(truth.node(truth.link(link).b.node).description, "sw-0-0");
  }
  EXPECT_THAT(world.daemon->regulator().problems(), ::testing::ElementsAre(says("nowhere-*")));
  expect_well();
}

class Forced : public Operators {
 protected:
  static constexpr std::string_view tree = "xgft:2;2,2;1,1";  // two leaves of two hosts below one switch

  /// The other leaf is cut off, hosts and all.
  void cut_off() {
    WorldOptions options;
    options.governor = quick();
    options.sim.training_delay = std::chrono::milliseconds{500};
    RegulatedWorld& world = begin(tree, options);
    link_ = trunk_links()[1];
    world.watch.fault();  // hosts without a way are what is asked for
    const auto answer =
        ask(link_, regulation::Wish::Off, "alice", std::nullopt, regulation::Force::CutHostsOff);
    ASSERT_TRUE(answer) << answer.error().message;
    for (const std::size_t host : {2, 3}) {
      EXPECT_THAT(*answer, ::testing::HasSubstr(host_name(host)));
      EXPECT_THAT(events(), ::testing::HasSubstr(host_name(host)));
    }
    EXPECT_THAT(*answer, ::testing::Not(::testing::HasSubstr(host_name(0))));
    ASSERT_TRUE(world.run([&] { return is_off(link_) && world.daemon->quiet(); }, 1min)) << events();
    world.run_for(60s);
    EXPECT_TRUE(is_off(link_)) << events();
  }
  [[nodiscard]] std::string host_name(std::size_t host) const {
    const Fabric& truth = world_->fabric.description();
    return truth.node(truth.port(hosts_[host]).node).description;
  }
  void restore() {
    world_->daemon->order([&](regulate::Regulator& regulator) {
      regulator.restore("alice", regulate::Regulator::Adopt::No, world_->now,
                        [](const Result<std::string>&) {});
    });
  }
  void expect_everything_back() {
    ASSERT_TRUE(world_->run([&] { return !is_off(link_) && world_->daemon->quiet(); }, 2min)) << events();
    world_->run_for(30s);
    ASSERT_TRUE(world_->run([&] { return world_->daemon->quiet(); }, 1min));
    world_->watch.settled();
    traffic(0.5, 2);
    EXPECT_GE(figures().delivered, figures().wanted * 0.99) << events();
    expect_well();
    EXPECT_TRUE(world_->daemon->on_disk().off.empty());
    EXPECT_TRUE(world_->daemon->on_disk().overrides.empty());
  }
  LinkIndex link_ = no_link;
};

TEST_P(Forced, CutsHostsOffNamesThemAndRestoreBringsThemBack) {
  cut_off();
  restore();
  expect_everything_back();
}

TEST_P(Forced, AnotherWishBringsThemBack) {
  cut_off();
  ASSERT_TRUE(ask(link_, regulation::Wish::Auto, "bob"));
  expect_everything_back();
}

TEST_P(Forced, SurvivesARestartThatSeesNothingBehindTheLink) {
  for (const bool by_restore : {true, false}) {
    cut_off();
    world_->kill();
    world_->run_for(5s);
    world_->start();
    ASSERT_TRUE(world_->run([&] { return world_->daemon->quiet(); }, 1min));
    world_->run_for(60s);
    EXPECT_TRUE(is_off(link_)) << events();
    EXPECT_THAT(world_->daemon->regulator().problems(), ::testing::Contains(says("heddle link auto")));
    if (by_restore) {
      restore();
    } else {
      ASSERT_TRUE(ask(link_, regulation::Wish::Auto, "bob"));
    }
    expect_everything_back();
    EXPECT_TRUE(world_->daemon->regulator().problems().empty());
  }
}

TEST_P(Operators, WhatAnOperatorDisabledByOtherMeansStaysDisabled) {
  RegulatedWorld& world = begin();
  traffic(0.3);
  const LinkIndex link = trunk_links()[0];
  const Fabric& truth = world.fabric.description();
  const PortIndex port = truth.port_index(truth.link(link).a);
  // As ibportstate does.
  mad::PortInfo set = mad::unchanged(world.fabric.port_info(port), 0);
  set.physical = PhysState::Disabled;
  const Port& at = truth.port(port);
  ASSERT_TRUE(set_at(world.fabric, at.node, mad::SmAttr::PortInfo, at.num.raw(), set, world.ps()));
  world.run_for(60s);
  EXPECT_TRUE(is_off(link));
  world.kill();
  world.start();
  world.run_for(60s);
  EXPECT_TRUE(is_off(link));
}

TEST_P(Operators, RestoreBringsEverythingBackAndOnlyAdvisesFromThereOn) {
  RegulatedWorld& world = begin();
  traffic(0.05);
  ASSERT_TRUE(comes_to(4));
  ASSERT_TRUE(ask(trunk_links()[0], regulation::Wish::Pin, "alice"));
  world.run_for(20s);
  bool answered = false;
  world.daemon->order([&](regulate::Regulator& regulator) {
    regulator.restore("alice", regulate::Regulator::Adopt::No, world.now,
                      [&](const Result<std::string>& answer) { answered = answer.has_value(); });
  });
  EXPECT_TRUE(answered);
  ASSERT_TRUE(comes_to(0)) << events();
  expect_well();
  world.run_for(60s);
  EXPECT_TRUE(world.links_off().empty());
  EXPECT_EQ(world.daemon->regulator().governor().mode(), regulation::Mode::Advise);
}

// A change that has begun is finished or undone, and no other begins.
TEST_P(Operators, StoppingThatLeavesLinksOffEndsWhatIsUnderWay) {
  using regulation::Stage;
  for (const Stage when :
       {Stage::Writing, Stage::Migrating, Stage::Rewriting, Stage::Draining, Stage::Closing}) {
    RegulatedWorld& world = begin(ring, leaving());
    traffic(0.05);
    ASSERT_TRUE(world.run([&] { return world.daemon->regulator().governor().stage() == when; }, 1min));
    world.daemon->stop(core::Changes::End);
    EXPECT_FALSE(world.daemon->rests);
    ASSERT_TRUE(world.run([&] { return world.daemon->rests; }, 1min)) << to_string(when);
    EXPECT_TRUE(world.daemon->regulator().at_rest());
    EXPECT_TRUE(world.daemon->on_disk().open.empty()) << events();
    const std::size_t off = world.links_off().size();
    EXPECT_EQ(world.daemon->on_disk().off.size(), off) << events();
    world.run_for(60s);
    EXPECT_EQ(world.links_off().size(), off) << to_string(when) << "\n" << events();
    expect_well();
  }
}

TEST_P(Operators, StoppingBringsBackWhatRegulationTurnedOff) {
  RegulatedWorld& world = begin();
  traffic(0.05);
  ASSERT_TRUE(comes_to(4));
  world.daemon->stop(core::Changes::GoOn);
  EXPECT_FALSE(world.daemon->rests);
  ASSERT_TRUE(world.run([&] { return world.daemon->rests; }, 1min)) << events();
  EXPECT_TRUE(world.links_off().empty()) << events();
  expect_well();
}

// Whoever is started next takes the change up; what was counted since the last minute is not lost.
TEST_P(Operators, StoppingThatLeavesLinksOffWaitsForNothingWhereSomebodyGoesOn) {
  RegulatedWorld& world = begin(ring, leaving());
  traffic(0.05);
  ASSERT_TRUE(world.run(
      [&] { return world.daemon->regulator().governor().stage() == regulation::Stage::Draining; }, 1min));
  EXPECT_EQ(world.daemon->energy_on_disk().spent, Joules{}) << "it is written once a minute";
  world.daemon->stop(core::Changes::GoOn);
  EXPECT_TRUE(world.daemon->rests);
  EXPECT_FALSE(world.daemon->regulator().at_rest());
  EXPECT_GT(world.daemon->energy_on_disk().spent, Joules{});
}

INSTANTIATE_TEST_SUITE_P(WrittenBy, Operators, anybody, name_of);
INSTANTIATE_TEST_SUITE_P(WrittenBy, Forced, anybody, name_of);

}  // namespace
}  // namespace heddle::test
