// What operators ask for.

#include "mad/header.h"
#include "provision/port_settings.h"
#include "story.h"

namespace heddle::test {
namespace {

class Operators : public Story {
 protected:
  [[nodiscard]] LinkRef ref(LinkIndex link) const {
    const Fabric& truth = world_->fabric.description();
    return link_ref(truth, truth.link(link));
  }
  [[nodiscard]] LinkIndex trunk_link(std::size_t nth) const {
    const Fabric& truth = world_->fabric.description();
    for (std::uint32_t i = 0; i < truth.links().size(); ++i) {
      const Link& link = truth.link(LinkIndex{i});
      const auto is_switch = [&](LinkEnd end) { return truth.node(end.node).type == NodeType::Switch; };
      if (is_switch(link.a) && is_switch(link.b) && nth-- == 0) return LinkIndex{i};
    }
    return no_link;
  }
  Result<std::string> ask(LinkIndex link, regulation::Wish wish, const std::string& by,
                          std::optional<FabricClock::duration> length = std::nullopt,
                          regulation::Force force = regulation::Force::No) {
    Result<std::string> answer = fail(ErrorCode::Io, "no answer");
    regulation::Override value{wish, "a test", by, std::nullopt};
    if (length) value.until = world_->now + *length;
    world_->daemon->regulator().set_override(ref(link), value, force, world_->now,
                                             [&](const Result<std::string>& given) { answer = given; });
    return answer;
  }
  [[nodiscard]] bool is_off(LinkIndex link) const {
    const auto off = world_->links_off();
    return std::count(off.begin(), off.end(), link) == 1;
  }
};

TEST_F(Operators, TwoWhoWantDifferentThings) {
  RegulatedWorld& world = begin();
  traffic(0.3);
  const LinkIndex link = trunk_link(0);
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

TEST_F(Operators, AWishWithATimeEndsByItself) {
  RegulatedWorld& world = begin();
  traffic(0.5, 2);  // nothing that regulation would take
  const LinkIndex link = trunk_link(1);
  ASSERT_TRUE(ask(link, regulation::Wish::Off, "alice", 20s));
  ASSERT_TRUE(world.run([&] { return is_off(link); }, 15s)) << events();
  ASSERT_TRUE(world.run([&] { return !is_off(link); }, 30s)) << events();
  ASSERT_TRUE(world.run([&] { return world.daemon->quiet(); }, 30s));
  EXPECT_TRUE(world.daemon->regulator().governor().memory().overrides.empty());
  expect_well();
}

TEST_F(Operators, OnlyForceCutsHostsOffAndTheyAreNamedBefore) {
  WorldOptions options;
  options.governor = quick();
  RegulatedWorld& world = begin("xgft:2;2,2;1,1", options);  // a tree without any spare link
  const LinkIndex link = trunk_link(1);
  const auto refused = ask(link, regulation::Wish::Off, "alice");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Refused);
  world.run_for(20s);
  EXPECT_FALSE(is_off(link));
  EXPECT_THAT(world.watch.violations(), ::testing::IsEmpty());
}

TEST_F(Operators, WhatAnOperatorDisabledByOtherMeansStaysDisabled) {
  RegulatedWorld& world = begin();
  traffic(0.3);
  const LinkIndex link = trunk_link(0);
  const Fabric& truth = world.fabric.description();
  const PortIndex port = truth.port_index(truth.link(link).a);
  // As ibportstate does.
  mad::Bytes smp{};
  mad::write_header({.mgmt_class = mad::MgmtClass::SubnLid,
                     .method = mad::Method::Set,
                     .attribute = static_cast<std::uint16_t>(mad::SmAttr::PortInfo),
                     .modifier = truth.port(port).num.raw()},
                    smp);
  mad::PortInfo set = provision::unchanged(world.fabric.port_info(port));
  set.physical = PhysState::Disabled;
  mad::encode(set, mad::smp_data(smp));
  ASSERT_TRUE(world.fabric.ask(truth.node(truth.port(port).node).first_port, smp, world.ps()));
  world.run_for(60s);
  EXPECT_TRUE(is_off(link));
  world.kill();
  world.start();
  world.run_for(60s);
  EXPECT_TRUE(is_off(link));
}

TEST_F(Operators, RestoreBringsEverythingBackAndOnlyAdvisesFromThereOn) {
  RegulatedWorld& world = begin();
  traffic(0.05);
  ASSERT_TRUE(comes_to(4));
  ASSERT_TRUE(ask(trunk_link(0), regulation::Wish::Pin, "alice"));
  world.run_for(20s);
  bool answered = false;
  world.daemon->regulator().restore(
      "alice", world.now, [&](const Result<std::string>& answer) { answered = answer.has_value(); });
  EXPECT_TRUE(answered);
  ASSERT_TRUE(comes_to(0)) << events();
  expect_well();
  world.run_for(60s);
  EXPECT_TRUE(world.links_off().empty());
  EXPECT_EQ(world.daemon->regulator().governor().mode(), regulation::Mode::Advise);
}

TEST_F(Operators, StoppingBringsBackWhatRegulationTurnedOff) {
  RegulatedWorld& world = begin();
  traffic(0.05);
  ASSERT_TRUE(comes_to(4));
  world.daemon->regulator().stop(world.now);
  ASSERT_TRUE(comes_to(0)) << events();
  expect_well();
}

}  // namespace
}  // namespace heddle::test
