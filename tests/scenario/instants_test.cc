// What holds at every instant, for the tables as they stand and for packets that were on their way before.

#include <algorithm>

#include "mad/header.h"
#include "story.h"
#include "transport/requests.h"

namespace heddle::test {
namespace {

constexpr std::string_view tree = "xgft:3;3,3,2;1,2,2";

class Instants : public Story {
 protected:
  RegulatedWorld& begin_strictly(std::string_view generator, std::uint8_t lmc,
                                 regulation::Mode mode = regulation::Mode::Advise) {
    WorldOptions how = options(lmc);
    how.governor.mode = mode;
    RegulatedWorld& world = begin(generator, how);
    if (generator == tree) {
      // Its upper switches have entries by which nobody sends: those may go at any time.
      world.watch.judge_writes(how.governor.packet_life, [](const routing::Target&, Lid) { return false; });
    } else {
      world.judge_writes();
    }
    return world;
  }
  [[nodiscard]] static WorldOptions options(std::uint8_t lmc) {
    WorldOptions options;
    options.lmc = lmc;
    options.governor = quick();
    options.governor.select.policy = regulation::SelectPolicy::General;
    options.sim.training_delay = 500ms;
    return options;
  }
  [[nodiscard]] const Fabric& truth() const { return world_->fabric.description(); }
  [[nodiscard]] LinkIndex cable(std::string_view a, std::string_view b) const {
    for (std::uint32_t i = 0; i < truth().links().size(); ++i) {
      const Link& link = truth().link(LinkIndex{i});
      const std::string& x = truth().node(link.a.node).description;
      const std::string& y = truth().node(link.b.node).description;
      if ((x == a && y == b) || (x == b && y == a)) return LinkIndex{i};
    }
    return no_link;
  }
  void wish(LinkIndex link, regulation::Wish what, regulation::Force force = regulation::Force::No) {
    Result<std::string> answer = fail(ErrorCode::Io, "no answer");
    world_->daemon->order([&](regulate::Regulator& regulator) {
      regulator.set_override(link_ref(truth(), truth().link(link)), {what, "a test", "alice", std::nullopt},
                             force, world_->now, [&](const Result<std::string>& given) { answer = given; });
    });
    ASSERT_TRUE(answer) << answer.error().message;
  }
};

TEST_F(Instants, NoPacketThatIsUnderWayIsLedAstrayByAStage) {
  for (const std::uint8_t lmc : {0, 1}) {
    RegulatedWorld& world = begin_strictly("torus:3x3,hosts=1,links=1", lmc, regulation::Mode::Enforce);
    world.watch.say(fmt::format("LMC {}", lmc));
    traffic(0.02);
    world.run_for(60s);
    const std::size_t off = world.links_off().size();
    EXPECT_GT(off, 0U) << events();
    traffic(1.0, 4);
    world.run_for(30s);
    EXPECT_LT(world.links_off().size(), off) << events();
    EXPECT_THAT(world.watch.violations(), ::testing::IsEmpty()) << events();
  }
}

// Nobody moves connections, so that either LID of a host may be in use at any time.
TEST_F(Instants, NoPlaneIsWithoutTrafficWhereHostsHaveNoAgents) {
  for (const std::string_view generator : {"torus:4x4,hosts=1,links=1", "torus:3x3,hosts=1,links=1"}) {
    WorldOptions how = options(1);
    how.agents = HostAgents::Absent;
    RegulatedWorld& world = begin(generator, how);
    world.watch.say(std::string(generator));
    world.judge_writes();
    const auto claims_a_move = [&] { return world.daemon->regulator().governor().plane() != 0; };
    traffic(0.02);
    EXPECT_FALSE(world.run(claims_a_move, 60s)) << events();
    EXPECT_GT(world.links_off().size(), 0U) << events();
    traffic(1.0, 4);
    EXPECT_FALSE(world.run(claims_a_move, 30s)) << events();
    EXPECT_THAT(world.watch.violations(), ::testing::IsEmpty()) << events();
  }
}

TEST_F(Instants, PortsAreActiveBeforeTablesLeadToThem) {
  for (const std::uint8_t lmc : {0, 1}) {
    RegulatedWorld& world = begin_strictly(tree, lmc);
    world.watch.say(fmt::format("LMC {}", lmc));
    traffic(0.3);
    wish(cable("leaf-1-0", "spine-1-0"), regulation::Wish::Off);
    ASSERT_TRUE(world.run([&] { return world.links_off().size() == 1; }, 30s)) << events();
    world.watch.cut(cable("leaf-1-0", "spine-1-1"), world.ps());
    world.run_for(5s);
    world.watch.mend(cable("leaf-1-0", "spine-1-1"), world.ps());
    world.run_for(20s);
    ASSERT_TRUE(world.run([&] { return world.daemon->quiet(); }, 60s));
    EXPECT_THAT(world.watch.violations(), ::testing::IsEmpty()) << events();
  }
}

TEST_F(Instants, ALinkThatComesBackWhileAnotherGoesOff) {
  for (int round = 0; round < 6; ++round) {
    RegulatedWorld& world = begin_strictly(tree, 0);
    world.watch.say(fmt::format("round {}", round));
    traffic(0.3);
    const LinkIndex back = cable("leaf-1-0", "spine-1-1");
    world.watch.cut(back, world.ps());
    world.run_for(15s);
    wish(cable("spine-1-0", "core-0-0"), regulation::Wish::Off);
    // So that it trains when the other one has drained, give or take.
    world.run_for(500ms + round * 40ms);
    world.watch.mend(back, world.ps());
    world.run_for(20s);
    ASSERT_TRUE(world.run([&] { return world.daemon->quiet(); }, 60s)) << events();
    world.watch.settled();
    EXPECT_THAT(world.watch.violations(), ::testing::IsEmpty()) << events();
    EXPECT_THAT(events(), ::testing::Not(::testing::HasSubstr("did not confirm")));
    EXPECT_EQ(world.links_off().size(), 1U) << events();
  }
}

TEST_F(Instants, KilledWhileLinksTrainItRaisesThemBeforeItRoutesOverThem) {
  RegulatedWorld& world = begin_strictly(tree, 0);
  traffic(0.3);
  const LinkIndex link = cable("leaf-1-0", "spine-1-0");
  const PortIndex port = truth().port_index(truth().link(link).a);
  wish(link, regulation::Wish::Off);
  ASSERT_TRUE(world.run([&] { return world.links_off().size() == 1; }, 30s)) << events();
  wish(link, regulation::Wish::Auto);
  ASSERT_TRUE(world.run([&] { return world.fabric.port_info(port).state == PortState::Init; }, 30s))
      << events();
  world.kill();
  world.start();
  world.run_for(30s);
  ASSERT_TRUE(world.run([&] { return world.daemon->quiet(); }, 60s)) << events();
  world.watch.settled();
  expect_well();
  EXPECT_EQ(world.fabric.port_info(port).state, PortState::Active);
}

TEST_F(Instants, ABlockThatALateWriteHasUndoneIsFoundAndMended) {
  WorldOptions how = options(0);
  how.verify_within = 10s;
  RegulatedWorld& world = begin(ring, how);
  traffic(0.3);
  world.run_for(1s);
  const Port& seat = truth().port(world.port);
  const NodeIndex sw = truth().peer({seat.node, seat.num})->node;
  const auto before = world.fabric.forwarding_table(sw);
  const std::vector<PortNum> held(before.begin(), before.end());
  const PortNum path[] = {seat.num};
  mad::Packet late = transport::directed_smp(
      {.method = mad::Method::Set, .attribute = mad::SmAttr::LinearForwardingTable}, path);
  std::ranges::fill(mad::smp_data(late.mad), no_path.raw());
  const auto client = *world.fabric.attach(world.port, [](const mad::Packet&, Picoseconds) {});
  world.watch.fault();
  world.fabric.send(world.ps(), client, late);
  world.run_for(1s);
  EXPECT_GT(figures().unroutable, 0U);
  world.run_for(11s);
  world.fabric.detach(client);
  const auto after = world.fabric.forwarding_table(sw);
  EXPECT_THAT(std::vector<PortNum>(after.begin(), after.end()), ::testing::ContainerEq(held));
  EXPECT_EQ(figures().unroutable, 0U);
}

}  // namespace
}  // namespace heddle::test
