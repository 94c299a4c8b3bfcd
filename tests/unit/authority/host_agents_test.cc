// The daemon's side of hosts' agents, against the agents' own side: what counts as moved, and what never
// does.

#include "authority/host_agents.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>

#include "apm/agent.h"
#include "fabric/generators.h"
#include "transport/sealed_transport.h"

namespace heddle::regulate {
namespace {

using namespace std::chrono_literals;
using regulation::Movement;
using ::testing::HasSubstr;

apm::Key key_of(std::uint8_t byte) {
  apm::Key key;
  key.fill(byte);
  return key;
}

/// LIDs for host ports, two each.
std::shared_ptr<const Fabric> with_lids(const Fabric& fabric) {
  FabricBuilder builder;
  std::uint16_t lid = 2;
  for (const Node& node : fabric.nodes()) {
    const NodeIndex index = builder.add_node(node).value();
    for (unsigned p = 0; p <= node.port_count; ++p) {
      Port port = fabric.port(PortIndex{node.first_port.raw() + p});
      if (node.type == NodeType::ChannelAdapter && port.link != no_link) {
        port.lid = Lid{std::exchange(lid, static_cast<std::uint16_t>(lid + 2))};
        port.lmc = 1;
      }
      EXPECT_TRUE(builder.set_port(index, port));
    }
  }
  for (const Link& link : fabric.links()) {
    EXPECT_TRUE(builder.add_link(link.a, link.b, link.width, link.speed));
  }
  return builder.build();
}

/// A host whose connections move as the test says.
struct FakeHost final : apm::Host {
  apm::Standing standing() override {
    apm::Standing now;
    now.connections = 4 + opened;
    now.in_plane[plane] = 4 - stuck;
    now.in_plane[1 - plane] = stuck + opened;
    now.moving = moving;
    now.armed = armed;
    now.unable = unable;
    now.others = others;
    now.trouble = trouble;
    return now;
  }
  void arm() override { armed = 4; }
  void move(unsigned to) override {
    ++moves;
    opened = 0;
    if (to != plane) stuck = stuck_at_moves;
    plane = to;
    moving = late ? stuck : 0;
  }
  Result<void> keep(std::uint64_t /*sequence*/) override { return {}; }
  unsigned plane = 0;
  std::uint32_t stuck = 0;
  std::uint32_t opened = 0;  ///< in the other plane, until the next order
  std::uint32_t stuck_at_moves = 0;
  std::uint32_t moving = 0;
  std::uint32_t armed = 4;
  std::uint32_t unable = 0;
  std::uint32_t others = 0;
  bool late = false;
  unsigned moves = 0;
  std::string trouble;
};

/// A wire with an agent behind each LID that has one.
class Wire final : public transport::Transport {
 public:
  struct End {
    FakeHost host;
    std::unique_ptr<apm::Agent> agent;
    bool answers = true;
  };
  void receive_with(Receiver receiver) override { receiver_ = std::move(receiver); }
  Result<void> send(const mad::Packet& packet) override {
    ++sent;
    const auto end = ends.find(packet.address.dlid);
    if (end == ends.end() || !end->second.answers) return {};
    mad::Packet request = packet;
    request.address.slid = Lid{1};
    if (const auto answer = end->second.agent->answer(request, Lid{1})) waiting_.push_back(*answer);
    return {};
  }
  [[nodiscard]] transport::LocalPort local() const override { return {}; }
  void deliver(Instant now) {
    while (!waiting_.empty()) {
      const mad::Packet packet = waiting_.front();
      waiting_.pop_front();
      receiver_(packet, now);
    }
  }
  [[nodiscard]] bool waits() const { return !waiting_.empty(); }

  std::map<Lid, End> ends;
  std::size_t sent = 0;

