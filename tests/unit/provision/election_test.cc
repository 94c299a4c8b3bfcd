// Who is the master: beside subnet managers that answer, that are silent, that take over.
#include "authority/own/sm_election.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "provision_world.h"
#include "support/other_sm.h"
#include "transport/requests.h"

namespace heddle::provision {
namespace {

using namespace std::chrono_literals;

NodeIndex last_host(const World& world) {
  return NodeIndex{static_cast<std::uint32_t>(world.truth().nodes().size() - 1)};
}

/// A program on the last host that says IsSM and answers nothing: an SM that was stopped.
void put_a_silent_sm(World& world) {
  const NodeIndex host = last_host(world);
  const auto other = world.sim.fabric.attach(world.truth().port_index(host, PortNum{1}),
                                             [](const mad::Packet&, Picoseconds) {});
  ASSERT_TRUE(world.sim.fabric.set_is_sm(*other, sim::IsSm::Yes, world.sim.ps()));
}

TEST(Provisioner, AFabricWithASilentSmIsNotTaken) {
  World world{"tree:k=2,n=2"};
  put_a_silent_sm(world);
  for (int i = 0; i < 3; ++i) {
    const ProvisionReport& report = world.bring_up();
    ASSERT_TRUE(report.failure);
    EXPECT_EQ(report.failure->code, ErrorCode::Refused);
    EXPECT_THAT(report.failure->message, testing::HasSubstr(to_string(world.truth().nodes().back().guid)));
    EXPECT_EQ(report.ports_set + report.blocks_written + report.links_raised, 0U);
    EXPECT_FALSE(world.sm.is_master());
  }
}

TEST(Provisioner, ASilentSmIsPassedOverOnAnOperatorsWord) {
  World world{"tree:k=2,n=2"};
  put_a_silent_sm(world);
  world.sm.pass_over_silent_sms();
  EXPECT_FALSE(world.bring_up().failure);
  EXPECT_EQ(world.reports.back().troubles.size(), 1U);
  EXPECT_FALSE(world.bring_up().failure) << "master by then: who is silent has no say";
}

TEST(Provisioner, ASilentSmThatComesLaterDoesNotEndAMaster) {
  World world{"tree:k=2,n=2"};
  EXPECT_FALSE(world.bring_up().failure);
  put_a_silent_sm(world);
  EXPECT_FALSE(world.bring_up().failure);
  EXPECT_EQ(world.reports.back().troubles.size(), 1U);
}

TEST(Provisioner, WhoIsThereNoMoreIsNotWaitedFor) {
  World world{"tree:k=2,n=2"};
  world.discovery.full(world.sim.now);
  const auto other = world.sim.fabric.attach(world.truth().port_index(last_host(world), PortNum{1}),
                                             [](const mad::Packet&, Picoseconds) {});
  ASSERT_TRUE(world.sim.fabric.set_is_sm(*other, sim::IsSm::Yes, world.sim.ps()));
  world.sim.on_send = [&](const mad::Packet& packet) {
    const mad::Header header = mad::read_header(packet.mad);
    if (mad::SmAttr{header.attribute} != mad::SmAttr::SmInfo) return;
    (void)world.sim.fabric.set_is_sm(*other, sim::IsSm::No, world.sim.ps());
  };
  const ProvisionReport& report = world.finish();
  EXPECT_FALSE(report.failure);
  EXPECT_THAT(report.troubles, testing::IsEmpty());
}

bool allowed(Standing standing, std::uint8_t priority, std::uint64_t guid, mad::SmInfo::State state) {
  mad::SmInfo info;
  info.priority = priority;
  info.guid = PortGuid{guid};
  info.state = state;
  return may_be_master({.standing = standing,
                        .own = PortGuid{100},
                        .priority = 5,
                        .others = {{{}, info}},
                        .silent = {}})
      .has_value();
}

TEST(Election, MasterStaysMaster) {
  using State = mad::SmInfo::State;
  EXPECT_FALSE(allowed(Standing::Master, 0, 200, State::Master));
  EXPECT_TRUE(allowed(Standing::Master, 15, 1, State::NotActive));
  EXPECT_TRUE(allowed(Standing::Master, 6, 200, State::Standby)) << "until it has the fabric";
  EXPECT_TRUE(allowed(Standing::Master, 15, 1, State::Discovering))
      << "it will find this master, and stand by";
}

TEST(Election, AMasterHandsOverToTheFirstThatStandsBy) {
  using State = mad::SmInfo::State;
  Election election{
      .standing = Standing::Master, .own = PortGuid{100}, .priority = 5, .others = {}, .silent = {}};
  const auto with = [&](std::uint8_t priority, std::uint64_t guid, State state) {
    election.others.push_back({{}, {.guid = PortGuid{guid}, .priority = priority, .state = state}});
    const auto other = heir(election);
    return other ? other->info.guid.raw() : 0;
  };
  EXPECT_EQ(with(4, 1, State::Standby), 0U);
  EXPECT_EQ(with(5, 101, State::Standby), 0U);
  EXPECT_EQ(with(15, 2, State::Discovering), 0U);
  EXPECT_EQ(with(5, 99, State::Standby), 99U);
  EXPECT_EQ(with(6, 200, State::Standby), 200U);
  EXPECT_EQ(with(6, 201, State::Standby), 200U);
  election.standing = Standing::Candidate;
  EXPECT_FALSE(heir(election).has_value());
}

TEST(Election, ACandidateTakesNothingFromAnybody) {
  using State = mad::SmInfo::State;
  for (const State state : {State::Discovering, State::Standby, State::Master}) {
    EXPECT_FALSE(allowed(Standing::Candidate, 0, 200, state));
  }
  EXPECT_TRUE(allowed(Standing::Candidate, 15, 1, State::NotActive));
}

TEST(Election, IsUndecidedWhereAllAreStillLooking) {
  using State = mad::SmInfo::State;
  Election election{.standing = Standing::Candidate, .own = {}, .priority = 0, .others = {}, .silent = {}};
  election.others.resize(2);
  election.others.front().info.state = State::Discovering;
  election.others.back().info.state = State::NotActive;
  EXPECT_TRUE(is_undecided(election));
  election.silent = {"host-1"};
  EXPECT_FALSE(is_undecided(election));
  election.silent.clear();
  for (const State state : {State::Standby, State::Master}) {
    election.others.back().info.state = state;
    EXPECT_FALSE(is_undecided(election));
  }
}

/// Another subnet manager on the last host, which says what it is told to and takes over when it is asked.
class ScriptedSm : public test::OtherSm {
 public:
  ScriptedSm(World& world, State begins)
      : OtherSm{world.sim.fabric, world.truth().port_index(last_host(world), PortNum{1}),
                [&world] { return world.sim.ps(); }, begins} {
    on_handover = [&world](const mad::SmInfo& from) {
      EXPECT_EQ(from.state, State::Master);
      EXPECT_TRUE(world.sm.is_master()) << "while nobody else is";
    };
  }
};

/// The way from this host to where the survey was made: back by the ports that a MAD comes in by.
std::vector<PortNum> way_back(const Survey& survey, NodeIndex host) {
  std::vector<PortNum> back;
  LinkEnd at = survey.own_port();
  const std::vector<PortNum> there = route_to(survey, {host, PortNum{1}}).value();
  for (const PortNum out : there) {
    const LinkEnd in = *survey.fabric->peer({at.node, out});
    back.insert(back.begin(), in.port);
    at = in;
  }
  EXPECT_EQ(at.node, host);
  return back;
}

TEST(SubnetManager, OneThatAsksForTheMasterIsKnownByTheWayItsQuestionCame) {
  World world{"tree:k=2,n=3"};
  ASSERT_FALSE(world.bring_up().failure);
  auto survey = std::make_shared<Survey>(*world.reports.back().survey);
  const NodeIndex host = last_host(world);
  const PortIndex seat = world.truth().port_index(host, PortNum{1});
  const NodeIndex there = survey->fabric->find_node(world.truth().node(host).guid);
  std::vector<mad::Packet> came;
  world.sim.engine.unsolicited_to([&](const mad::Packet& packet, Instant) { came.push_back(packet); });
  const auto asker = *world.sim.fabric.attach(seat, [](const mad::Packet&, Picoseconds) {});
  const transport::SmpRequest question{.attribute = mad::SmAttr::SmInfo};
  const Lid master = survey->port(survey->own_port()).info.lid;
  for (const mad::Packet& sent :
       {transport::directed_smp(question, way_back(*survey, there)), transport::lid_smp(question, master)}) {
    came.clear();
    world.sim.fabric.send(world.sim.ps(), asker, sent);
    ASSERT_TRUE(world.sim.run([&] { return !came.empty(); }));
    EXPECT_EQ(unknown_manager(*survey, came[0]), world.truth().node(host).guid);
    survey->nodes[there.raw()].ports[1].info.capability_mask |= mad::port_cap::is_sm;
    EXPECT_EQ(unknown_manager(*survey, came[0]), std::nullopt) << "a sweep has found it";
    survey->nodes[there.raw()].ports[1].info.capability_mask &= ~mad::port_cap::is_sm;
  }
  mad::Packet lost = transport::directed_smp(question, way_back(*survey, there));
  mad::DirectedRoute route = mad::read_directed_route(lost.mad);
  for (const std::uint8_t hops :
       {std::uint8_t{0}, std::uint8_t{1}, std::uint8_t{63}, std::uint8_t{64}, std::uint8_t{255}}) {
    route.hop_count = hops;
    route.return_path.fill(PortNum{200});
    mad::write_directed_route(route, lost.mad);
    EXPECT_EQ(unknown_manager(*survey, lost), std::nullopt) << "a way that leads nowhere";
  }
}

// Both had looked before either had said that it is there, once in CI with the real OpenSM: two masters, for
// good.
TEST(SubnetManager, OneThatHasComeSinceTheSweepIsFoundBeforeAnythingIsWritten) {
  for (const auto state : {mad::SmInfo::State::Discovering, mad::SmInfo::State::Master}) {
    World world{"tree:k=2,n=2"};
    const auto survey = found_anew(world);
    const ScriptedSm other{world, state};
    world.sm.configure(survey, world.sim.now);
    const ProvisionReport& report = world.finish();
    ASSERT_TRUE(report.failure);
    EXPECT_EQ(report.failure->code, ErrorCode::Refused);
    EXPECT_EQ(report.ports_set + report.blocks_written + report.links_raised, 0U);
    EXPECT_FALSE(world.sm.is_master());
    EXPECT_EQ(world.sim.fabric.port_info(world.sim.port()).capability_mask & mad::port_cap::is_sm, 0U)
        << "nobody is told that one is here";
  }
}

TEST(SubnetManager, ASilentOneThatHasComeSinceTheSweepIsYieldedToButForAnOperatorsWord) {
  World world{"tree:k=2,n=2"};
  const auto survey = found_anew(world);
  put_a_silent_sm(world);
  world.sm.configure(survey, world.sim.now);
  EXPECT_TRUE(world.finish().failure);
  world.sm.pass_over_silent_sms();
  world.sm.configure(survey, world.sim.now);
  EXPECT_FALSE(world.finish().failure);
  EXPECT_EQ(world.reports.back().troubles.size(), 1U);
}

// The answer to a Set says so first: nobody had asked it.
TEST(SubnetManager, OneThatComesWhileThisOneWritesIsLookedAtSoon) {
  World world{"tree:k=2,n=2"};
  world.sim.engine.unsolicited_to(
      [&](const mad::Packet& packet, Instant at) { (void)world.sm.on_unsolicited(packet, at); });
  std::optional<ScriptedSm> other;
  world.sim.on_send = [&](const mad::Packet& packet) {
    if (!other && mad::read_header(packet.mad).method == mad::Method::Set) {
      other.emplace(world, mad::SmInfo::State::Standby);
    }
  };
  const ProvisionReport& report = world.bring_up();
  ASSERT_FALSE(report.failure);
  EXPECT_THAT(report.successors, testing::ElementsAre(world.truth().nodes().back().guid));
}

TEST(SubnetManager, AnotherMasterThatNoTrapToldOfIsYieldedToOnceItHasWrittenATable) {
  World world{"tree:k=2,n=2", {.verify_within = 1s}};
  world.sim.next_deadline = [&] { return world.sm.next_deadline(); };
  world.sim.on_timer = [&](Instant now) { world.sm.on_timer(now); };
  ASSERT_FALSE(world.bring_up().failure);
  world.sim.engine.unsolicited_to(
      [&](const mad::Packet& packet, Instant at) { (void)world.sm.on_unsolicited(packet, at); });
  ScriptedSm other{world, mad::SmInfo::State::Master};
  (void)world.sim.run([] { return false; }, 3s);
  EXPECT_TRUE(world.sm.is_master()) << "nobody has been seen";
  other.clear_first_block(
      world.sim.fabric.port_info(world.truth().port_index(world.switch_at(1), PortNum{0})).lid);
  const ProvisionReport& report = world.finish();
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->code, ErrorCode::Refused);
  EXPECT_EQ(report.blocks_written, 0U);
  EXPECT_FALSE(world.sm.is_master());
}

TEST(SubnetManager, HandsOverToOneThatStandsByWithAHigherPriority) {
  World world{"tree:k=2,n=2", {.priority = 3}};
  ASSERT_FALSE(world.bring_up().failure);
  ScriptedSm other{world, mad::SmInfo::State::Discovering};
  EXPECT_FALSE(world.bring_up().failure) << "it has not found this master yet";
  EXPECT_TRUE(other.asked_by_set.empty());
  other.info.state = mad::SmInfo::State::Standby;
  const ProvisionReport& report = world.bring_up();
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->code, ErrorCode::Refused);
  EXPECT_EQ(other.asked_by_set, std::vector<std::uint32_t>{1});
  EXPECT_FALSE(world.sm.is_master());
}

