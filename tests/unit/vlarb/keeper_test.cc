#include "vlarb/keeper.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "support/managed_world.h"
#include "transport/requests.h"

namespace heddle::vlarb {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view small_tree = "tree:k=2,n=2";

/// What the simulated port is really programmed with.
void expect_programmed(const ManagedWorld& world, LinkEnd end, const qos::Programming& plan) {
  const sim::VlArbitration got = world.sim.fabric.arbitration(world.port(end));
  const auto expect_table = [](const std::array<mad::VlArbBlock::Entry, 64>& has, const qos::ArbTable& want) {
    for (std::size_t i = 0; i < has.size(); ++i) {
      const qos::ArbEntry wanted = i < want.size() ? want[i] : qos::ArbEntry{};
      EXPECT_EQ(has[i].weight, wanted.weight) << i;
      if (wanted.weight != 0) {
        EXPECT_EQ(has[i].vl, wanted.vl) << i;
      }
    }
  };
  expect_table(got.high, plan.tables.high);
  expect_table(got.low, plan.tables.low);
  EXPECT_EQ(world.sim.fabric.port_info(world.port(end)).vl_high_limit, plan.tables.limit.raw());
  for (unsigned sl = 0; sl < qos::sl_count; ++sl) {
    for (unsigned in = 0; in <= world.truth().node(end.node).port_count; ++in) {
      const PortNum input{static_cast<std::uint8_t>(in)};
      if (in != 0 && !world.truth().peer({end.node, input})) continue;
      EXPECT_EQ(world.sim.fabric.vl(end.node, input, end.port, Sl{static_cast<std::uint8_t>(sl)}),
                plan.map.vl[sl]);
    }
  }
}

std::vector<LinkEnd> cabled(const Fabric& fabric) {
  std::vector<LinkEnd> ends;
  for (const Link& link : fabric.links()) {
    ends.push_back(link.a);
    ends.push_back(link.b);
  }
  return ends;
}

TEST(Keeper, APushReachesEveryPortAndIsReadBack) {
  ManagedWorld world{small_tree};
  world.bring_up();
  const Outcome outcome = world.push(for_ports(""));
  EXPECT_FALSE(outcome.report.failure);
  EXPECT_THAT(outcome.report.differ, IsEmpty());
  EXPECT_THAT(outcome.report.silent, IsEmpty());
  EXPECT_THAT(outcome.shortfalls, IsEmpty());
  const auto ends = cabled(world.truth());
  EXPECT_EQ(outcome.report.ports, ends.size());
  EXPECT_EQ(outcome.report.ports_written, ends.size());
  for (const LinkEnd end : ends) expect_programmed(world, end, four_lanes());

  const Outcome verified = world.verify();
  EXPECT_EQ(verified.report.ports, ends.size());
  EXPECT_THAT(world.keeper.drift(), IsEmpty());
  ASSERT_TRUE(world.keeper.verified());

  const Outcome again = world.push(for_ports(""));
  EXPECT_EQ(again.report.ports_written, 0U);
}

TEST(Keeper, NothingButTheLimitOfAPortInfoChanges) {
  ManagedWorld world{small_tree};
  world.bring_up();
  const LinkEnd end = world.truth().links().front().a;
  const mad::PortInfo before = world.sim.fabric.port_info(world.port(end));
  world.push(for_ports(""));
  mad::PortInfo after = world.sim.fabric.port_info(world.port(end));
  EXPECT_EQ(after.vl_high_limit, 7);
  after.vl_high_limit = before.vl_high_limit;
  std::array<std::uint8_t, mad::smp_data_size> a{};
  std::array<std::uint8_t, mad::smp_data_size> b{};
  mad::encode(before, a);
  mad::encode(after, b);
  EXPECT_EQ(a, b);
}

// A PortInfo from the last sweep would undo what happened since.
TEST(Keeper, TheLimitIsSetOnAPortInfoReadRightBefore) {
  ManagedWorld world{small_tree};
  world.bring_up();
  const LinkEnd end = world.truth().links().front().a;
  mad::Bytes smp{};
  mad::PortInfo info = world.sim.fabric.port_info(world.port(end));
  ASSERT_NE(info.hoq_life, 5);
  info.hoq_life = 5;
  info.state = PortState::NoChange;
  info.physical = PhysState::NoChange;
  const bool is_switch = world.truth().node(end.node).type == NodeType::Switch;
  mad::Packet packet = transport::directed_smp({.method = mad::Method::Set,
                                                .attribute = mad::SmAttr::PortInfo,
                                                .modifier = is_switch ? end.port.raw() : 0U},
                                               {});
  mad::encode(info, mad::smp_data(packet.mad));
  smp = packet.mad;
  const PortIndex asked = is_switch ? world.truth().node(end.node).first_port : world.port(end);
  ASSERT_TRUE(world.sim.fabric.ask(asked, smp, world.sim.ps()));
  ASSERT_EQ(world.sim.fabric.port_info(world.port(end)).hoq_life, 5);
  world.push(for_ports(""));
  EXPECT_EQ(world.sim.fabric.port_info(world.port(end)).hoq_life, 5);
  EXPECT_EQ(world.sim.fabric.port_info(world.port(end)).vl_high_limit, 7);
}

TEST(Keeper, ACheckWritesNothingAndSaysWhatWouldBeWritten) {
  ManagedWorld world{small_tree};
  world.bring_up();
  ASSERT_TRUE(world.keeper.check(world.survey, {for_ports("")}, world.sim.now, world.done()));
  const Outcome outcome = world.finish();
  EXPECT_EQ(outcome.report.differ.size(), cabled(world.truth()).size());
  EXPECT_EQ(outcome.report.blocks_written + outcome.report.limits_written + outcome.report.maps_written, 0U);
  EXPECT_EQ(world.sim.fabric.port_info(world.port(world.truth().links().front().a)).vl_high_limit, 0);
  EXPECT_THAT(world.keeper.drift(), IsEmpty());
}

TEST(Keeper, AFilterLeavesOtherPortsAlone) {
  ManagedWorld world{small_tree};
  world.bring_up();
  const Outcome outcome = world.push(for_ports("ca"));
  std::size_t hosts = 0;
  for (const LinkEnd end : cabled(world.truth())) {
    const bool host = world.truth().node(end.node).type == NodeType::ChannelAdapter;
    hosts += host ? 1 : 0;
    EXPECT_EQ(world.sim.fabric.port_info(world.port(end)).vl_high_limit, host ? 7 : 0);
  }
  EXPECT_EQ(outcome.report.ports, hosts);
}

TEST(Keeper, TheLastAssignmentThatNamesAPortHolds) {
  ManagedWorld world{small_tree};
  world.bring_up();
  world.push(for_ports(""));
  qos::Programming other = four_lanes();
  other.tables.limit = qos::HighLimit{3};
  world.push(for_ports("switch", other));
  EXPECT_EQ(world.keeper.assignments().size(), 2U);
  world.verify();
  EXPECT_THAT(world.keeper.drift(), IsEmpty());
  world.push(for_ports("", other));
  EXPECT_EQ(world.keeper.assignments().size(), 1U);
}

TEST(Keeper, ChangesBehindItsBackAreDriftByPort) {
  ManagedWorld world{small_tree};
  world.bring_up();
  world.push(for_ports(""));
  const LinkEnd end{world.first(NodeType::Switch), PortNum{1}};
  mad::Packet packet = transport::directed_smp({.method = mad::Method::Set,
                                                .attribute = mad::SmAttr::VlArbitration,
                                                .modifier = 4U << 16U | end.port.raw()},
                                               {});
  mad::VlArbBlock block;
  block.entries[2] = {Vl{1}, 9};
  mad::encode(block, mad::smp_data(packet.mad));
  ASSERT_TRUE(world.sim.fabric.ask(world.truth().node(end.node).first_port, packet.mad, world.sim.ps()));
  world.verify();
  ASSERT_EQ(world.keeper.drift().size(), 1U);
  const auto& [port, text] = *world.keeper.drift().begin();
  EXPECT_EQ(port, (PortRef{world.truth().node(end.node).guid, end.port}));
  EXPECT_THAT(text, HasSubstr("high entry 32: VL0 weight 0 in place of VL2 weight 192 (and 7 more)"));
  world.push(for_ports(""));
  EXPECT_THAT(world.keeper.drift(), IsEmpty());
}

TEST(Keeper, ASilentSwitchIsReportedAndHoldsUpNobody) {
  ManagedWorld world{small_tree};
  world.bring_up();
  const NodeIndex mute = world.first(NodeType::Switch);
  world.sim.fabric.set_agent_faults(mute, {.mute_sma = true});
  const Outcome outcome = world.push(for_ports(""));
  EXPECT_THAT(outcome.report.differ, IsEmpty());
  ASSERT_FALSE(outcome.report.silent.empty());
  const NodeGuid guid = world.truth().node(mute).guid;
  EXPECT_TRUE(std::ranges::any_of(outcome.report.silent,
                                  [guid](const Finding& finding) { return finding.port.node == guid; }));
  world.sim.fabric.set_agent_faults(mute, {});
  world.sim.now += 60s;
  const Outcome again = world.push(for_ports(""));
  EXPECT_THAT(again.report.silent, IsEmpty());
  EXPECT_GT(again.report.ports_written, 0U);
}

TEST(Keeper, LostMadsAreSentAgain) {
  ManagedWorld world{small_tree};
  world.bring_up();
  sim::MadFaults faults;
  faults.lost = Ratio{0.1};
  world.sim.fabric.set_mad_faults(faults);
  const Outcome outcome = world.push(for_ports(""));
  EXPECT_THAT(outcome.report.differ, IsEmpty());
  world.sim.fabric.set_mad_faults({});
  world.sim.now += 60s;
  world.verify();
  // Where only the answer was lost, the tables are there all the same.
  EXPECT_LE(world.keeper.drift().size(), outcome.report.silent.size());
}

TEST(Keeper, PortsThatTheManagerBringsBackGetTheirTablesBack) {
  ManagedWorld world{small_tree};
  world.bring_up();
  world.push(for_ports(""));
  ASSERT_TRUE(world.keeper.reapply(world.survey, world.sim.now, {}));  // all came up before the push
  world.finish();
  // A host is restarted: its link goes down, its tables are gone.
  NodeIndex host = no_node;
  for (std::uint32_t i = 0; i < world.truth().nodes().size(); ++i) {
    if (world.truth().nodes()[i].type == NodeType::ChannelAdapter) host = NodeIndex{i};
  }
  const NodeGuid guid = world.truth().node(host).guid;
  const auto there = [guid](const Survey& survey) {
    const NodeIndex node = survey.fabric->find_node(guid);
    return node != no_node && survey.port({node, PortNum{1}}).info.state == PortState::Active;
  };
  world.sim.fabric.kill(host, world.sim.ps());
  world.sweep_until([&](const Survey& survey) { return !there(survey); });
  world.sim.fabric.revive(host, world.sim.ps());
  world.sweep_until(there);
  const LinkEnd end{host, PortNum{1}};
  EXPECT_EQ(world.sim.fabric.port_info(world.port(end)).vl_high_limit, 0);
  ASSERT_TRUE(world.keeper.reapply(world.survey, world.sim.now, world.done()));
  const Outcome outcome = world.finish();
  EXPECT_THAT(outcome.report.differ, IsEmpty());
  EXPECT_LT(outcome.report.ports, cabled(world.truth()).size());
  expect_programmed(world, end, four_lanes());
  EXPECT_GT(world.keeper.reapplied(), 0U);
  // Nobody came back: nothing to do, nobody is called.
  const auto calls = world.outcomes.size();
  ASSERT_TRUE(world.keeper.reapply(world.survey, world.sim.now, world.done()));
  EXPECT_FALSE(world.keeper.busy());
  EXPECT_EQ(world.outcomes.size(), calls);
}

TEST(Keeper, PortsWithLessGetTheBestThatFitsAndAreListed) {
  sim::Options options;
  options.traits.arbitration_cap = 8;
  options.traits.data_vls = 2;
  ManagedWorld world{small_tree, options};
  world.bring_up();
  const Outcome outcome = world.push(for_ports(""));
  EXPECT_THAT(outcome.report.differ, IsEmpty());
  ASSERT_FALSE(outcome.shortfalls.empty());
  std::size_t listed = 0;
  for (const Shortfall& shortfall : outcome.shortfalls) {
    EXPECT_FALSE(shortfall.losses.empty());
    EXPECT_FALSE(shortfall.reason.empty());
    listed += shortfall.ports.size();
  }
  EXPECT_EQ(listed, cabled(world.truth()).size());
  world.verify();
  EXPECT_THAT(world.keeper.drift(), IsEmpty());
  EXPECT_EQ(world.keeper.shortfalls().size(), outcome.shortfalls.size());
}

TEST(Keeper, APortOfOneVlHasNothingToShare) {
  sim::Options options;
  options.traits.data_vls = 1;
  ManagedWorld world{small_tree, options};
  world.bring_up();
  const Outcome outcome = world.push(for_ports(""));
  EXPECT_EQ(outcome.report.ports, 0U);
  ASSERT_EQ(outcome.shortfalls.size(), 1U);
  EXPECT_THAT(outcome.shortfalls[0].reason, HasSubstr("one data VL"));
  EXPECT_EQ(outcome.shortfalls[0].ports.size(), cabled(world.truth()).size());
}

TEST(Keeper, StoppingEndsAnOrder) {
  ManagedWorld world{small_tree};
  world.bring_up();
  ASSERT_TRUE(world.keeper.write(world.survey, {for_ports("")}, world.sim.now, world.done()));
  world.sim.engine.stop(world.sim.now);
  ASSERT_EQ(world.outcomes.size(), 1U);
  EXPECT_TRUE(world.outcomes[0].report.failure);
  EXPECT_FALSE(world.keeper.busy());
}

/// Begins a push and lets so many of its MADs out. False if it ended before.
bool push_until(ManagedWorld& world, std::uint64_t mads) {
  const auto sent = world.sim.engine.statistics().sent;
  EXPECT_TRUE(world.keeper.write(world.survey, {for_ports("")}, world.sim.now, world.done()));
  world.sim.run([&] { return !world.outcomes.empty() || world.sim.engine.statistics().sent >= sent + mads; });
  return world.outcomes.empty();
}

/// One MAD at a time, so that every step is a place to fail.
struct StepByStep : ManagedWorld {
  StepByStep() : ManagedWorld{"tree:k=2,n=1", latency(), {.window = 1, .least_window = 1, .per_agent = 1}} {
    bring_up();
    EXPECT_TRUE(keeper.assign(for_ports("")));
  }
  static sim::Options latency() {
    sim::Options options;
    options.mad_latency = Picoseconds{1'000'000};
    return options;
  }
};

TEST(Keeper, WhereverAgentsFallSilentItIsReportedAndTheNextPushRepairsIt) {
  std::uint64_t steps = 0;
  for (;; ++steps) {
    StepByStep world;
    if (!push_until(world, steps + 1)) break;
    const auto everywhere = [&](const sim::AgentFaults& faults) {
      for (std::uint32_t i = 0; i < world.truth().nodes().size(); ++i)
        world.sim.fabric.set_agent_faults(NodeIndex{i}, faults);
    };
    everywhere({.mute_sma = true});
    const Outcome outcome = world.finish();
    ASSERT_EQ(world.outcomes.size(), 1U) << steps;
    EXPECT_FALSE(outcome.report.silent.empty()) << steps;
    everywhere({});
    world.sim.now += 600s;
    const Outcome repaired = world.push(for_ports(""));
    EXPECT_THAT(repaired.report.silent, IsEmpty()) << steps;
    EXPECT_THAT(repaired.report.differ, IsEmpty()) << steps;
    for (const LinkEnd end : cabled(world.truth())) expect_programmed(world, end, four_lanes());
  }
  EXPECT_GT(steps, 20U);
}

TEST(Keeper, WhereverItIsStoppedAnOrderEnds) {
  std::uint64_t steps = 0;
  for (;; ++steps) {
    StepByStep world;
    if (!push_until(world, steps + 1)) break;
    world.sim.engine.stop(world.sim.now);
    ASSERT_EQ(world.outcomes.size(), 1U) << steps;
    EXPECT_TRUE(world.outcomes[0].report.failure) << steps;
    EXPECT_FALSE(world.keeper.busy()) << steps;
    // What arrives later is nobody's.
    world.sim.fabric.advance(world.sim.ps() + Picoseconds{1'000'000'000});
    EXPECT_EQ(world.outcomes.size(), 1U) << steps;
  }
  EXPECT_GT(steps, 20U);
}

TEST(Keeper, OrdersAreCarriedOutInTurn) {
  ManagedWorld world{small_tree};
  world.bring_up();
  ASSERT_TRUE(world.keeper.assign(for_ports("")));
  for (std::size_t i = 0; i < 3; ++i)
    ASSERT_TRUE(world.keeper.write(world.survey, {for_ports("")}, world.sim.now, world.done()));
  ASSERT_TRUE(world.sim.run([&] { return world.outcomes.size() == 3; }));
  EXPECT_GT(world.outcomes[0].report.ports_written, 0U);
  EXPECT_EQ(world.outcomes[1].report.ports_written, 0U);
  EXPECT_FALSE(world.keeper.busy());
}

TEST(Keeper, TooManyOrdersAndAssignmentsAreRefused) {
  ManagedWorld world{small_tree};
  world.bring_up();
  ASSERT_TRUE(world.keeper.assign(for_ports("")));
  std::size_t taken = 0;
  while (taken < 100 && world.keeper.verify(world.survey, world.sim.now, world.done())) ++taken;
  EXPECT_EQ(taken, Keeper::most_orders + 1);
  for (std::size_t i = 1; i < Keeper::most_assignments; ++i)
    ASSERT_TRUE(world.keeper.assign(for_ports("node-" + std::to_string(i))));
  const auto more = world.keeper.assign(for_ports("node-x"));
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, ErrorCode::Refused);
  EXPECT_TRUE(world.keeper.assign(for_ports("node-3")));
  EXPECT_TRUE(world.keeper.assign(for_ports("")));
}

/// A port was awaited for good for each name that a node gave itself.
TEST(Keeper, WhatIsGoneIsNotAwaited) {
  ManagedWorld world{small_tree};
  world.discovery.full(world.sim.now);
  ASSERT_TRUE(world.sim.run([&] { return world.keeper.awaited() > 0; }));
  Survey without;
  without.fabric = FabricBuilder{}.build();
  world.keeper.note(without);
  EXPECT_EQ(world.keeper.awaited(), 0U);
}

/// Beside another subnet manager.
class GuestsKeeper : public testing::Test {
 protected:
  static constexpr std::uint32_t pace = 1000;

  void SetUp() override {
    world_.bring_up();
    ASSERT_TRUE(keeper_.assign(for_ports("")));
    world_.sim.next_deadline = [this] { return keeper_.next_deadline(); };
    world_.sim.on_timer = [this](Instant now) { keeper_.on_timer(now); };
    world_.sim.receive_with([this](const mad::Packet& packet, Instant at) {
      const bool lost = packet.address.slid == unreachable_ && unreachable_ != no_lid;
      if (lost && mad::read_header(packet.mad).mgmt_class == mad::MgmtClass::SubnLid) return;
      (mad::read_header(packet.mad).mgmt_class == mad::MgmtClass::SubnLid ? by_lid_ : by_route_) += 1;
      most_pending_ = std::max(most_pending_, world_.sim.engine.pending());
      world_.sim.engine.on_packet(packet, at);
    });
  }
  Outcome verify() {
    std::optional<Outcome> outcome;
    const Instant begun = world_.sim.now;
    EXPECT_TRUE(keeper_.verify(world_.survey, begun, [&](const Outcome& said) { outcome = said; }));
    EXPECT_TRUE(world_.sim.run([&] { return outcome.has_value(); }, 1000s));
    took_ = seconds(world_.sim.now - begun);
    return outcome.value_or(Outcome{});
  }

  ManagedWorld world_{small_tree};
  transport::Pace pace_{pace};
  Keeper keeper_{world_.sim.engine, 0, [](const Node& node) { return node.description; },
                 [this] { return paced_ ? &pace_ : nullptr; }};
  bool paced_ = true;
  Lid unreachable_;  ///< what is sent to it is lost
  double took_ = 0;
  std::size_t by_lid_ = 0;
  std::size_t by_route_ = 0;
  std::size_t most_pending_ = 0;
};

/// 512 ports at once, as fast as the window of the engine lets them.
TEST_F(GuestsKeeper, ComparesAtThePaceByLidAFewAtATime) {
  const Outcome slow = verify();
  EXPECT_EQ(slow.report.ports, cabled(world_.truth()).size());
  EXPECT_THAT(slow.report.silent, IsEmpty());
  EXPECT_EQ(slow.report.differ.size(), slow.report.ports) << "nothing was pushed";
  EXPECT_EQ(by_route_, 0U);
  EXPECT_GT(by_lid_, slow.report.ports);
  EXPECT_GE(took_, static_cast<double>(by_lid_ - 16) / pace);
  EXPECT_LE(took_, static_cast<double>(by_lid_ + 100) / pace);
  EXPECT_LE(most_pending_, transport::Pace::most_asked);

  const std::size_t asked = by_lid_;
  paced_ = false;
  const Outcome fast = verify();
  EXPECT_EQ(fast.report.differ.size(), slow.report.differ.size());
  EXPECT_EQ(by_lid_, asked);
  EXPECT_EQ(by_route_, asked) << "whoever owns the fabric asks as much, by route";
}

TEST_F(GuestsKeeper, AsksByRouteWhereTheTablesLeadNowhere) {
  unreachable_ = world_.survey->node(world_.first(NodeType::Switch)).ports[0].info.lid;
  const Outcome outcome = verify();
  EXPECT_THAT(outcome.report.silent, IsEmpty());
  EXPECT_EQ(outcome.report.differ.size(), outcome.report.ports);
  EXPECT_GT(by_route_, 0U);
}

TEST_F(GuestsKeeper, WhoeverIsSilentHoldsNobodyElseUp) {
  const NodeIndex mute = world_.first(NodeType::Switch);
  world_.sim.fabric.set_agent_faults(mute, {.mute_sma = true});
  const Outcome outcome = verify();
  const auto its =
      std::ranges::count_if(cabled(world_.truth()), [&](LinkEnd end) { return end.node == mute; });
  EXPECT_EQ(outcome.report.silent.size(), static_cast<std::size_t>(its));
  EXPECT_EQ(outcome.report.differ.size() + outcome.report.silent.size(), outcome.report.ports);
}

}  // namespace
}  // namespace heddle::vlarb