 private:
  Receiver receiver_;
  std::deque<mad::Packet> waiting_;
};

class HostAgentsTest : public ::testing::Test {
 protected:
  HostAgentsTest() {
    sealed_.receive_with([this](const mad::Packet& packet, Instant at) { engine_.on_packet(packet, at); });
    fabric_ = with_lids(**generate("tree:k=2,n=2"));
    for (const Port& port : fabric_->ports()) {
      if (port.lid.raw() != 0) put_agent(port.lid, port.guid);
    }
  }
  void put_agent(Lid lid, PortGuid guid, std::uint64_t incarnation = 1) {
    Wire::End& end = wire_.ends[lid];
    end.agent = std::make_unique<apm::Agent>(
        apm::AgentOptions{.key = key_of(1), .port = guid, .incarnation = incarnation}, end.host);
  }
  void begin() {
    agents_.use(*fabric_, now_);
    run_for(1s);
  }
  /// From deadline to deadline.
  void run_until(const std::function<bool()>& done, FabricClock::duration limit) {
    const Instant end = now_ + limit;
    while (!done()) {
      wire_.deliver(now_);
      std::optional<Instant> next = engine_.next_deadline();
      const auto own = agents_.next_deadline();
      if (own && (!next || *own < *next)) next = own;
      if (wire_.waits()) continue;
      if (!next || *next > end) break;
      now_ = std::max(now_, *next);
      engine_.on_timer(now_);
      agents_.on_timer(now_);
    }
    if (!done()) now_ = end;
  }
  void run_for(FabricClock::duration span) {
    run_until([] { return false; }, span);
  }
  Result<void> move(unsigned plane) {
    std::optional<Result<void>> result;
    agents_.migrate(plane, now_, [&](const Result<void>& done, Instant) { result = done; });
    EXPECT_FALSE(result) << "never from within";
    run_until([&] { return result.has_value(); }, 5min);
    EXPECT_TRUE(result);
    return result.value_or(fail(ErrorCode::Io, "never answered"));
  }
  [[nodiscard]] Wire::End& end(std::size_t i) {
    return std::next(wire_.ends.begin(), static_cast<long>(i))->second;
  }

