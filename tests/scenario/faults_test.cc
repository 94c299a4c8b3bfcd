// What fails while links go and come.

#include "mad/header.h"
#include "story.h"
#include "support/other_sm.h"

namespace heddle::test {
namespace {

using regulation::Stage;

constexpr Stage stages[] = {Stage::Writing, Stage::Migrating, Stage::Rewriting, Stage::Draining,
                            Stage::Closing};

class Faults : public Story {
 protected:
  [[nodiscard]] Stage stage() const { return world_->daemon->regulator().governor().stage(); }
  /// Quiet enough for links to go, until the governor is in this stage.
  bool reach(Stage wanted) {
    traffic(0.05);
    return world_->run([&] { return stage() == wanted; }, 1min);
  }
  /// The switches, the daemon's own left out.
  [[nodiscard]] std::vector<NodeIndex> other_switches() const {
    const Fabric& truth = world_->fabric.description();
    const Port& seat = truth.port(world_->port);
    std::vector<NodeIndex> nodes;
    for (std::uint32_t i = 0; i < truth.nodes().size(); ++i) {
      const bool own = truth.peer({seat.node, seat.num})->node == NodeIndex{i};
      if (truth.nodes()[i].type == NodeType::Switch && !own) nodes.push_back(NodeIndex{i});
    }
    return nodes;
  }
  /// Everything that had to follow has: no pair that cables join is without its route.
  void settle(FabricClock::duration span = 30s) {
    world_->run_for(span);
    ASSERT_TRUE(world_->run([&] { return world_->daemon->quiet(); })) << events();
    world_->watch.settled();
    EXPECT_THAT(world_->watch.violations(), ::testing::IsEmpty()) << events();
  }
};

TEST_F(Faults, ALinkThatFailsWhileAnotherOneDrains) {
  for (std::size_t victim = 0; victim < 8; ++victim) {
    RegulatedWorld& world = begin();
    ASSERT_TRUE(reach(Stage::Draining)) << events();
    world.watch.say(fmt::format("link {} fails", victim));
    world.watch.cut(trunk_links()[victim], world.ps());
    settle();
    expect_well();
    world.watch.mend(trunk_links()[victim], world.ps());
    settle();
    expect_well();
    ASSERT_TRUE(comes_to(4)) << events();
  }
}

// The order counts on the cable, and would keep hosts apart on the line that is left of the ring.
TEST_F(Faults, ACableThatARingIsWithoutIsToldOfUntilItIsBack) {
  RegulatedWorld& world = begin("torus:4,hosts=1,links=1", usual());
  world.watch.packets_live(world.options.governor.packet_life);
  for (const LinkIndex cable : trunk_links()) {
    const auto& events = world.daemon->events;
    const std::size_t told = events.size();
    world.watch.cut(cable, world.ps());
    settle();
    traffic(0.05, 2);
    EXPECT_EQ(figures().unroutable, 0U);
    const auto& problems = world.daemon->regulator().problems();
    EXPECT_THAT(problems,
                ::testing::Contains(::testing::Field(
                    &Problem::text, ::testing::HasSubstr("1 link is down, and nobody ordered it"))));
    world.watch.mend(cable, world.ps());
    settle();
    EXPECT_EQ(std::count_if(events.begin() + static_cast<std::ptrdiff_t>(told), events.end(),
                            [](const auto& event) { return event.kind == "back"; }),
              1);
    EXPECT_THAT(world.daemon->regulator().problems(), ::testing::IsEmpty());
  }
}

TEST_F(Faults, ASwitchThatIsLostInEachStageAndComesBack) {
  for (const Stage when : stages) {
    for (std::size_t victim = 0; victim < 3; ++victim) {
      RegulatedWorld& world = begin();
      ASSERT_TRUE(reach(when)) << to_string(when);
      world.watch.say(fmt::format("switch {} lost while {}", victim, to_string(when)));
      const NodeIndex lost = other_switches()[victim];
      world.watch.kill(lost, world.ps());
      settle(60s);
      world.watch.revive(lost, world.ps());
      settle(60s);
      expect_well();
      ASSERT_TRUE(comes_to(4)) << events();
    }
  }
}

/// A subnet manager with the highest priority, at another host; it takes the fabric when it is handed over.
class OtherManager : public OtherSm {
 public:
  OtherManager(RegulatedWorld& world, PortIndex port, State begins = State::Master)
      : OtherSm{world.fabric, port, [&world] { return world.ps(); }, begins} {}
};

// Whoever is master then raises the links that come back; here nobody does, so they are seen in Init.
TEST_F(Faults, MastershipThatIsLostInEachStageBringsEveryLinkBack) {
  for (const Stage when : stages) {
    RegulatedWorld& world = begin();
    ASSERT_TRUE(reach(when)) << to_string(when);
    world.watch.say(fmt::format("mastership lost while {}", to_string(when)));
    const OtherManager other{world, hosts_.back()};
    ASSERT_TRUE(world.run([&] { return !world.daemon->core().authority().may_write(); }, 1min))
        << to_string(when);
    world.run_for(60s);
    EXPECT_TRUE(world.links_off().empty()) << to_string(when) << "\n" << events();
    EXPECT_THAT(world.watch.violations(), ::testing::IsEmpty()) << events();
  }
}

// It may have seen this daemon before that had a LID, and tells nobody that it stands by.
TEST_F(Faults, AHigherManagerIsLookedAtUntilItStandsByAndThenHasTheFabric) {
  RegulatedWorld& world = begin();
  OtherManager other{world, hosts_.back(), OtherManager::State::Discovering};
  world.run_for(5s);
  EXPECT_TRUE(world.daemon->core().authority().may_write());
  other.info.state = OtherManager::State::Standby;
  EXPECT_TRUE(world.run([&] { return !world.daemon->core().authority().may_write(); }, 2s)) << events();
  EXPECT_EQ(other.info.state, OtherManager::State::Master);
}

/// Nobody is told by a trap who comes.
void lose_traps(RegulatedWorld& world) {
  world.fate.spoil = [](mad::Packet& packet) {
    mad::Header header = mad::read_header(packet.mad);
    if (header.method != mad::Method::Trap) return;
    header.method = mad::Method::GetResp;  // of a question that nobody asked
    mad::write_header(header, packet.mad);
  };
}

// Its port said so before the port had been told to whom, so that no trap tells. It failed once with the real
// OpenSM.
TEST_F(Faults, AHigherManagerThatAsksForTheMasterIsLookedAtAndThenHasTheFabric) {
  RegulatedWorld& world = begin();
  lose_traps(world);
  OtherManager other{world, hosts_.back(), OtherManager::State::Standby};
  world.run_for(5s);
  EXPECT_TRUE(world.daemon->core().authority().may_write());
  other.ask(world.fabric.port_info(world.port).lid);
  EXPECT_TRUE(world.run([&] { return !world.daemon->core().authority().may_write(); }, 2s)) << events();
  EXPECT_EQ(other.info.state, OtherManager::State::Master);
}

// What a sweep said of this one is over with its claim.
TEST_F(Faults, WhereTheNewMasterIsSilentThisOneIsNotSaidToBeThere) {
  RegulatedWorld& world = begin();
  OtherManager other{world, hosts_.back(), OtherManager::State::Standby};
  ASSERT_TRUE(world.run([&] { return !world.daemon->core().authority().may_write(); }, 15s)) << events();
  other.info.state = OtherManager::State::NotActive;
  world.run_for(5s);
  std::string all;
  for (const Problem& problem : world.daemon->core().problems()) all += problem.text + "\n";
  EXPECT_THAT(all, testing::HasSubstr("no subnet manager answers"));
  const Fabric& fabric = world.fabric.description();
  EXPECT_THAT(all, testing::HasSubstr(fabric.node(fabric.port(hosts_.back()).node).description));
  EXPECT_THAT(all, testing::Not(testing::HasSubstr(fabric.node(fabric.port(world.port).node).description)));
}

// Of two that start at once each may yield to the other: nobody would have the fabric until an operator came.
TEST_F(Faults, WhoYieldedToOneThatWasOnlyLookingStandsAgain) {
  for (const auto decides : {OtherManager::State::NotActive, OtherManager::State::Master}) {
    RegulatedWorld& world = begin();
    world.daemon.reset();
    OtherManager other{world, hosts_.back(), OtherManager::State::Discovering};
    world.start();
    world.run_for(10s);
    ASSERT_TRUE(world.daemon->core().authority().yields());
    other.info.state = decides;
    world.run_for(40s);
    EXPECT_EQ(world.daemon->core().authority().may_write(), decides == OtherManager::State::NotActive);
  }
}

// Two that have not seen each other stay so, unless one looks where the other has been.
TEST_F(Faults, AnotherMasterIsFoundWhenItHasBeenAtTheOwnPort) {
  RegulatedWorld& world = begin();
  lose_traps(world);
  OtherManager other{world, hosts_.back()};
  world.run_for(5s);
  EXPECT_TRUE(world.daemon->core().authority().may_write());
  other.set_master_of(world.port, world.fabric.port_info(hosts_.back()).lid);
  EXPECT_TRUE(world.run([&] { return !world.daemon->core().authority().may_write(); }, 15s)) << events();
}

TEST_F(Faults, AHostWhoseAgentIsSilentStopsTheChangeBeforeAnyLinkGoes) {
  RegulatedWorld& world = begin();
  world.hosts.set_agent(hosts_[1], sim::PathMigration::Agent::Silent);
  traffic(0.05);
  world.run_for(40s);
  EXPECT_THAT(world.watch.violations(), ::testing::IsEmpty()) << events();
  EXPECT_EQ(figures().into_off_link, 0U);
  world.hosts.set_agent(hosts_[1], sim::PathMigration::Agent::Answers);
  ASSERT_TRUE(comes_to(4)) << events();
  expect_well();
}

TEST_F(Faults, AFlappingLinkIsLeftOn) {
  RegulatedWorld& world = begin();
  const LinkIndex flapping = trunk_links()[0];
  for (int i = 0; i < 6; ++i) {
    world.watch.cut(flapping, world.ps());
    world.run_for(2s);
    world.watch.mend(flapping, world.ps());
    world.run_for(2s);
  }
  settle();
  traffic(0.05);
  world.run_for(60s);
  const auto off = world.links_off();
  EXPECT_EQ(std::count(off.begin(), off.end(), flapping), 0) << events();
  expect_well();
}

}  // namespace
}  // namespace heddle::test
