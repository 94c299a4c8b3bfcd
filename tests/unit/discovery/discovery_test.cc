#include "discovery/discovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "fabric/change.h"
#include "sim/bring_up.h"
#include "support/sim_world.h"

namespace heddle::discovery {
namespace {

using namespace std::chrono_literals;

class World {
 public:
  explicit World(std::string_view generator, const sim::Options& options = {}, SweepOptions sweeps = {})
      : World{*generate(generator), options, sweeps} {}
  World(std::shared_ptr<const Fabric> description, const sim::Options& options, SweepOptions sweeps)
      : sim{std::move(description), options},
        discovery{sim.engine, sweeps, [this](const SweepReport& report) { reports.push_back(report); }} {}

  const SweepReport& full() {
    discovery.full(sim.now);
    return finish();
  }
  const SweepReport& light() {
    discovery.light(sim.now);
    return finish();
  }
  const SweepReport& finish() {
    const auto before = reports.size();
    EXPECT_TRUE(sim.run([&] { return reports.size() > before; }));
    return reports.back();
  }
  [[nodiscard]] const Fabric& truth() const { return sim.fabric.description(); }
  [[nodiscard]] NodeIndex switch_at(std::size_t nth) const {
    for (std::uint32_t i = 0; i < truth().nodes().size(); ++i) {
      if (truth().nodes()[i].type == NodeType::Switch && nth-- == 0) return NodeIndex{i};
    }
    return no_node;
  }
  [[nodiscard]] Picoseconds ps() const { return sim.ps(); }

