// What operators take out of service; the whole story is in tests/scenario/drain_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/rebuilt.h"
#include "unit/regulation/governor_world.h"

namespace heddle::regulation {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;
using testing_support::World;

class GovernorDrain : public testing::Test {
 protected:
  [[nodiscard]] LinkRef link(std::size_t n) const {
    return world.ref(world.network->trunks()[n].links.front());
  }
  void drain(const std::string& what, std::vector<LinkRef> links, Force force = Force::No,
             std::optional<Instant> until = std::nullopt) {
    world.tell(SetDrain{{what, std::move(links), {}, "a fan", "ann", {}, until}, force, CommandId{1}});
  }
  [[nodiscard]] const Answer& answer() const { return world.answers.back(); }
  [[nodiscard]] bool is_off(const LinkRef& ref) const { return world.journal.off.contains(ref); }

  World world{"torus:3x3,hosts=1,links=2"};
};

TEST_F(GovernorDrain, TakesItsLinksTogetherAndSaysHowFarItIs) {
  world.start();
  world.shift_traffic(1, 0.5);
  world.run(seconds{30});
  world.hold = true;
  drain("two", {link(0), link(3)});
  EXPECT_FALSE(answer().refusal);
  ASSERT_EQ(world.governor.drains().size(), 1U);
  EXPECT_EQ(world.governor.drains().front().open, 2U);
  EXPECT_EQ(world.governor.drains().front().closed, 0U);
  world.hold = false;
  world.answer_all();
  world.run(minutes{1});
  EXPECT_TRUE(is_off(link(0)) && is_off(link(3)));
  EXPECT_EQ(world.governor.drains().front().open, 0U);
  EXPECT_EQ(world.governor.drains().front().closed, 2U);
  EXPECT_TRUE(world.governor.is_drained(link(0)));
  world.expect_settled();
}

TEST_F(GovernorDrain, WishesForItsLinksWaitForItsEnd) {
  world.start();
  drain("one", {link(0)});
  world.run(minutes{1});
  for (const Wish wish : {Wish::On, Wish::Pin, Wish::Auto}) {
    world.tell(SetOverride{link(0), {wish, "", "bob", {}}, Force::No, CommandId{2}});
    ASSERT_TRUE(answer().refusal);
    EXPECT_THAT(answer().refusal->message, HasSubstr("heddle drain --end \"one\""));
  }
  world.tell(EndDrain{"two", "bob", CommandId{3}});
  EXPECT_TRUE(answer().refusal);
  world.tell(EndDrain{"one", "bob", CommandId{4}});
  EXPECT_FALSE(answer().refusal);
  world.run(minutes{1});
  EXPECT_FALSE(is_off(link(0)));
  EXPECT_TRUE(world.journal.drains.empty());
  world.expect_settled();
}

TEST_F(GovernorDrain, AWishForOffThatIsOlderStaysWhenItEnds) {
  world.start();
  world.tell(SetOverride{link(0), {Wish::Off, "cable", "bob", {}}, Force::No, CommandId{1}});
  drain("one", {link(0), link(3)});
  world.run(minutes{1});
  world.tell(EndDrain{"one", "bob", CommandId{2}});
  world.run(minutes{1});
  EXPECT_TRUE(is_off(link(0)));
  EXPECT_FALSE(is_off(link(3)));
}

TEST_F(GovernorDrain, OneOfTwoThatShareALinkHoldsIt) {
  world.start();
  drain("one", {link(0), link(3)});
  drain("two", {link(0)});
  world.run(minutes{1});
  world.tell(EndDrain{"one", "bob", CommandId{2}});
  world.run(minutes{1});
  EXPECT_TRUE(is_off(link(0)));
  EXPECT_FALSE(is_off(link(3)));
}

TEST_F(GovernorDrain, AnotherTimeTakesThePlaceOfTheOld) {
  world.start();
  drain("one", {link(0)}, Force::No, world.now + minutes{2});
  world.run(minutes{1});
  drain("one", {link(0)}, Force::No, world.now + minutes{5});
  world.run(minutes{3});
  EXPECT_TRUE(is_off(link(0)));
  EXPECT_EQ(world.governor.drains().front().drain.since, Instant{});
  world.run(minutes{3});
  EXPECT_FALSE(is_off(link(0)));
  EXPECT_TRUE(world.governor.drains().empty());
}

TEST_F(GovernorDrain, RestoreEndsIt) {
  world.start();
  drain("one", {link(0)});
  world.run(minutes{1});
  world.tell(Restore{"bob", CommandId{2}});
  world.run(minutes{1});
  EXPECT_TRUE(world.journal.drains.empty());
  world.expect_settled();
  EXPECT_EQ(world.off(), 0U);
}

TEST_F(GovernorDrain, IsHeldAfterARestart) {
  world.start();
  drain("one", {link(0)}, Force::No, world.now + minutes{10});
  world.run(minutes{1});
  world.restart();
  world.run(minutes{2});
  EXPECT_TRUE(is_off(link(0)));
  ASSERT_EQ(world.governor.drains().size(), 1U);
  EXPECT_EQ(world.governor.drains().front().drain.by, "ann");
  world.run(minutes{10});
  EXPECT_FALSE(is_off(link(0)));
  world.expect_settled();
}

/// A leaf and a spine, drained and replaced by a switch with another GUID.
class Replaced : public testing::Test {
 protected:
  static constexpr NodeGuid fresh{0x123};

