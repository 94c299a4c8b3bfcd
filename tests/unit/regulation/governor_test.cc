#include "regulation/governor.h"

#include <gtest/gtest.h>

#include "unit/regulation/governor_world.h"

namespace heddle::regulation {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing_support::World;

const char* const torus = "torus:3x3,hosts=1,links=4,speed=DDR,ports=24";

template <class T>
const T* find(const std::vector<Action>& actions) {
  for (const Action& action : actions) {
    if (const T* found = std::get_if<T>(&action)) return found;
  }
  return nullptr;
}

class GovernorTest : public testing::Test {
 protected:
  World world{torus};

  LinkIndex some_link(std::size_t n = 0) const { return world.network->trunks()[n].links.front(); }
  LinkIndex off_link() const {
    for (std::uint32_t i = 0; i < world.fabric->links().size(); ++i) {
      if (!world.up.contains(LinkIndex{i})) return LinkIndex{i};
    }
    return no_link;
  }
  /// Idle until everything that can be off is off.
  void settle_idle() {
    world.start();
    world.shift_traffic(1, 0.05);
    world.run(minutes{30});
  }
};

TEST_F(GovernorTest, QuietTrunksKeepOneLinkEach) {
  settle_idle();
  EXPECT_EQ(world.off(), 3 * world.network->trunks().size());
  world.expect_settled();
}

// Else a plan would wait for days until they had been off for long enough to come back.
TEST_F(GovernorTest, WhatWentOffByACalendarThatWasSetBackIsPastAllTheSame) {
  settle_idle();
  ASSERT_GT(world.off(), 0U);
  for (auto& [link, off] : world.journal.off) off.since += std::chrono::hours{24};
  world.restart();
  for (const OffRecord& off : world.governor.off_links()) ASSERT_LE(off.since, world.now);
  EXPECT_EQ(world.governor.off_links().size(), world.off());
}

// A switch that is known to be silent fails an order in the instant in which it is given.
TEST_F(GovernorTest, WhatAnOperatorWantsOffIsNotTriedAgainAtOnce) {
  using testing_support::Answering;
  using testing_support::Effect;
  world.start();
  std::size_t failed = 0;
  bool is_silent = true;
  world.fate = [&](std::size_t /*step*/) {
    const bool mends = world.governor.stage() == Stage::Mending;
    if (mends || !is_silent || failed == 100) return std::pair{Answering::Done, Effect::Taken};
    ++failed;
    return std::pair{Answering::Failed, Effect::None};
  };
  world.tell(SetOverride{world.ref(some_link()), {Wish::Off, "cable swap", "ada", {}}, Force::No, {}});
  EXPECT_EQ(failed, world.options.retries + 1);
  is_silent = false;
  world.run(std::chrono::duration_cast<seconds>(world.options.retry_after) + seconds{5});
  EXPECT_EQ(world.off(), 1U);
  world.expect_settled();
}

TEST_F(GovernorTest, SlowlyAndOnlySoManyAtATime) {
  world.start();
  world.shift_traffic(1, 0.05);
  world.run(seconds{55});
  EXPECT_EQ(world.off(), 0U);
  world.run(seconds{40});
  EXPECT_EQ(world.off(), world.options.first_closing);
}

// A site with thousands of links would need a day for what one choice says.
TEST_F(GovernorTest, TwiceAsManyAfterEachChoiceThatWasRight) {
  world.start();
  world.shift_traffic(1, 0.05);
  world.run(seconds{95});
  ASSERT_EQ(world.off(), world.options.first_closing);
  world.run(seconds{80});
  EXPECT_EQ(world.off(), 3 * world.options.first_closing);
  world.expect_settled();
}

TEST_F(GovernorTest, NeverMoreAtATimeThanIsConfigured) {
  GovernorOptions options = World::default_options();
  options.most_closing = 20;
  World slow{torus, options};
  slow.start();
  slow.shift_traffic(1, 0.05);
  slow.run(seconds{175});
  EXPECT_EQ(slow.off(), options.first_closing + options.most_closing);
}

// Where there are no trunks all that leaves leaves by estimates. One that has held was right: if others send
// later, and as much, there is no reason to wait.
TEST_F(GovernorTest, OtherTrafficIsNotAWrongChoice) {
  GovernorOptions options = World::default_options();
  options.select.policy = SelectPolicy::General;
  World open{"torus:4x4,hosts=1,links=1", options};
  open.start();
  open.shift_traffic(1, 0.25);
  open.run(minutes{30});
  const std::size_t before = open.off();
  ASSERT_GT(before, 0U);
  open.shift_traffic(6, 0.25);
  std::size_t needed = before;
  for (int i = 0; i < 12; ++i) {
    open.run(seconds{10});
    needed = std::min(needed, open.off());
  }
  ASSERT_LT(needed, before);
  EXPECT_GT(open.off(), needed);
  open.expect_settled();
}

TEST_F(GovernorTest, AdviceTouchesNothing) {
  GovernorOptions options = World::default_options();
  options.mode = Mode::Advise;
  World other{torus, options};
  other.start();
  other.shift_traffic(1, 0.05);
  other.run(minutes{10});
  EXPECT_EQ(other.off(), 0U);
  EXPECT_EQ(other.steps, 0U);
  EXPECT_TRUE(other.reported(ReportKind::Advice));
  ASSERT_TRUE(other.governor.plan());
  EXPECT_FALSE(other.governor.plan()->off.empty());
  EXPECT_LT(other.governor.plan()->watts_then, other.governor.plan()->watts_now);
}

// Stage by stage: plane B, migration, plane A, drain, ports; each only when the one before is confirmed.
TEST_F(GovernorTest, AChangeGoesThroughItsStagesInOrder) {
  world.start();
  world.shift_traffic(1, 0.05);
  world.run(seconds{50});
  world.hold = true;
  std::vector<Action> actions;
  while (world.governor.stage() == Stage::Idle) {
    world.now += seconds{10};
    actions = world.governor.on({world.now, LoadsMeasured{world.sample()}});
  }
  ASSERT_TRUE(std::holds_alternative<Record>(actions.front()));
  const auto* write = find<WriteTables>(actions);
  ASSERT_NE(write, nullptr);
  EXPECT_EQ(write->plane, 1U);
  EXPECT_EQ(write->writing, Writing::Unused);
  EXPECT_EQ(find<SetPorts>(actions), nullptr);

  actions = world.governor.on({world.now, StepDone{write->step}});
  const auto* migrate = find<Migrate>(actions);
  ASSERT_NE(migrate, nullptr);
  EXPECT_EQ(migrate->plane, 1U);

  actions = world.governor.on({world.now, StepDone{migrate->step}});
  EXPECT_TRUE(actions.empty());  // packets are still on their way in plane 0
  EXPECT_EQ(world.governor.next_deadline(), world.now + world.options.drain);
  world.now += world.options.drain;
  actions = world.governor.on({world.now, Tick{}});
  write = find<WriteTables>(actions);
  ASSERT_NE(write, nullptr);
  EXPECT_EQ(write->plane, 0U);

  actions = world.governor.on({world.now, StepDone{write->step}});
  EXPECT_EQ(find<SetPorts>(actions), nullptr);
  EXPECT_EQ(world.governor.stage(), Stage::Draining);
  world.now += world.options.drain;
  actions = world.governor.on({world.now, Tick{}});
  const auto* ports = find<SetPorts>(actions);
  ASSERT_NE(ports, nullptr);
  EXPECT_EQ(ports->ports.size(), world.options.first_closing);

  actions = world.governor.on({world.now, StepDone{ports->step}});
  EXPECT_EQ(world.governor.stage(), Stage::Idle);
  EXPECT_EQ(world.governor.off_links().size(), world.options.first_closing);
}

TEST_F(GovernorTest, RisingLoadBringsAllNeededBackInOneStep) {
  GovernorOptions options = World::default_options();
  options.most_closing = 8;
  World slow{torus, options};
  slow.start();
  slow.shift_traffic(1, 0.05);
  slow.run(minutes{30});
  slow.transitions = 0;
  slow.shift_traffic(4, 0.9);
  slow.hold = true;
  const auto actions = slow.governor.on({slow.now, LoadsMeasured{slow.sample()}});
  const auto* ports = find<SetPorts>(actions);
  ASSERT_NE(ports, nullptr);
  EXPECT_GT(ports->ports.size(), options.most_closing);
  for (const PortOrder& order : ports->ports) EXPECT_TRUE(order.mode.on());
  ASSERT_TRUE(std::holds_alternative<Record>(actions.front()));
}

TEST_F(GovernorTest, GrowingXmitWaitCountsAsLoad) {
  settle_idle();
  auto sample = std::make_shared<load::Sample>(*world.sample());
  const LinkIndex on = [&] {
    for (const LinkIndex link : world.network->trunks()[0].links) {
      if (world.up.contains(link)) return link;
    }
    return no_link;
  }();
  sample->ports[world.fabric->port_index(world.fabric->link(on).a).raw()].congestion = 0.5F;
  const auto actions = world.governor.on({world.now, LoadsMeasured{sample}});
  const auto* ports = find<SetPorts>(actions);
  ASSERT_NE(ports, nullptr);
  EXPECT_FALSE(ports->ports.empty());
}

/// One cable between neighbours. All send a little, and a host one up from which there are others sends its
/// neighbour more than their cable carries.
class FullLinkTest : public testing::Test {
 protected:
  FullLinkTest() {
    world.start();
    world.shift_traffic(1, 0.05);
    world.flows.push_back({4, 1, 1.3 * world.network->capacity(LinkIndex{0})});
    world.run(minutes{30});
  }
  static GovernorOptions general() {
    GovernorOptions options = World::default_options();
    options.select.policy = SelectPolicy::General;
    return options;
  }
  World world{"torus:3x3,hosts=1,links=1,speed=DDR,ports=24", general()};
};

// No other link takes any of it: its waiting is no reason to keep those on that are idle.
TEST_F(FullLinkTest, ThatIsSoWithAllLinksOnHoldsUpNoOther) {
  EXPECT_GE(world.off(), 9U);
  EXPECT_FALSE(world.reported(ReportKind::CalledOff));
  world.expect_settled();
}

TEST_F(FullLinkTest, HostsThatSendMoreCountAllTheSame) {
  const std::size_t off = world.off();
  world.shift_traffic(4, 0.9);
  world.run(minutes{1});
  EXPECT_LT(world.off(), off);
}

TEST_F(GovernorTest, TrafficDuringTheDrainCallsItOff) {
  world.start();
  world.shift_traffic(1, 0.05);
  while (world.governor.stage() != Stage::Draining) world.run(seconds{1});
  world.shift_traffic(4, 0.95);
  world.tell(LoadsMeasured{world.sample()});
  EXPECT_TRUE(world.reported(ReportKind::CalledOff));
  world.run(seconds{20});
  EXPECT_EQ(world.off(), 0U);
  world.expect_settled();
}

// Load that swings faster than the least times moves less and less: each link that came back must rest
// longer.
TEST_F(GovernorTest, OscillatingLoadMovesLessAndLess) {
  std::size_t first_half = 0;
  world.start();
  for (int i = 0; i < 120; ++i) {
    world.shift_traffic(4, i % 2 == 0 ? 0.05 : 0.9);
    world.run(seconds{30});
    if (i == 59) first_half = world.transitions;
  }
  EXPECT_LT(world.transitions - first_half, first_half / 2);
  world.expect_settled();
}

TEST_F(GovernorTest, ALinkThatComesBackTooSoonStaysOnLonger) {
  settle_idle();
  std::vector<std::size_t> transitions;
  for (int i = 0; i < 6; ++i) {
    world.transitions = 0;
    world.shift_traffic(4, 0.9);
    world.run(seconds{60});
    world.shift_traffic(1, 0.05);
    world.run(seconds{100});
    transitions.push_back(world.transitions);
  }
  EXPECT_LT(transitions.back(), transitions.front());
}

TEST_F(GovernorTest, ModeAdviseBringsEverythingBack) {
  settle_idle();
  ASSERT_GT(world.off(), 0U);
  world.tell(SetMode{Mode::Advise, "ada", CommandId{1}});
  world.run(seconds{30});
  EXPECT_EQ(world.off(), 0U);
  EXPECT_EQ(world.journal.mode, Mode::Advise);
  world.expect_settled();
}

/// The same fabric with one description for all switches, of the kind that a stranger may set.
std::shared_ptr<const Fabric> called_alike(const Fabric& fabric, const std::string& description) {
  FabricBuilder builder;
  for (Node node : fabric.nodes()) {
    if (node.type == NodeType::Switch) node.description = description;
    const auto index = builder.add_node(node);
    for (unsigned p = 0; p <= node.port_count; ++p) {
      (void)builder.set_port(*index, fabric.port(PortIndex{node.first_port.raw() + p}));
    }
  }
  for (const Link& link : fabric.links()) (void)builder.add_link(link.a, link.b, link.width, link.speed);
  return builder.build();
}

TEST(GovernorNames, AreFitToPrintAndTellSwitchesApart) {
  World world{called_alike(**assign_lids(**generate(torus), 1), "chip\x1b[2J\xff")};
  world.start();
  world.shift_traffic(4, 0.5);
  const LinkIndex link = world.network->trunks()[0].links.front();
  world.tell(SetOverride{world.ref(link), {Wish::Off, "cable swap", "ada", {}}, Force::No, CommandId{1}});
  ASSERT_EQ(world.answers.size(), 1U);
  const std::string& text = world.answers[0].text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
  EXPECT_EQ(text.find('\xff'), std::string::npos) << text;
  EXPECT_NE(text.find("chip?[2J?#"), std::string::npos) << text;
  for (const Report& report : world.reports) {
    EXPECT_EQ(report.reason.find_first_of("\x1b\xff"), std::string::npos) << report.reason;
  }
}

TEST_F(GovernorTest, AnOperatorTurnsALinkOffAndItStaysOff) {
  world.start();
  world.shift_traffic(4, 0.5);
  world.tell(
      SetOverride{world.ref(some_link()), {Wish::Off, "cable swap", "ada", {}}, Force::No, CommandId{7}});
  ASSERT_EQ(world.answers.size(), 1U);
  EXPECT_FALSE(world.answers[0].refusal);
  world.run(minutes{5});
  EXPECT_FALSE(world.up.contains(some_link()));
  EXPECT_EQ(world.journal.off.at(world.ref(some_link())).cause, Cause::Operator);
  EXPECT_EQ(world.governor.withheld(), std::vector{world.ref(some_link())});
  world.tell(SetMode{Mode::Advise, "bob", {}});
  world.run(minutes{1});
  EXPECT_FALSE(world.up.contains(some_link()));
  // Another operator: the last word counts, and the answer says what it replaces.
  world.tell(SetOverride{world.ref(some_link()), {Wish::On, "done", "bob", {}}, Force::No, CommandId{8}});
  EXPECT_NE(world.answers.back().text.find("in place of off"), std::string::npos);
  EXPECT_TRUE(world.governor.withheld().empty());
  world.run(minutes{1});
  EXPECT_TRUE(world.up.contains(some_link()));
  world.expect_settled();
}

// It was called off because of the load, and decided again, as long as there was load.
TEST_F(GovernorTest, AnOperatorTurnsALinkOffUnderLoad) {
  World full{"mesh:3,hosts=2,links=2"};
  full.start();
  full.shift_traffic(2, 0.95);
  full.run(minutes{1});
  const LinkIndex link = full.network->trunks()[0].links[0];
  full.tell(SetOverride{full.ref(link), {Wish::Off, "", "ada", {}}, Force::No, {}});
  ASSERT_FALSE(full.answers.back().refusal);
  while (full.governor.stage() != Stage::Draining) full.run(seconds{1});
  full.tell(LoadsMeasured{full.sample()});
  full.run(minutes{1});
  EXPECT_FALSE(full.up.contains(link));
  EXPECT_FALSE(full.reported(ReportKind::CalledOff));
  full.expect_settled();
}

TEST_F(GovernorTest, AnOverrideExpires) {
  world.start();
  world.tell(
      SetOverride{world.ref(some_link()), {Wish::Off, "", "ada", world.now + seconds{100}}, Force::No, {}});
  world.run(seconds{90});
  EXPECT_FALSE(world.up.contains(some_link()));
  world.run(seconds{60});
  EXPECT_TRUE(world.up.contains(some_link()));
  EXPECT_TRUE(world.journal.overrides.empty());
}

TEST_F(GovernorTest, PinsAreKept) {
  world.start();
  for (const Trunk& trunk : world.network->trunks()) {
    for (const LinkIndex link : trunk.links)
      world.tell(SetOverride{world.ref(link), {Wish::Pin, "", "ada", {}}, Force::No, {}});
  }
  world.shift_traffic(1, 0.05);
  world.run(minutes{10});
  EXPECT_EQ(world.off(), 0U);
}

TEST_F(GovernorTest, OnlyForceCutsHostsOffAndTheyAreNamed) {
  World chain{"mesh:3,hosts=2,links=1"};
  chain.start();
  const LinkIndex bridge = chain.network->trunks()[0].links.front();
  chain.tell(SetOverride{chain.ref(bridge), {Wish::Off, "", "ada", {}}, Force::No, CommandId{1}});
  ASSERT_TRUE(chain.answers.back().refusal);
  EXPECT_EQ(chain.answers.back().refusal->code, ErrorCode::Refused);
  EXPECT_NE(chain.answers.back().refusal->message.find("host"), std::string::npos);
  EXPECT_EQ(chain.off(), 0U);
  chain.enforce_rules = false;
  chain.tell(SetOverride{chain.ref(bridge), {Wish::Off, "", "ada", {}}, Force::CutHostsOff, CommandId{2}});
  EXPECT_FALSE(chain.answers.back().refusal);
  chain.run(seconds{30});
  EXPECT_FALSE(chain.up.contains(bridge));
}

// Two links between each pair: the operator's link needs the other, which regulation has turned off.
TEST_F(GovernorTest, WhatStandsInAnOperatorsWayComesBackFirst) {
  World pair{"mesh:3,hosts=1,links=2"};
  pair.start();
  pair.shift_traffic(1, 0.02);
  pair.run(minutes{10});
  ASSERT_EQ(pair.off(), 2U);
  const auto& links = pair.network->trunks()[0].links;
  const LinkIndex on = pair.up.contains(links[0]) ? links[0] : links[1];
  const LinkIndex other = on == links[0] ? links[1] : links[0];
  pair.tell(SetOverride{pair.ref(on), {Wish::Off, "", "ada", {}}, Force::No, {}});
  EXPECT_FALSE(pair.answers.back().refusal);
  pair.run(minutes{2});
  EXPECT_FALSE(pair.up.contains(on));
  EXPECT_TRUE(pair.up.contains(other));
  pair.expect_settled();
}

TEST_F(GovernorTest, TroubledLinksAreLeftOnAndReported) {
  world.start();
  for (const LinkIndex link : world.network->trunks()[0].links)
    world.tell(LinkTroubled{world.ref(link), {Trouble::Errors, "12 symbol errors a minute"}});
  EXPECT_TRUE(world.reported(ReportKind::Excluded));
  world.shift_traffic(1, 0.05);
  world.run(minutes{30});
  for (const LinkIndex link : world.network->trunks()[0].links) EXPECT_TRUE(world.up.contains(link));
  EXPECT_GT(world.off(), 0U);
}

TEST_F(GovernorTest, ALinkThatBreaksIsRoutedAroundAtOnce) {
  settle_idle();
  const LinkIndex last = [&] {
    for (const LinkIndex link : world.network->trunks()[0].links) {
      if (world.up.contains(link)) return link;
    }
    return no_link;
  }();
  world.break_link(last);
  EXPECT_FALSE(world.tables[0].contains(last));
  EXPECT_FALSE(world.tables[1].contains(last));
  world.run(minutes{2});
  const auto rule = broken_rule(*world.network, world.tables[world.plane]);
  EXPECT_FALSE(rule) << *rule;
  world.expect_settled();
}

TEST_F(GovernorTest, ALinkBreaksWhileAnotherDrains) {
  world.start();
  world.shift_traffic(1, 0.05);
  while (world.governor.stage() != Stage::Draining) world.run(seconds{1});
  world.break_link(some_link(3));
  world.run(minutes{1});
  world.expect_settled();
  EXPECT_FALSE(broken_rule(*world.network, world.tables[world.plane]));
}

TEST_F(GovernorTest, RestoreBringsBackWhatAnybodyTurnedOff) {
  settle_idle();
  world.tell(SetOverride{world.ref(some_link()), {Wish::Off, "", "ada", {}}, Force::No, {}});
  world.run(minutes{2});
  world.tell(Restore{"bob", CommandId{3}});
  world.run(minutes{2});
  EXPECT_EQ(world.off(), 0U);
  EXPECT_TRUE(world.journal.overrides.empty());
  EXPECT_EQ(world.governor.mode(), Mode::Advise);
  world.expect_settled();
}

TEST_F(GovernorTest, LostMastershipBringsLinksBackAndWritesNoTables) {
  settle_idle();
  const std::size_t before = world.off();
  ASSERT_GT(before, 0U);
  world.tell(MastershipLost{});
  const auto tables = world.tables[0];
  world.run(minutes{2});
  EXPECT_EQ(world.off(), 0U);
  EXPECT_EQ(world.tables[0], tables);
  world.tell(MastershipRegained{});
  world.run(seconds{20});
  EXPECT_EQ(world.tables[0], world.up);
  world.expect_settled();
}

TEST_F(GovernorTest, AGracefulRestartKeepsWhatIsOff) {
  settle_idle();
  const std::size_t before = world.off();
  world.restart();
  EXPECT_EQ(world.off(), before);
  EXPECT_TRUE(world.reported(ReportKind::Recovered));
  world.run(seconds{10});
  world.expect_settled();
}

TEST_F(GovernorTest, StoppingBringsBackWhatRegulationTookAndNothingElse) {
  settle_idle();
  world.tell(SetOverride{world.ref(some_link()), {Wish::Off, "", "ada", {}}, Force::No, {}});
  world.run(minutes{2});
  world.tell(Stopping{});
  world.run(seconds{30});
  EXPECT_EQ(world.off(), 1U);
  EXPECT_FALSE(world.up.contains(some_link()));
}

TEST_F(GovernorTest, QuietLinksAreReducedWhereThatIsAllowed) {
  GovernorOptions options = World::default_options();
  options.select.reductions = {{LinkWidth::X4, LinkSpeed::Sdr}, {LinkWidth::X1, LinkSpeed::Sdr}};
  World other{torus, options};
  other.start();
  other.shift_traffic(1, 0.02);
  other.run(minutes{60});
  const power::LinkMode reduced{LinkWidth::X1, LinkSpeed::Sdr};
  std::size_t count = 0;
  for (const LinkStatus& link : other.governor.links()) count += link.mode == reduced ? 1 : 0;
  EXPECT_GT(count, 0U);
  EXPECT_FALSE(broken_rule(*other.network, other.tables[other.plane]));
  // Load that a reduced link cannot carry brings its width and speed back.
  other.shift_traffic(1, 0.5);
  other.run(minutes{30});
  const auto loads =
      predicted_loads(*other.network, other.network->tables(other.tables[other.plane], other.plane),
                      traffic_of(*other.network, other.flows), other.plane);
  const auto modes = other.governor.modes();
  std::size_t widened = 0;
  for (std::uint32_t i = 0; i < modes.size(); ++i) {
    const LinkIndex link{i};
    if (other.network->trunk_of(link) == Network::no_trunk || !other.up.contains(link)) continue;
    if (modes[i] == power::mode_of(other.fabric->link(link))) {
      ++widened;
      continue;
    }
    const double rate = data_rate(modes[i].width, modes[i].speed).value();
    EXPECT_LE(std::max(loads[other.network->up_hop(link)], loads[other.network->down_hop(link)]), 0.7 * rate);
  }
  EXPECT_GT(widened, 0U);
}

TEST_F(GovernorTest, TheSameEventsGiveTheSameActions) {
  World other{torus};
  for (World* each : {&world, &other}) {
    each->start();
    each->shift_traffic(1, 0.05);
    each->run(minutes{5});
    each->shift_traffic(4, 0.8);
    each->run(minutes{5});
  }
  ASSERT_EQ(world.reports.size(), other.reports.size());
  for (std::size_t i = 0; i < world.reports.size(); ++i)
    EXPECT_EQ(world.reports[i].reason, other.reports[i].reason);
  EXPECT_EQ(world.journal, other.journal);
}

TEST(GovernorOptionsTest, NonsenseIsRefused) {
  GovernorOptions options;
  EXPECT_TRUE(check(options));
  options.select.thresholds.u_off = Ratio{0.4};
  EXPECT_FALSE(check(options));
  options = {};
  options.planes = 4;
  EXPECT_FALSE(check(options));
  options = {};
  options.break_even = 0.5;
  EXPECT_FALSE(check(options));
  options = {};
  options.chosen_for = ChosenFor::Any;
  options.select.policy = SelectPolicy::Trunk;
  ASSERT_FALSE(check(options));
  EXPECT_EQ(check(options).error().message,
            "for: \"any\" is of the general policy: policy must be \"general\"");
  options.select.policy = SelectPolicy::General;
  EXPECT_TRUE(check(options));
}

}  // namespace
}  // namespace heddle::regulation