  test::SimWorld sim;
  std::vector<SweepReport> reports;
  Discovery discovery;
};

std::size_t count(const SweepReport& report, ProblemKind kind) {
  return static_cast<std::size_t>(std::count_if(report.problems.begin(), report.problems.end(),
                                                [&](const Problem& p) { return p.kind == kind; }));
}

std::string texts(const SweepReport& report) {
  std::string all;
  for (const auto& problem : report.problems) all += problem.text + "\n";
  return all;
}

/// Every switch and host says that something has changed.
void flood_with_traps(World& world) {
  for (const Port& port : world.discovery.survey()->fabric->ports()) {
    if (port.lid == no_lid) continue;
    mad::Notice notice;
    notice.generic = true;
    notice.trap = 128;
    notice.set_data_lid(port.lid);
    world.discovery.on_notice(notice, world.sim.now);
  }
}

/// Same nodes, cables, rates and descriptions; states and LIDs apart.
void expect_same_graph(const Fabric& found, const Fabric& truth) {
  ASSERT_EQ(found.nodes().size(), truth.nodes().size());
  ASSERT_EQ(found.links().size(), truth.links().size());
  for (const Node& node : truth.nodes()) {
    const NodeIndex index = found.find_node(node.guid);
    ASSERT_NE(index, no_node);
    EXPECT_EQ(found.node(index).description, node.description);
    EXPECT_EQ(found.node(index).type, node.type);
    EXPECT_EQ(found.node(index).port_count, node.port_count);
  }
  for (const Link& link : truth.links()) {
    const auto end = [&](LinkEnd of) { return LinkEnd{found.find_node(truth.node(of.node).guid), of.port}; };
    ASSERT_EQ(found.peer(end(link.a)), end(link.b));
    const Link& same = found.link(found.port(end(link.a)).link);
    EXPECT_EQ(same.width, link.width);
    EXPECT_EQ(same.speed, link.speed);
  }
}

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

class LightSweepTest : public testing::Test {
 protected:
  void SetUp() override {
    world.full();
    // Training raised change bits: a first sweep by a subnet manager clears them.
    const SweepReport& report = world.light();
    ASSERT_EQ(report.kind, SweepKind::Light);
    ASSERT_EQ(report.survey, world.reports.front().survey);
  }
  World world{"tree:k=3,n=3", {}, {.change_bits = ChangeBits::Clear}};
};

TEST_F(LightSweepTest, NothingChangedCostsOneMadANodeAndOneForTheOwnPort) {
  const auto before = world.sim.engine.statistics().sent;
  world.light();
  EXPECT_EQ(world.sim.engine.statistics().sent - before, world.truth().nodes().size() + 1) << "the own port";
}

TEST_F(LightSweepTest, CutLinkIsFoundWithFewMads) {
  const LinkIndex link{static_cast<std::uint32_t>(world.truth().links().size() - 1)};
  world.sim.fabric.cut(link, world.ps());
  const auto before = world.sim.engine.statistics().sent;
  const SweepReport& report = world.light();
  EXPECT_EQ(report.kind, SweepKind::Partial);
  const FabricChange change = compare(*report.before->fabric, *report.survey->fabric);
  EXPECT_EQ(change.links_removed.size(), 1U);
  EXPECT_LT(world.sim.engine.statistics().sent - before, world.truth().nodes().size() + 60);

  world.sim.fabric.mend(link, world.ps());
  const SweepReport& again = world.light();
  EXPECT_EQ(again.kind, SweepKind::Partial);
  expect_same_graph(*again.survey->fabric, world.truth());
  EXPECT_TRUE(again.problems.empty()) << texts(again);
}

TEST_F(LightSweepTest, EveryLinkThatIsCutAndMendedIsFound) {
  for (std::uint32_t i = 0; i < world.truth().links().size(); i += 5) {
    const Link& link = world.truth().link(LinkIndex{i});
    const NodeIndex own = world.truth().port(world.sim.port()).node;
    if (link.a.node == own || link.b.node == own) continue;
    world.sim.fabric.cut(LinkIndex{i}, world.ps());
    const SweepReport& report = world.light();
    ASSERT_FALSE(report.failure) << report.failure->message;
    const bool host = world.truth().node(link.a.node).type != NodeType::Switch ||
                      world.truth().node(link.b.node).type != NodeType::Switch;
    EXPECT_EQ(report.survey->fabric->links().size(), world.truth().links().size() - 1) << "link " << i;
    EXPECT_EQ(report.survey->fabric->nodes().size(), world.truth().nodes().size() - (host ? 1 : 0));
    world.sim.fabric.mend(LinkIndex{i}, world.ps());
    const SweepReport& back = world.light();
    expect_same_graph(*back.survey->fabric, world.truth());
  }
}

// With the own cable gone, or the switch at its other end, there is nobody to ask but the own port.
TEST_F(LightSweepTest, TheOwnCableThatComesBackIsFound) {
  const PortIndex own = world.sim.port();
  const LinkIndex cable = world.truth().port(own).link;
  world.sim.fabric.cut(cable, world.ps());
  const SweepReport& alone = world.light();
  ASSERT_FALSE(alone.failure) << alone.failure->message;
  EXPECT_EQ(alone.survey->fabric->nodes().size(), 1U);
  EXPECT_EQ(count(alone, ProblemKind::OwnPort), 1U) << texts(alone);
  const auto survey = alone.survey;
  EXPECT_EQ(world.light().survey, survey) << "nothing has changed";
  world.sim.fabric.mend(cable, world.ps());
  const SweepReport& back = world.light();
  ASSERT_FALSE(back.failure) << back.failure->message;
  expect_same_graph(*back.survey->fabric, world.truth());
  EXPECT_TRUE(back.problems.empty()) << texts(back);
}

TEST_F(LightSweepTest, TheOwnSwitchThatComesBackIsFound) {
  const NodeIndex leaf = world.truth().peer({world.truth().port(world.sim.port()).node, PortNum{1}})->node;
  world.sim.fabric.kill(leaf, world.ps());
  EXPECT_EQ(world.light().survey->fabric->nodes().size(), 1U);
  world.sim.fabric.revive(leaf, world.ps());
  expect_same_graph(*world.light().survey->fabric, world.truth());
}

/// Beside another subnet manager: every port is looked at, at a pace.
class GentleSweepTest : public testing::Test {
 protected:
  static constexpr std::uint32_t pace = 1000;