TEST(SubnetManager, KeepsTheFabricThatNobodyTakes) {
  World world{"tree:k=2,n=2", {.priority = 3}};
  ASSERT_FALSE(world.bring_up().failure);
  ScriptedSm other{world, mad::SmInfo::State::Standby};
  other.takes = false;
  const ProvisionReport& report = world.bring_up();
  EXPECT_FALSE(report.failure);
  EXPECT_FALSE(other.asked_by_set.empty());
  EXPECT_THAT(texts(report), testing::HasSubstr("does not take the fabric"));
  EXPECT_TRUE(world.sm.is_master());
}

TEST(SubnetManager, TwoOfThemSettleOnOne) {
  World world{"tree:k=2,n=2", {.priority = 3}};
  world.bring_up();
  // A second one on another host, on the same fabric, with its own engine.
  test::SimWorld& sim = world.sim;
  class Second final : public transport::Transport {
   public:
    Second(test::SimWorld& sim, PortIndex port) : sim_{sim} {
      client_ = *sim.fabric.attach(port, [this](const mad::Packet& packet, Picoseconds at) {
        receiver_(packet, test::SimWorld::instant(at));
      });
    }
    void receive_with(Receiver receiver) override { receiver_ = std::move(receiver); }
    Result<void> send(const mad::Packet& packet) override {
      sim_.fabric.send(sim_.ps(), client_, packet);
      return {};
    }
    [[nodiscard]] transport::LocalPort local() const override { return {}; }

   private:
    test::SimWorld& sim_;
    sim::ClientId client_{0};
    Receiver receiver_;
  };
  const NodeIndex host = last_host(world);
  Second second{sim, world.truth().port_index(host, PortNum{1})};
  transport::TransactionEngine engine{second, {}};
  second.receive_with([&](const mad::Packet& packet, Instant at) { engine.on_packet(packet, at); });
  std::vector<ProvisionReport> reports;
  ProvisionOptions options;
  options.priority = 15;
  SubnetManager late{engine, second, options, minhop,
                     [&](const ProvisionReport& report) { reports.push_back(report); }};
  discovery::Discovery discovery{engine, {}, [&](const discovery::SweepReport& report) {
                                   if (report.survey) late.configure(report.survey, sim.now);
                                 }};
  discovery.full(sim.now);
  ASSERT_TRUE(sim.run([&] { return !reports.empty(); }));
  ASSERT_TRUE(reports[0].failure);
  EXPECT_EQ(reports[0].failure->code, ErrorCode::Refused);
  EXPECT_EQ(reports[0].ports_set, 0U);
  EXPECT_FALSE(late.is_master());
  ASSERT_EQ(reports[0].other_sms.size(), 1U);
  EXPECT_EQ(reports[0].other_sms[0].info.priority, 3U);
  EXPECT_EQ(reports[0].other_sms[0].info.state, mad::SmInfo::State::Master);
  engine.stop(sim.now);
}

}  // namespace
}  // namespace heddle::provision
