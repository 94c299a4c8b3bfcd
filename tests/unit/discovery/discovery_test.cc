// Full sweeps: what is found, and what nodes that do not answer, or lie, come to.
#include "discovery/discovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "discovery_world.h"
#include "transport/requests.h"

namespace heddle::discovery {
namespace {

using namespace std::chrono_literals;

TEST(Discovery, FindsEveryNodeAndLink) {
  for (const char* spec :
       {"tree:k=2,n=3", "torus:4x4,hosts=2,links=2", "dragonfly+:groups=3,leaves=2,spines=2,hosts=2,global=2",
        "random:switches=20,hosts=40,links=50,ports=16,seed=7", "xgft:2;4,3;1,2"}) {
    World world{spec};
    const SweepReport& report = world.full();
    ASSERT_FALSE(report.failure) << spec << ": " << report.failure->message;
    EXPECT_TRUE(report.problems.empty()) << spec << ": " << texts(report);
    expect_same_graph(*report.survey->fabric, world.truth());
    EXPECT_EQ(report.survey->fabric->epoch(), 1U);
  }
}

// Whatever firmware makes of the bit by which we say that we know extended speeds, no port is shown as slower
// than it is.
TEST(Discovery, ExtendedSpeedsAreFoundInAllFirmware) {
  for (const char* speed : {"FDR", "EDR", "HDR", "NDR", "XDR"}) {
    for (const auto kind :
         {sim::ExtendedSpeeds::Always, sim::ExtendedSpeeds::Asked, sim::ExtendedSpeeds::NotAsked}) {
      World world{std::string("tree:k=2,n=2,speed=") + speed};
      for (std::uint32_t i = 0; i < world.truth().nodes().size(); ++i) {
        world.sim.fabric.set_traits(NodeIndex{i}, {.extended_speeds = kind});
      }
      const SweepReport report = world.full();
      EXPECT_TRUE(report.problems.empty()) << texts(report);
      expect_same_graph(*report.survey->fabric, world.truth());
      EXPECT_EQ(world.light().survey, report.survey) << "nothing has changed";
    }
  }
}

TEST(Discovery, ASpeedThatIsNotToldIsNotCalledQdr) {
  World world{"tree:k=2,n=2,speed=NDR"};
  for (std::uint32_t i = 0; i < world.truth().nodes().size(); ++i) {
    world.sim.fabric.set_traits(NodeIndex{i}, {.extended_speeds = sim::ExtendedSpeeds::Hidden});
  }
  const SweepReport& report = world.full();
  ASSERT_FALSE(report.failure);
  EXPECT_EQ(report.survey->fabric->links().size(), world.truth().links().size());
  for (const Link& link : report.survey->fabric->links()) EXPECT_EQ(link.speed, LinkSpeed::None);
}

TEST(Discovery, TheOtherEndOfACableKnowsItsSpeed) {
  World world{"tree:k=2,n=2,speed=NDR"};
  for (std::uint32_t i = 0; i < world.truth().nodes().size(); ++i) {
    if (world.truth().nodes()[i].type == NodeType::Switch) continue;
    world.sim.fabric.set_traits(NodeIndex{i}, {.extended_speeds = sim::ExtendedSpeeds::Hidden});
  }
  expect_same_graph(*world.full().survey->fabric, world.truth());
}

TEST(Discovery, ExtendedPortInfoTellsFdr10) {
  World world{"tree:k=2,n=2,speed=FDR10"};
  expect_same_graph(*world.full().survey->fabric, world.truth());
}

// A host with two ports joins two planes that are apart otherwise; from one port, only one plane is seen.
TEST(Discovery, OtherPlaneIsNotSeen) {
  World world{"xgft:2;4,3;2,2"};
  const SweepReport& report = world.full();
  EXPECT_TRUE(report.problems.empty()) << texts(report);
  EXPECT_EQ(report.survey->fabric->switch_count(), 5U);
  EXPECT_EQ(report.survey->fabric->nodes().size(), 17U);
}

/// Two hosts with two ports each, one in each of two subnets, which know nothing of each other's LIDs.
std::shared_ptr<const Fabric> two_subnets() {
  FabricBuilder builder;
  const auto add = [&](NodeType type, std::uint64_t guid, std::uint8_t ports) {
    Node node;
    node.type = type;
    node.guid = NodeGuid{guid};
    node.port_count = ports;
    node.description = "node " + std::to_string(guid);
    return *builder.add_node(node);
  };
  const auto give = [&](NodeIndex node, std::uint8_t num, std::uint16_t lid) {
    Port port;
    port.num = PortNum{num};
    port.guid = PortGuid{(std::uint64_t{node.raw()} << 8U) + num + 1};
    port.lid = Lid{lid};
    port.state = PortState::Active;
    port.physical = PhysState::LinkUp;
    (void)builder.set_port(node, port);
  };
  const NodeIndex hosts[] = {add(NodeType::ChannelAdapter, 1, 2), add(NodeType::ChannelAdapter, 2, 2)};
  const NodeIndex switches[] = {add(NodeType::Switch, 11, 4), add(NodeType::Switch, 12, 4)};
  for (std::uint8_t plane = 0; plane < 2; ++plane) {
    give(switches[plane], 0, 1);
    for (std::uint8_t h = 0; h < 2; ++h) {
      // In the second subnet the hosts have each other's LIDs.
      give(hosts[h], static_cast<std::uint8_t>(plane + 1), static_cast<std::uint16_t>(2 + (h ^ plane)));
      (void)builder.add_link({hosts[h], PortNum{static_cast<std::uint8_t>(plane + 1)}},
                             {switches[plane], PortNum{static_cast<std::uint8_t>(h + 1)}}, LinkWidth::X4,
                             LinkSpeed::Hdr);
    }
  }
  return builder.build();
}

TEST(Discovery, ThePortOfAHostInAnotherSubnetHasNoLidHere) {
  sim::Options options;
  options.lids = sim::Lids::Keep;
  test::SimWorld sim{two_subnets(), options};
  std::optional<SweepReport> report;
  Discovery discovery{sim.engine, {}, [&](const SweepReport& done) { report = done; }};
  discovery.full(sim.now);
  ASSERT_TRUE(sim.run([&] { return report.has_value(); }));
  ASSERT_FALSE(report->failure) << report->failure->message;
  EXPECT_TRUE(report->problems.empty()) << texts(*report);
  const Fabric& fabric = *report->survey->fabric;
  EXPECT_EQ(fabric.switch_count(), 1U);
  for (const std::uint64_t guid : {1U, 2U}) {
    const NodeIndex host = fabric.find_node(NodeGuid{guid});
    EXPECT_EQ(fabric.port({host, PortNum{1}}).lid, Lid{static_cast<std::uint16_t>(1 + guid)});
    EXPECT_EQ(fabric.port({host, PortNum{2}}).lid, no_lid);
    EXPECT_EQ(fabric.find_port(Lid{static_cast<std::uint16_t>(1 + guid)}),
              fabric.port_index({host, PortNum{1}}));
  }
}

TEST(Discovery, LostMadsCostOnlyTime) {
  World world{"tree:k=3,n=3"};
  sim::MadFaults faults;
  faults.lost = Ratio{0.02};
  faults.duplicated = Ratio{0.02};
  world.sim.fabric.set_mad_faults(faults);
  const SweepReport& report = world.full();
  ASSERT_FALSE(report.failure);
  EXPECT_TRUE(report.problems.empty()) << texts(report);
  expect_same_graph(*report.survey->fabric, world.truth());
}

TEST(Discovery, DeadSwitchIsMissingAndSaidSo) {
  World world{"tree:k=3,n=3"};
  const NodeIndex victim = world.switch_at(12);
  world.sim.fabric.set_agent_faults(victim, {.mute_sma = true});
  const SweepReport& report = world.full();
  ASSERT_FALSE(report.failure);
  EXPECT_EQ(report.survey->fabric->find_node(world.truth().node(victim).guid), no_node);
  EXPECT_GT(count(report, ProblemKind::SilentPort), 0U);
  EXPECT_EQ(report.survey->fabric->nodes().size(), world.truth().nodes().size() - 1);
}

TEST(Discovery, AgentWithWrongAnswersIsReported) {
  for (const sim::AgentFaults& fault :
       {sim::AgentFaults{.wrong_tid = true}, sim::AgentFaults{.wrong_attribute = true}}) {
    World world{"tree:k=3,n=3"};
    world.sim.fabric.set_agent_faults(world.switch_at(12), fault);
    const SweepReport& report = world.full();
    ASSERT_FALSE(report.failure);
    EXPECT_FALSE(report.problems.empty());
    EXPECT_EQ(report.survey->fabric->nodes().size(), world.truth().nodes().size() - 1);
  }
}

TEST(Discovery, CorruptedMadsHarmNobody) {
  World world{"tree:k=3,n=2"};
  sim::MadFaults faults;
  faults.corrupted = Ratio{0.2};
  world.sim.fabric.set_mad_faults(faults);
  const SweepReport& report = world.full();
  if (!report.failure) {
    EXPECT_GE(report.survey->fabric->nodes().size(), 1U);
  }
}

/// Changes the NodeInfo that this node answers.
void lie(World& world, NodeIndex liar, std::function<void(mad::NodeInfo&)> how) {
  const NodeGuid guid = world.truth().node(liar).guid;
  world.sim.receive_with([&world, guid, how = std::move(how)](const mad::Packet& packet, Instant at) {
    mad::Packet changed = packet;
    if (mad::read_header(packet.mad).attribute == static_cast<std::uint16_t>(mad::SmAttr::NodeInfo)) {
      auto info = mad::decode<mad::NodeInfo>(mad::smp_data(packet.mad));
      if (info.node_guid == guid) how(info);
      mad::encode(info, mad::smp_data(changed.mad));
    }
    world.sim.engine.on_packet(changed, at);
  });
}

// Over a cable nobody is met at port 0: a link there would be one that no table has room for.
TEST(Discovery, NodesThatSayTheyWereMetAtPort0AreLeftOut) {
  for (const bool is_switch : {true, false}) {
    World world{"tree:k=2,n=2"};
    const NodeIndex last{static_cast<std::uint32_t>(world.truth().nodes().size() - 1)};
    const NodeIndex liar = is_switch ? world.switch_at(3) : last;
    lie(world, liar, [](mad::NodeInfo& info) { info.local_port = PortNum{0}; });
    const SweepReport& report = world.full();
    ASSERT_FALSE(report.failure);
    EXPECT_GT(count(report, ProblemKind::PortBeyond), 0U) << texts(report);
    EXPECT_EQ(report.survey->fabric->find_node(world.truth().node(liar).guid), no_node);
    for (const Link& link : report.survey->fabric->links()) {
      EXPECT_NE(link.a.port, PortNum{0});
      EXPECT_NE(link.b.port, PortNum{0});
    }
  }
}

TEST(Discovery, AHostWithoutAPortOfItsOwnIsAFailure) {
  World world{"tree:k=2,n=2"};
  lie(world, world.truth().port(world.sim.port()).node,
      [](mad::NodeInfo& info) { info.local_port = PortNum{0}; });
  EXPECT_TRUE(world.full().failure);
}

TEST(Discovery, TwoSwitchesWithOneGuid) {
  World world{"tree:k=3,n=3"};
  world.sim.fabric.set_guid(world.switch_at(10), world.truth().node(world.switch_at(14)).guid);
  const SweepReport& report = world.full();
  ASSERT_FALSE(report.failure);
  EXPECT_GT(count(report, ProblemKind::DuplicateGuid), 0U) << texts(report);
  EXPECT_GE(report.survey->fabric->nodes().size(), world.truth().nodes().size() - 6);
}

TEST(Discovery, TwoHostsWithOneGuid) {
  World world{"tree:k=3,n=2"};
  const auto nodes = world.truth().nodes();
  world.sim.fabric.set_guid(NodeIndex{static_cast<std::uint32_t>(nodes.size() - 1)},
                            nodes[nodes.size() - 2].guid);
  const SweepReport& report = world.full();
  ASSERT_FALSE(report.failure);
  EXPECT_EQ(count(report, ProblemKind::DuplicateGuid), 1U) << texts(report);
  EXPECT_EQ(report.survey->fabric->nodes().size(), nodes.size() - 1);
  EXPECT_EQ(report.survey->fabric->links().size(), world.truth().links().size() - 1);
}

/// As some other subnet manager does.
void give_lid(World& world, NodeIndex host, Lid lid) {
  const PortIndex port{world.truth().node(host).first_port.raw() + 1};
  mad::PortInfo info = world.sim.fabric.port_info(port);
  info.lid = lid;
  info.state = PortState::NoChange;
  info.physical = PhysState::NoChange;
  auto packet = transport::directed_smp(
      {.method = mad::Method::Set, .attribute = mad::SmAttr::PortInfo, .modifier = 1}, {});
  mad::encode(info, mad::smp_data(packet.mad));
  ASSERT_TRUE(world.sim.fabric.ask(port, packet.mad, world.sim.ps()));
}

TEST(Discovery, TwoHostsWithOneLid) {
  World world{"tree:k=3,n=2"};
  const auto last = static_cast<std::uint32_t>(world.truth().nodes().size() - 1);
  give_lid(world, NodeIndex{last}, Lid{7});
  give_lid(world, NodeIndex{last - 1}, Lid{8});
  EXPECT_EQ(count(world.full(), ProblemKind::LidConflict), 0U) << "next to each other";
  give_lid(world, NodeIndex{last - 1}, Lid{7});
  const SweepReport& report = world.full();
  ASSERT_FALSE(report.failure);
  EXPECT_EQ(count(report, ProblemKind::LidConflict), 1U) << texts(report);
}

TEST(Discovery, FabricThatSplitsDuringTheSweep) {
  sim::Options options;
  options.mad_latency = Picoseconds{1'000'000};
  World world{"tree:k=4,n=3", options};
  bool cut = false;
  world.discovery.full(world.sim.now);
  ASSERT_TRUE(world.sim.run([&] {
    if (!cut && world.sim.engine.statistics().answered > 300) {
      cut = true;
      for (std::uint32_t i = 0; i < world.truth().links().size(); i += 2) {
        world.sim.fabric.cut(LinkIndex{i}, world.ps());
      }
    }
    return !world.reports.empty();
  }));
  ASSERT_TRUE(cut);
  const SweepReport& report = world.reports.front();
  if (report.failure) return;
  EXPECT_FALSE(report.problems.empty());
  EXPECT_LT(report.survey->fabric->nodes().size(), world.truth().nodes().size());
}

TEST(Discovery, LocalNodeThatDoesNotAnswerIsAFailure) {
  World world{"tree:k=2,n=2"};
  world.sim.fabric.set_agent_faults(world.truth().port(world.sim.port()).node, {.mute_sma = true});
  const SweepReport& report = world.full();
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->code, ErrorCode::Unreachable);
  EXPECT_EQ(report.survey, nullptr);
}

TEST(Discovery, StopDuringASweepReportsIt) {
  World world{"tree:k=3,n=3"};
  world.discovery.full(world.sim.now);
  world.sim.run([&] { return world.sim.engine.statistics().answered > 50; });
  world.sim.engine.stop(world.sim.now);
  ASSERT_EQ(world.reports.size(), 1U);
  EXPECT_TRUE(world.reports[0].failure);
}

}  // namespace
}  // namespace heddle::discovery