  void SetUp() override {
    sim::bring_up(world.sim.fabric);
    world.full();
    world.sim.receive_with([this](const mad::Packet& packet, Instant at) {
      const auto header = mad::read_header(packet.mad);
      (header.mgmt_class == mad::MgmtClass::SubnLid ? by_lid : by_route) += 1;
      if (header.attribute == static_cast<std::uint16_t>(mad::SmAttr::NodeInfo)) ++hosts_asked;
      world.sim.engine.on_packet(packet, at);
    });
  }
  /// Runs what is due until something is reported.
  const SweepReport* until_report(FabricClock::duration limit) {
    const auto before = world.reports.size();
    const Instant end = world.sim.now + limit;
    const auto reported = [&] { return world.reports.size() > before; };
    const auto due = [&] {
      const auto next = world.discovery.next_deadline();
      return reported() || (next && *next <= world.sim.now);
    };
    while (!reported() && world.sim.now < end) {
      if (!world.sim.run(due, end - world.sim.now)) {
        // Nothing is on its way: the pace is waited for.
        world.sim.now = std::max(world.sim.now, std::min(end, world.discovery.next_deadline().value_or(end)));
      }
      if (!reported()) world.discovery.on_timer(world.sim.now);
    }
    return world.reports.size() > before ? &world.reports.back() : nullptr;
  }
  [[nodiscard]] std::size_t ports_of_switches() const {
    std::size_t ports = 0;
    for (const Node& node : world.truth().nodes()) {
      if (node.type == NodeType::Switch) ports += node.port_count + 1U;
    }
    return ports;
  }

  World world{"tree:k=3,n=3", {}, {.guest_smps_per_second = pace}};
  std::size_t by_lid = 0;
  std::size_t by_route = 0;
  std::size_t hosts_asked = 0;
};

TEST_F(GentleSweepTest, EachPortIsAskedOnceByLidAndNoHost) {
  const Instant begun = world.sim.now;
  world.discovery.light(world.sim.now);
  const SweepReport* report = until_report(100s);
  ASSERT_NE(report, nullptr);
  EXPECT_EQ(report->survey, report->before) << "nothing has changed";
  EXPECT_EQ(by_lid, ports_of_switches());
  EXPECT_EQ(by_route, 1U) << "the own port";
  EXPECT_EQ(hosts_asked, 0U);
  const double took = seconds(world.sim.now - begun);
  EXPECT_GE(took, static_cast<double>(ports_of_switches() - 16) / pace);
  EXPECT_LE(took, static_cast<double>(ports_of_switches() + 100) / pace);
  ASSERT_TRUE(world.discovery.light_round());
  EXPECT_NEAR(seconds(*world.discovery.light_round()), seconds(world.sim.now - begun), 1e-6);
}

TEST_F(GentleSweepTest, WhatIsFoundIsSaidAtOnceAndTheRoundGoesOn) {
  // The last link: of the switches that are asked last.
  const LinkIndex cut{static_cast<std::uint32_t>(world.truth().links().size() - 1)};
  world.sim.fabric.cut(cut, world.ps());
  const Instant begun = world.sim.now;
  world.discovery.light(world.sim.now);
  const SweepReport* report = until_report(100s);
  ASSERT_NE(report, nullptr);
  EXPECT_EQ(report->survey->fabric->links().size(), world.truth().links().size() - 1);
  EXPECT_EQ(world.discovery.light_round(), std::nullopt) << "the round has not ended";
  ASSERT_NE(until_report(100s), nullptr) << "the rest of it";
  ASSERT_TRUE(world.discovery.light_round());
  EXPECT_NEAR(seconds(*world.discovery.light_round()), seconds(world.sim.now - begun), 1e-6);
  world.sim.fabric.mend(cut, world.ps());
  world.discovery.light(world.sim.now);
  expect_same_graph(*until_report(100s)->survey->fabric, world.truth());
}

TEST_F(GentleSweepTest, WhatSomebodyAsksForDoesNotWaitForTheRound) {
  const NodeGuid node = world.truth().node(world.switch_at(3)).guid;
  world.discovery.light(world.sim.now);
  EXPECT_EQ(until_report(50ms), nullptr);
  world.discovery.rediscover({&node, 1}, world.sim.now);
  const SweepReport* report = until_report(50ms);
  ASSERT_NE(report, nullptr);
  EXPECT_EQ(report->kind, SweepKind::Partial);
  const std::size_t before = by_lid;
  ASSERT_NE(until_report(100s), nullptr) << "the round goes on";
  EXPECT_LT(by_lid, ports_of_switches() + 16);
  EXPECT_GT(by_lid, before);
}

TEST_F(GentleSweepTest, ASwitchThatDoesNotAnswerByLidIsAskedByRoute) {
  // Its LID leads nowhere: no way back from there, but it is there.
  world.sim.receive_with([this](const mad::Packet& packet, Instant at) {
    if (mad::read_header(packet.mad).mgmt_class == mad::MgmtClass::SubnLid) return;
    ++by_route;
    world.sim.engine.on_packet(packet, at);
  });
  world.discovery.light(world.sim.now);
  const SweepReport* report = until_report(1000s);
  ASSERT_NE(report, nullptr);
  EXPECT_EQ(report->kind, SweepKind::Light);
  EXPECT_EQ(report->survey, report->before);
  EXPECT_EQ(by_route, ports_of_switches() + 1);
}

class GentleFullSweepTest : public GentleSweepTest {
 protected:
  void SetUp() override {
    GentleSweepTest::SetUp();
    world.discovery.set_manner(Manner::Guest, world.sim.now);
    world.sim.receive_with([this](const mad::Packet& packet, Instant at) {
      most_pending = std::max(most_pending, world.sim.engine.pending());
      ++answers;
      world.sim.engine.on_packet(packet, at);
    });
  }
  [[nodiscard]] NodeIndex leaf() const { return world.switch_at(3); }
  [[nodiscard]] LinkIndex cable_of(NodeIndex node) const {
    return world.truth().port(PortIndex{world.truth().node(node).first_port.raw() + 1}).link;
  }

