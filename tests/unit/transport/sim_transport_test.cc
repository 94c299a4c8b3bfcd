#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <optional>
#include <vector>

#include "fabric/fabric.h"
#include "sim/bring_up.h"
#include "sim/flow/fabric_view.h"
#include "sim/flow/flow_plane.h"
#include "transport/clock.h"
#include "transport/paced_schedule.h"
#include "transport/requests.h"
#include "transport/sim_pump.h"
#include "transport/sim_transport.h"

namespace heddle::transport {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<const Fabric> pair_of_hosts() {
  FabricBuilder builder;
  Node hub;
  hub.guid = NodeGuid{0x100};
  hub.type = NodeType::Switch;
  hub.port_count = 4;
  const NodeIndex sw = builder.add_node(hub).value();
  for (std::uint8_t i = 1; i <= 2; ++i) {
    Node node;
    node.guid = NodeGuid{i * 0x10ULL};
    node.port_count = 1;
    node.description = i == 1 ? "one" : "two";
    const NodeIndex host = builder.add_node(node).value();
    EXPECT_TRUE(builder.add_link({sw, PortNum{i}}, {host, PortNum{1}}, LinkWidth::X4, LinkSpeed::Edr));
  }
  return builder.build();
}

class SimTransportTest : public testing::Test {
 protected:
  void listen(Transport& transport) {
    transport.receive_with([this](const mad::Packet&, Instant at) { arrived.push_back(at); });
  }

  sim::SimulatedFabric fabric{pair_of_hosts(), {.mad_latency = 5us}};
  ManualClock clock;
  std::vector<Instant> arrived;
};

TEST_F(SimTransportTest, SitsWhereItIsTold) {
  EXPECT_EQ(SimTransport::open(fabric, clock, "").value()->local().node, NodeGuid{0x10});
  EXPECT_EQ(SimTransport::open(fabric, clock, "two").value()->local().node, NodeGuid{0x20});
  EXPECT_EQ(SimTransport::open(fabric, clock, "0x20").value()->local().port, PortNum{1});
  EXPECT_EQ(SimTransport::open(fabric, clock, "S-0000000000000100").value()->local().port, PortNum{0});
  const auto nowhere = SimTransport::open(fabric, clock, "three");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, ErrorCode::NotFound);
}

TEST_F(SimTransportTest, LocalFollowsTheSubnetManager) {
  const auto transport = SimTransport::open(fabric, clock, "two").value();
  EXPECT_EQ(transport->local().lid, no_lid);
  sim::bring_up(fabric, {.sm_lid = Lid{2}});
  EXPECT_EQ(transport->local().lid, Lid{3});
  EXPECT_EQ(transport->local().sm_lid, Lid{2});
}

TEST_F(SimTransportTest, DeliversFromAdvanceInTheFabricsTime) {
  const auto transport = SimTransport::open(fabric, clock, "").value();
  listen(*transport);
  clock.advance(1s);
  const std::vector path{PortNum{1}};
  ASSERT_TRUE(transport->send(directed_smp({}, path)));
  EXPECT_TRUE(arrived.empty());
  clock.advance(1s);
  fabric.advance(to_sim(clock.now()));
  ASSERT_EQ(arrived.size(), 1U);
  EXPECT_EQ(arrived[0], Instant{1s + 10us});
}

TEST_F(SimTransportTest, ThePumpDeliversWhenItIsDue) {
  boost::asio::io_context context;
  const SteadyClock fast{1000};
  SimPump pump{context, fabric, fast};
  const auto transport = SimTransport::open(fabric, fast, "", [&] { pump.wake(); }).value();
  transport->receive_with([&](const mad::Packet&, Instant at) {
    arrived.push_back(at);
    pump.stop();
  });
  ASSERT_TRUE(transport->send(directed_smp({}, {})));
  EXPECT_TRUE(arrived.empty());
  context.run();
  EXPECT_EQ(arrived.size(), 1U);
}

/// Has something to do each second, for which it takes ten.
class TooMuchTraffic final : public sim::FlowSchedule {
 public:
  explicit TooMuchTraffic(ManualClock& clock) : clock_{clock} {}
  [[nodiscard]] std::optional<Picoseconds> next() const override { return next_; }
  void run(sim::TrafficPlane& /*plane*/, Picoseconds at) override {
    clock_.advance(10s);
    next_ = at + Picoseconds{1s};
    ++runs;
  }
  void postpone(Picoseconds by) override { next_ += by; }

  int runs = 0;

 private:
  ManualClock& clock_;
  Picoseconds next_{1s};
};

// Each time that anybody looked there would be ten times as much due as before.
TEST_F(SimTransportTest, TrafficThatTakesLongerThanItLastsLeavesTimeToOthers) {
  TooMuchTraffic schedule{clock};
  PacedSchedule paced{schedule, clock};
  const sim::FabricView view{fabric};
  sim::FlowPlane plane{view};
  plane.set_schedule(&paced);
  constexpr int turns = 4;
  for (int turn = 0; turn < turns; ++turn) {
    clock.advance(10s);
    plane.advance(to_sim(clock.now()));
  }
  EXPECT_EQ(schedule.runs, turns);
  clock.advance(1000s);  // the processor was somebody else's
  plane.changed({.kind = sim::Change::Kind::MulticastTable}, to_sim(clock.now()));
  EXPECT_EQ(schedule.runs, turns + 1);
  EXPECT_GE(plane.figures(to_sim(clock.now())).stood_still, Picoseconds{1000s});
}

TEST_F(SimTransportTest, OneSubnetManagerPerPort) {
  const auto first = SimTransport::open(fabric, clock, "").value();
  const auto second = SimTransport::open(fabric, clock, "").value();
  EXPECT_TRUE(first->set_is_sm(sim::IsSm::Yes));
  EXPECT_EQ(second->set_is_sm(sim::IsSm::Yes).error().code, ErrorCode::Conflict);
}

}  // namespace
}  // namespace heddle::transport