  Instant now_{1h};
  Wire wire_;
  std::uint64_t time_of_day_ = 1'000'000;
  transport::SealedTransport sealed_{wire_, key_of(1), [this] { return ++time_of_day_; }};
  transport::TransactionEngine engine_{sealed_, {}};
  HostAgents agents_{engine_, {}};
  std::shared_ptr<const Fabric> fabric_;
};

TEST_F(HostAgentsTest, PlanesAreUsedWhenEveryHostCanMove) {
  EXPECT_EQ(agents_.movement(), Movement::Staged) << "nobody has been asked";
  begin();
  EXPECT_EQ(agents_.movement(), Movement::Planes);
  EXPECT_EQ(agents_.figures().agents, wire_.ends.size());
  EXPECT_EQ(agents_.figures().connections, 4 * wire_.ends.size());
}

TEST_F(HostAgentsTest, OneHostWithoutAgentOrWithOtherTrafficIsEnoughForStages) {
  end(0).answers = false;
  begin();
  EXPECT_EQ(agents_.movement(), Movement::Staged);
  EXPECT_THAT(agents_.immovable(9), ::testing::ElementsAre(HasSubstr("no agent answers")));
  end(0).answers = true;
  run_for(6min);
  EXPECT_EQ(agents_.movement(), Movement::Planes) << "it is looked for";
  end(1).host.others = 1;
  run_for(1min);
  EXPECT_EQ(agents_.movement(), Movement::Staged);
  EXPECT_EQ(agents_.figures().able, wire_.ends.size() - 1);
}

TEST_F(HostAgentsTest, AllMoveAndBack) {
  begin();
  EXPECT_TRUE(move(1));
  for (const auto& [lid, end] : wire_.ends) EXPECT_EQ(end.host.plane, 1U);
  EXPECT_TRUE(move(0));
  for (const auto& [lid, end] : wire_.ends) EXPECT_EQ(end.host.plane, 0U);
}

TEST_F(HostAgentsTest, WhoeverIsLateIsWaitedFor) {
  begin();
  end(2).host.late = true;
  end(2).host.stuck_at_moves = 2;
  std::optional<Result<void>> result;
  agents_.migrate(1, now_, [&](const Result<void>& done, Instant) { result = done; });
  run_for(2s);
  EXPECT_FALSE(result);
  end(2).host.stuck = end(2).host.moving = 0;
  run_for(2s);
  ASSERT_TRUE(result);
  EXPECT_TRUE(*result);
}

TEST_F(HostAgentsTest, AHostThatMovesHalfFailsTheMoveAndIsNamed) {
  begin();
  end(1).host.stuck_at_moves = 2;
  end(1).host.trouble = "qp 0x11: EINVAL\x1b";
  const auto moved = move(1);
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().code, ErrorCode::Unreachable);
  EXPECT_THAT(moved.error().message, HasSubstr("2 of 4 connections have moved: qp 0x11: EINVAL?"));
  EXPECT_EQ(agents_.figures().failed_moves, 1U);
}

TEST_F(HostAgentsTest, ASilentAgentFailsTheMoveAndFreesTheNextOne) {
  begin();
  end(1).answers = false;
  const auto moved = move(1);
  ASSERT_FALSE(moved);
  EXPECT_THAT(moved.error().message, HasSubstr("does not answer"));
  EXPECT_EQ(agents_.movement(), Movement::Staged) << "without it nothing relies on planes";
  end(1).answers = true;
  run_for(1min);
  EXPECT_EQ(agents_.movement(), Movement::Planes);
  EXPECT_EQ(end(1).host.plane, 1U) << "it is told where connections belong";
  EXPECT_TRUE(move(0));
}

TEST_F(HostAgentsTest, WhoTakesTooLongHasNotMoved) {
  begin();
  end(0).host.late = true;
  end(0).host.stuck_at_moves = 1;
  const Instant before = now_;
  const auto moved = move(1);
  ASSERT_FALSE(moved);
  EXPECT_THAT(moved.error().message, HasSubstr("it takes too long"));
  EXPECT_LE(now_ - before, 11s);
}

TEST_F(HostAgentsTest, AnAgentThatBeganAnewMeanwhileHasNotMoved) {
  begin();
  end(0).host.late = true;
  end(0).host.stuck_at_moves = 1;
  std::optional<Result<void>> result;
  agents_.migrate(1, now_, [&](const Result<void>& done, Instant) { result = done; });
  run_for(200ms);
  const Lid lid = wire_.ends.begin()->first;
  put_agent(lid, fabric_->port(fabric_->find_port(lid)).guid, 2);
  run_for(2s);
  ASSERT_TRUE(result);
  EXPECT_THAT(result->error().message, HasSubstr("begun anew"));
}

TEST_F(HostAgentsTest, WhatOpensInTheOtherPlaneIsMoved) {
  begin();
  ASSERT_TRUE(move(1));
  const unsigned before = end(1).host.moves;
  end(1).host.opened = 1;
  end(0).host.armed = 3;
  run_for(31s);
  EXPECT_GT(end(1).host.moves, before);
  EXPECT_EQ(end(0).host.armed, 4U);
  EXPECT_EQ(agents_.movement(), Movement::Planes);
}

// A cable falls, and adapters migrate before the daemon has heard of it: told to come back at once, they went
// where there was no way yet (vm/migration_loop_test.py on a busy machine: "transport retry counter
// exceeded").
TEST_F(HostAgentsTest, WhoHasLeftItsPlaneByItselfIsLetBeForAWhile) {
  begin();
  ASSERT_TRUE(move(1));
  run_for(1min);
  const unsigned before = end(1).host.moves;
  end(1).host.plane = 0;
  run_until([&] { return agents_.movement() == Movement::Staged; }, 31s);
  ASSERT_EQ(agents_.movement(), Movement::Staged) << "the plane that is to be unused has traffic";
  EXPECT_THAT(agents_.immovable(9), ::testing::ElementsAre(HasSubstr("have left their plane by themselves")));
  run_for(9s);
  EXPECT_EQ(end(1).host.moves, before) << "its tables may not be mended yet";
  run_for(2s);
  EXPECT_EQ(end(1).host.moves, before + 1);
  EXPECT_EQ(agents_.movement(), Movement::Planes);
  // There was no way still.
  end(1).host.plane = 0;
  run_until([&] { return agents_.movement() == Movement::Staged; }, 31s);
  run_for(19s);
  EXPECT_EQ(end(1).host.moves, before + 1) << "twice as long";
  run_for(2s);
  EXPECT_EQ(end(1).host.moves, before + 2);
}

// A daemon that stood still for a while has heard nobody, and orders everybody to where they ought to be when
// it hears them again.
TEST_F(HostAgentsTest, WhoHasLeftItsPlaneWhileNobodyHeardIsLetBeToo) {
  begin();
  ASSERT_TRUE(move(1));
  run_for(1min);
  end(1).answers = false;
  run_until([&] { return agents_.movement() == Movement::Staged; }, 2min);
  ASSERT_THAT(agents_.immovable(9), ::testing::ElementsAre(HasSubstr("no agent answers")));
  end(1).host.plane = 0;
  end(1).answers = true;
  run_for(31s);
  EXPECT_EQ(agents_.figures().agents, wire_.ends.size());
  EXPECT_EQ(agents_.movement(), Movement::Staged);
  EXPECT_THAT(agents_.immovable(9), ::testing::ElementsAre(HasSubstr("have left their plane by themselves")));
  run_for(11s);
  EXPECT_EQ(agents_.movement(), Movement::Planes);
}

TEST_F(HostAgentsTest, AnOrderInPlaceOfAnotherAnswersBoth) {
  begin();
  end(0).answers = false;
  std::vector<bool> results;
  agents_.migrate(1, now_, [&](const Result<void>& done, Instant) { results.push_back(done.has_value()); });
  end(0).answers = true;
  agents_.migrate(0, now_, [&](const Result<void>& done, Instant) { results.push_back(done.has_value()); });
  run_for(1min);
  EXPECT_THAT(results, ::testing::ElementsAre(false, true));
}

TEST_F(HostAgentsTest, AHostThatGoesMeanwhileDoesNotHoldUpForEver) {
  begin();
  end(0).answers = false;
  std::optional<Result<void>> result;
  agents_.migrate(1, now_, [&](const Result<void>& done, Instant) { result = done; });
  agents_.use(**generate("tree:k=2,n=1"), now_);
  run_for(1min);
  EXPECT_TRUE(result);
  EXPECT_EQ(agents_.movement(), Movement::Staged) << "no host has a LID";
}

TEST_F(HostAgentsTest, WithAnotherKeyNobodyIsHeard) {
  for (auto& [lid, end] : wire_.ends) {
    end.agent = std::make_unique<apm::Agent>(
        apm::AgentOptions{.key = key_of(2), .port = fabric_->port(fabric_->find_port(lid)).guid}, end.host);
  }
  begin();
  EXPECT_EQ(agents_.figures().agents, 0U);
  for (const auto& [lid, end] : wire_.ends) EXPECT_GT(end.agent->statistics().unsealed, 0U);
}

TEST_F(HostAgentsTest, AgentsThatHeardLaterNumbersAreAskedAgainAtOnce) {
  begin();
  // Another daemon, whose clock was ahead, has spoken with them.
  for (auto& [lid, end] : wire_.ends) {
    apm::Sealer other{key_of(1)};
    mad::Packet packet = apm::request(mad::Method::Get, apm::Attribute::Connections, lid,
                                      fabric_->port(fabric_->find_port(lid)).guid);
    packet.address.slid = Lid{1};
    other.seal_request(9'000'000, packet.mad);
    ASSERT_TRUE(end.agent->answer(packet, Lid{1}));
  }
  EXPECT_TRUE(move(1));
}

TEST_F(HostAgentsTest, TheShareOfTheLoadThatCannotMove) {
  end(0).answers = false;
  begin();
  load::Sample sample;
  sample.fabric = fabric_;
  sample.ports.resize(fabric_->ports().size());
  EXPECT_FALSE(agents_.immovable_share(sample)) << "nothing is known";
  for (const auto& [lid, end] : wire_.ends) {
    sample.ports[fabric_->find_port(lid).raw()].xmit_bytes_per_second = end.answers ? 100.F : 300.F;
  }
  const double rest = 100.0 * static_cast<double>(wire_.ends.size() - 1);
  EXPECT_NEAR(agents_.immovable_share(sample).value().value(), 300.0 / (300.0 + rest), 1e-6);
}

// An order that is sent again late must not undo the one after it.
TEST_F(HostAgentsTest, AnOrderIsNotSentBeforeTheOneBeforeHasComeBack) {
  begin();
  end(0).answers = false;
  agents_.migrate(1, now_, [](const Result<void>&, Instant) {});
  const std::size_t sent = wire_.sent;
  std::optional<Result<void>> result;
  agents_.migrate(0, now_, [&](const Result<void>& done, Instant) { result = done; });
  EXPECT_EQ(wire_.sent, sent) << "all hosts have the first order under way";
  end(0).answers = true;
  run_for(1min);
  ASSERT_TRUE(result);
  EXPECT_TRUE(*result);
  for (const auto& [lid, end] : wire_.ends) EXPECT_EQ(end.host.plane, 0U);
}

TEST_F(HostAgentsTest, WhereNoHostIsNobodyIsWaitedFor) { EXPECT_TRUE(move(1)); }

TEST_F(HostAgentsTest, AFewAreAskedAtATime) {
  HostAgents some{engine_, {.at_a_time = 2}};
  for (auto& [lid, end] : wire_.ends) end.answers = false;
  some.use(*fabric_, now_);
  some.on_timer(now_);
  EXPECT_EQ(wire_.sent, 2U);
  engine_.stop(now_);
}

}  // namespace
}  // namespace heddle::regulate