  std::size_t most_pending = 0;
  std::size_t answers = 0;
};

TEST_F(GentleFullSweepTest, KeepsThePaceAndAsksFewAtATime) {
  const Instant begun = world.sim.now;
  world.discovery.full(begun);
  const SweepReport* report = until_report(1000s);
  ASSERT_NE(report, nullptr);
  EXPECT_EQ(report->kind, SweepKind::Full);
  expect_same_graph(*report->survey->fabric, world.truth());
  EXPECT_LE(most_pending, 8U);
  const double took = seconds(world.sim.now - begun);
  EXPECT_GE(took, static_cast<double>(answers - 16) / pace);
  EXPECT_LE(took, static_cast<double>(answers + 100) / pace);
  ASSERT_TRUE(world.discovery.full_round());
  EXPECT_NEAR(seconds(*world.discovery.full_round()), took, 1e-6);
}

TEST_F(GentleFullSweepTest, TrapsWithoutEndKeepToThePace) {
  const Instant begun = world.sim.now;
  while (world.sim.now < begun + 5s) {
    flood_with_traps(world);
    until_report(50ms);
  }
  const double took = seconds(world.sim.now - begun);
  EXPECT_GT(answers, 1000U);
  EXPECT_LE(static_cast<double>(answers), took * pace + 100);
  EXPECT_LE(most_pending, 8U);
}

TEST_F(GentleFullSweepTest, HoldsUpNothingAndForgetsNothingThatWasFoundMeanwhile) {
  world.discovery.full(world.sim.now);
  // Late enough that the sweep has been there.
  EXPECT_EQ(until_report(400ms), nullptr);
  const LinkIndex cut = cable_of(leaf());
  world.sim.fabric.cut(cut, world.ps());
  const NodeGuid guid = world.truth().node(leaf()).guid;
  world.discovery.rediscover({&guid, 1}, world.sim.now);
  const SweepReport* partial = until_report(200ms);
  ASSERT_NE(partial, nullptr) << "not held up";
  EXPECT_EQ(partial->kind, SweepKind::Partial);
  EXPECT_EQ(partial->survey->fabric->links().size(), world.truth().links().size() - 1);
  const SweepReport* full = until_report(1000s);
  ASSERT_NE(full, nullptr);
  EXPECT_EQ(full->kind, SweepKind::Full);
  EXPECT_EQ(full->survey->fabric->links().size(), world.truth().links().size() - 1);
  EXPECT_FALSE(world.discovery.busy());
}

TEST_F(GentleFullSweepTest, ASwitchThatDiesIsLeftOutWhileTheRestIsKnown) {
  const NodeIndex spine = world.switch_at(20);
  world.sim.fabric.kill(spine, world.ps());
  world.discovery.light(world.sim.now);
  const SweepReport* report = until_report(1000s);
  for (int reports = 0; report != nullptr && reports < 100 && world.discovery.busy(); ++reports) {
    ASSERT_GE(report->survey->fabric->nodes().size(), world.truth().nodes().size() - 1);
    report = until_report(1000s);
  }
  EXPECT_EQ(world.discovery.survey()->fabric->nodes().size(), world.truth().nodes().size() - 1);
}

TEST_F(GentleFullSweepTest, WhoBecomesTheOwnerDoesNotWaitForIt) {
  world.discovery.full(world.sim.now);
  EXPECT_EQ(until_report(100ms), nullptr);
  world.discovery.set_manner(Manner::Owner, world.sim.now);
  const SweepReport* report = until_report(100ms);
  ASSERT_NE(report, nullptr);
  expect_same_graph(*report->survey->fabric, world.truth());
}

TEST_F(GentleFullSweepTest, WhatSomebodyWroteMeanwhileIsAskedAgain) {
  world.discovery.full(world.sim.now);
  EXPECT_EQ(until_report(400ms), nullptr);
  const LinkIndex cut = cable_of(leaf());
  world.sim.fabric.cut(cut, world.ps());
  // The one who wrote knows it.
  auto known = std::make_shared<Survey>(*world.discovery.survey());
  const NodeIndex index = known->fabric->find_node(world.truth().node(leaf()).guid);
  known->nodes[index.raw()].ports[1].info.state = PortState::Down;
  world.discovery.adopt(known);
  const SweepReport* full = until_report(1000s);
  ASSERT_NE(full, nullptr);
  EXPECT_EQ(full->survey->fabric->links().size(), world.truth().links().size() - 1);
}

TEST_F(LightSweepTest, KilledSwitchAndHostAreFound) {
  const NodeIndex spine = world.switch_at(20);
  world.sim.fabric.kill(spine, world.ps());
  const SweepReport& report = world.light();
  EXPECT_EQ(report.survey->fabric->nodes().size(), world.truth().nodes().size() - 1);
  world.sim.fabric.revive(spine, world.ps());
  expect_same_graph(*world.light().survey->fabric, world.truth());
}

TEST_F(LightSweepTest, MuteHostIsLeftOutUntilItAnswersAgain) {
  const NodeIndex host{static_cast<std::uint32_t>(world.truth().nodes().size() - 1)};
  world.sim.fabric.set_agent_faults(host, {.mute_sma = true});
  const SweepReport& report = world.light();
  EXPECT_EQ(report.survey->fabric->find_node(world.truth().node(host).guid), no_node);
  EXPECT_EQ(count(report, ProblemKind::SilentPort), 1U) << texts(report);
  world.sim.fabric.set_agent_faults(host, {});
  const SweepReport& again = world.light();
  expect_same_graph(*again.survey->fabric, world.truth());
  EXPECT_TRUE(again.problems.empty()) << texts(again);
}

TEST_F(LightSweepTest, WhatIsAskedDuringASweepComesAfterIt) {
  const auto before = world.reports.size();
  world.discovery.full(world.sim.now);
  world.discovery.light(world.sim.now);
  world.discovery.full(world.sim.now);
  ASSERT_TRUE(world.sim.run([&] { return world.reports.size() == before + 2; }));
  EXPECT_FALSE(world.discovery.busy());
  EXPECT_EQ(world.reports.back().kind, SweepKind::Full);
}

TEST_F(LightSweepTest, SwitchThatWasSilentIsBackWithTheFirstSweepThatMeetsIt) {
  const NodeIndex spine = world.switch_at(20);
  world.sim.fabric.set_agent_faults(spine, {.mute_sma = true});
  EXPECT_EQ(world.light().survey->fabric->nodes().size(), world.truth().nodes().size() - 1);
  world.sim.fabric.set_agent_faults(spine, {});
  world.discovery.full(world.sim.now);
  expect_same_graph(*world.finish().survey->fabric, world.truth());
}

TEST_F(LightSweepTest, WhatIsAskedWhileHeldComesAfterTheRelease) {
  const auto before = world.reports.size();
  world.discovery.hold();
  world.discovery.full(world.sim.now);
  world.discovery.light(world.sim.now);
  EXPECT_FALSE(world.discovery.busy());
  EXPECT_FALSE(world.sim.run([&] { return world.reports.size() > before; }));
  world.discovery.release(world.sim.now);
  EXPECT_TRUE(world.sim.run([&] { return world.reports.size() > before; }));
  EXPECT_EQ(world.reports.back().kind, SweepKind::Full);
}

TEST_F(LightSweepTest, WaysOverACutLinkAreFoundAnewWithoutAFullSweep) {
  for (std::uint32_t i = 0; i < world.truth().links().size(); ++i) {
    const Link& link = world.truth().link(LinkIndex{i});
    if (world.truth().node(link.a.node).type != NodeType::Switch ||
        world.truth().node(link.b.node).type != NodeType::Switch) {
      continue;
    }
    world.sim.fabric.cut(LinkIndex{i}, world.ps());
    const SweepReport& report = world.light();
    EXPECT_EQ(report.kind, SweepKind::Partial) << "link " << i;
    EXPECT_EQ(report.survey->fabric->links().size(), world.truth().links().size() - 1) << "link " << i;
    EXPECT_EQ(report.survey->fabric->nodes().size(), world.truth().nodes().size()) << "link " << i;
    world.sim.fabric.mend(LinkIndex{i}, world.ps());
    expect_same_graph(*world.light().survey->fabric, world.truth());
  }
}

/// A host with a cable to each of three switches, which are joined to one another.
std::shared_ptr<const Fabric> three_ways() {
  FabricBuilder builder;
  const auto add = [&](NodeType type, std::uint64_t guid) {
    Node node;
    node.type = type;
    node.guid = NodeGuid{guid};
    node.port_count = 3;
    node.description = "node " + std::to_string(guid);
    return *builder.add_node(node);
  };
  const NodeIndex host = add(NodeType::ChannelAdapter, 1);
  const NodeIndex a = add(NodeType::Switch, 11);
  const NodeIndex b = add(NodeType::Switch, 12);
  const NodeIndex c = add(NodeType::Switch, 13);
  const auto join = [&](NodeIndex x, unsigned p, NodeIndex y, unsigned q) {
    (void)builder.add_link({x, PortNum{static_cast<std::uint8_t>(p)}},
                           {y, PortNum{static_cast<std::uint8_t>(q)}}, LinkWidth::X4, LinkSpeed::Hdr);
  };
  join(a, 2, b, 3);
  join(b, 2, c, 3);
  join(c, 2, a, 3);
  join(host, 1, a, 1);
  join(host, 2, b, 1);
  join(host, 3, c, 1);
  return builder.build();
}

// A directed route that begins at another port of the host is sent by nobody (825887577 of the swarm: tables
// of the switch at the other port were not confirmed any more).
TEST(Discovery, WaysThatAreFoundAnewBeginAtTheOwnPort) {
  World world{three_ways(), {}, {.change_bits = ChangeBits::Clear}};
  world.full();
  world.light();
  const LinkEnd to_b{world.truth().find_node(NodeGuid{11}), PortNum{2}};
  world.sim.fabric.cut(world.truth().port(to_b).link, world.ps());
  const SweepReport& report = world.light();
  ASSERT_FALSE(report.failure);
  EXPECT_EQ(report.kind, SweepKind::Partial);
  EXPECT_EQ(report.survey->fabric->nodes().size(), world.truth().nodes().size());
  const PortNum own = report.survey->node(report.survey->local).info.local_port;
  for (const SurveyNode& node : report.survey->nodes) {
    if (node.is_switch()) {
      EXPECT_EQ(node.path.front(), own) << node.guid().raw();
    }
  }
}

/// Beside a subnet manager that resets every change bit before this one looks.
class WatchingSweep : public testing::Test {
 protected:
  void SetUp() override { world.full(); }
  const SweepReport& light_after_the_master() {
    discovery::Discovery master{
        world.sim.engine, {.change_bits = ChangeBits::Clear}, [](const SweepReport&) {}};
    master.full(world.sim.now);
    EXPECT_TRUE(world.sim.run([&] { return !master.busy(); }));
    return world.light();
  }
  World world{"tree:k=3,n=3", {}, {.change_bits = ChangeBits::Leave}};
};

TEST_F(WatchingSweep, NothingChangedCostsOneMadASwitchPortAndHost) {
  std::size_t expected = 1;  // the own port
  for (const Node& node : world.truth().nodes()) {
    expected += node.type == NodeType::Switch ? node.port_count + 1U : 1U;
  }
  const auto before = world.sim.engine.statistics().sent;
  EXPECT_EQ(world.light().kind, SweepKind::Light);
  EXPECT_EQ(world.sim.engine.statistics().sent - before, expected);
}

TEST_F(WatchingSweep, EveryLinkThatIsCutAndMendedIsFound) {
  for (std::uint32_t i = 0; i < world.truth().links().size(); i += 7) {
    const Link& link = world.truth().link(LinkIndex{i});
    const NodeIndex own = world.truth().port(world.sim.port()).node;
    if (link.a.node == own || link.b.node == own) continue;
    world.sim.fabric.cut(LinkIndex{i}, world.ps());
    EXPECT_EQ(light_after_the_master().survey->fabric->links().size(), world.truth().links().size() - 1)
        << "link " << i;
    world.sim.fabric.mend(LinkIndex{i}, world.ps());
    expect_same_graph(*light_after_the_master().survey->fabric, world.truth());
  }
}

TEST_F(WatchingSweep, KilledSwitchIsFound) {
  const NodeIndex spine = world.switch_at(20);
  world.sim.fabric.kill(spine, world.ps());
  EXPECT_EQ(light_after_the_master().survey->fabric->nodes().size(), world.truth().nodes().size() - 1);
  world.sim.fabric.revive(spine, world.ps());
  expect_same_graph(*light_after_the_master().survey->fabric, world.truth());
}

TEST(Discovery, TrapLeadsToThatSwitch) {
  World world{"tree:k=3,n=2", {}, {.change_bits = ChangeBits::Clear}};
  world.full();
  mad::Notice notice;
  notice.trap = 128;
  notice.set_data_lid(Lid{77});  // unknown: a look at everything
  world.discovery.on_notice(notice, world.sim.now);
  EXPECT_EQ(world.finish().kind, SweepKind::Light);
}

TEST(Discovery, TrapsWithoutEndCauseOneSweepAtATime) {
  World world{"tree:k=3,n=3"};
  sim::bring_up(world.sim.fabric);
  world.full();
  const std::size_t before = world.reports.size();
  for (int i = 0; i < 100; ++i) flood_with_traps(world);
  ASSERT_TRUE(world.sim.run([&] { return !world.discovery.busy(); }));
  EXPECT_LE(world.reports.size() - before, 2U) << "one that was under way, and one of what came meanwhile";
}

}  // namespace
}  // namespace heddle::discovery