  [[nodiscard]] static NodeGuid spine(const Fabric& fabric) {
    for (const Node& node : fabric.nodes()) {
      if (node.description == "spine-1") return node.guid;
    }
    return {};
  }
  [[nodiscard]] static std::vector<LinkRef> links_of(const Fabric& fabric, NodeGuid node) {
    std::vector<LinkRef> links;
    for (const Link& link : fabric.links()) {
      const LinkRef ref = link_ref(fabric, link);
      if (ref.a.node == node || ref.b.node == node) links.push_back(ref);
    }
    return links;
  }
  std::vector<Record> tell(decltype(Event::what) what) {
    std::vector<Record> records;
    for (const Action& action : governor.on({now, std::move(what)})) {
      if (const auto* record = std::get_if<Record>(&action)) records.push_back(*record);
    }
    return records;
  }

  std::shared_ptr<const Fabric> before = *assign_lids(**generate("xgft:2;2,3;1,3"), 0);
  std::shared_ptr<const Fabric> after = test::rebuilt(*before, [this](Node& node) {
    if (node.guid == spine(*before)) node.guid = fresh;
  });
  Governor governor{[] {
    GovernorOptions options;
    options.movement = Movement::Staged;
    options.planes = 1;
    return options;
  }()};
  Instant now{};
};

TEST_F(Replaced, WhatWasOffIsForgottenWhenItsPortHasAnotherCable) {
  Memory memory;
  for (const LinkRef& link : links_of(*before, spine(*before))) {
    const PortRef near = link.a.node == spine(*before) ? link.b : link.a;
    memory.off[link] = {link, near, {}, power::off_mode, Cause::Operator, now, "drain of spine-1"};
  }
  ASSERT_EQ(memory.off.size(), 3U);
  tell(TopologyChanged{after, {}});
  tell(Restarted{memory, {}});
  EXPECT_TRUE(governor.memory().off.empty());
}

TEST_F(Replaced, ASwitchIsNotMissedAnyMoreWhenItsCablesLeadElsewhere) {
  tell(TopologyChanged{before, {}});
  tell(Restarted{});
  tell(SwitchesLost{{spine(*before)}});
  EXPECT_EQ(governor.lost_switches().size(), 1U);
  tell(TopologyChanged{after, {}});
  EXPECT_TRUE(governor.lost_switches().empty());
}

}  // namespace
}  // namespace heddle::regulation
