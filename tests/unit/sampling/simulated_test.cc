// The sampler on a simulated fabric, with its faults.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sampling/queue_probe.h"
#include "sampling/sampler.h"
#include "sim/bring_up.h"
#include "support/sim_world.h"

namespace heddle::sampling {
namespace {

using namespace std::chrono_literals;
using load::Counter;
using load::is_known;
using load::PortStatus;

/// Every port sends and receives at a rate of its own, and waits for a share of the time.
class SteadyCounters final : public sim::CounterSource {
 public:
  sim::PortTotals read(PortIndex port, Picoseconds now) override {
    const double s = std::chrono::duration<double>(now).count();
    return {.xmit_data = static_cast<std::uint64_t>(s * words(port)),
            .rcv_data = static_cast<std::uint64_t>(s * words(port) / 2),
            .xmit_packets = static_cast<std::uint64_t>(s * words(port) / 1024),
            .rcv_packets = static_cast<std::uint64_t>(s * words(port) / 2048),
            .xmit_wait = static_cast<std::uint64_t>(s * 250e6 * 0.25)};
  }
  std::uint32_t queue_depth(PortIndex port, Vl vl, Picoseconds) override {
    return port.raw() * 100 + vl.raw();
  }
  // Up to an eighth of HDR.
  static double words(PortIndex port) { return 1e6 * (port.raw() % 800); }
};

class SimulatedSamplerTest : public testing::Test {
 protected:
  explicit SimulatedSamplerTest(const char* spec = "tree:k=3,n=3")
      : fabric{*assign_lids(**generate(spec))}, world{fabric} {
    sim::bring_up(world.fabric);
    world.fabric.set_counter_source(&counters);
    sampler.use(fabric);
  }
  ~SimulatedSamplerTest() override { world.fabric.set_counter_source(nullptr); }

  const load::Sample& sweep(FabricClock::duration after = 1s) {
    world.now += after;
    EXPECT_TRUE(sampler.begin_sweep(world.now));
    EXPECT_TRUE(world.run([&] { return !sampler.sweeping(); }));
    return *sampler.latest();
  }
  [[nodiscard]] NodeIndex a_switch(unsigned which = 0) const {
    for (std::uint32_t i = 0; i < fabric->nodes().size(); ++i) {
      if (fabric->nodes()[i].type == NodeType::Switch && which-- == 0) return NodeIndex{i};
    }
    return no_node;
  }
  void all_nodes(const sim::NodeTraits& traits) {
    for (std::uint32_t i = 0; i < fabric->nodes().size(); ++i) world.fabric.set_traits(NodeIndex{i}, traits);
  }
  void expect_rates(const load::Sample& sample) {
    for (std::uint32_t i = 0; i < fabric->ports().size(); ++i) {
      if (fabric->ports()[i].link == no_link) continue;
      const load::PortSample& port = sample.ports[i];
      ASSERT_EQ(port.status, PortStatus::Fresh) << i;
      const double rate = SteadyCounters::words(PortIndex{i}) * 4;
      ASSERT_NEAR(port.xmit_bytes_per_second, rate, 10 + rate * 1e-5) << i;
      ASSERT_NEAR(port.utilization, rate / 25e9, 1e-5) << i;
      ASSERT_NEAR(port.congestion, 0.25, 1e-5) << i;
    }
  }

  std::shared_ptr<const Fabric> fabric;
  SteadyCounters counters;
  test::SimWorld world;
  Sampler sampler{world.engine, {.interval = 0s, .history = 4}, {}};
};

TEST_F(SimulatedSamplerTest, RatesOfAllPortsWith64BitCounters) {
  sweep();
  expect_rates(sweep());
}

TEST_F(SimulatedSamplerTest, RatesOfAllPortsWithTwoRequestsAPort) {
  all_nodes({.extended_errors = false});
  sweep();
  expect_rates(sweep());
}

TEST_F(SimulatedSamplerTest, RatesOfAllPortsWith32BitCounters) {
  all_nodes({.extended_counters = false});
  sweep();
  for (int i = 0; i < 20; ++i) expect_rates(sweep(600ms));
  EXPECT_GT(sampler.statistics().resets, 20U);
  EXPECT_EQ(sampler.statistics().saturated, 0U);
  EXPECT_EQ(sampler.statistics().gaps, 0U);
}

TEST_F(SimulatedSamplerTest, AFullCounterIsReportedAndNoRateIsMadeOfIt) {
  all_nodes({.extended_counters = false});
  sweep();
  const PortIndex port = fabric->port_index(a_switch(), PortNum{1});
  world.fabric.preset_counters(port, {.xmit_data = std::uint64_t{1} << 33U}, world.ps());
  const load::Sample& full = sweep();
  EXPECT_EQ(full.port(port).saturations, 1U);
  EXPECT_FALSE(is_known(full.port(port).xmit_bytes_per_second));
  EXPECT_FALSE(is_known(full.port(port).utilization));
  const std::uint64_t total = full.port(port).totals[load::at(Counter::XmitData)];
  // Reset by then; the next interval counts from there.
  const load::Sample& after = sweep();
  EXPECT_TRUE(is_known(after.port(port).xmit_bytes_per_second));
  EXPECT_GE(after.port(port).totals[load::at(Counter::XmitData)], total);
}

TEST_F(SimulatedSamplerTest, WithoutXmitWaitCongestionIsNotKnown) {
  all_nodes({.xmit_wait = false});
  sweep();
  const load::Sample& sample = sweep();
  const load::PortSample& port = sample.port(fabric->port_index(a_switch(), PortNum{1}));
  EXPECT_TRUE(is_known(port.utilization));
  EXPECT_FALSE(is_known(port.congestion));
  EXPECT_EQ(port.known & mask(Counter::XmitWait), 0U);
}

TEST_F(SimulatedSamplerTest, ARedirectedAgentIsFollowed) {
  const NodeIndex node = a_switch(2);
  world.fabric.set_redirect(node, sim::Redirect{.target = fabric->node(node).first_port, .qp = 5});
  sweep();
  expect_rates(sweep());
}

TEST_F(SimulatedSamplerTest, LostMadsAndDeadSwitchesCostNobodyElseAnything) {
  sweep();
  world.fabric.set_mad_faults({.lost = Ratio{0.01}});
  // Silent agents rather than dead switches: the way past them stays open.
  std::vector<NodeIndex> dead;
  for (unsigned i = 1; i <= 3; ++i) {
    dead.push_back(a_switch(3 * i));
    world.fabric.set_agent_faults(dead.back(), {.mute_pma = true});
  }
  const load::Sample& sample = sweep();
  for (std::uint32_t i = 0; i < fabric->ports().size(); ++i) {
    if (fabric->ports()[i].link == no_link) continue;
    const bool lost = std::ranges::find(dead, fabric->ports()[i].node) != dead.end();
    EXPECT_EQ(sample.ports[i].status, lost ? PortStatus::Failed : PortStatus::Fresh);
  }
  EXPECT_GE(sample.failures.size(), 3U * 6U);
  EXPECT_LT(sample.ended - sample.began, 1s);
}

TEST_F(SimulatedSamplerTest, LiesAreNoReadings) {
  sweep();
  world.fabric.set_agent_faults(a_switch(1), {.wrong_attribute = true});
  world.fabric.set_agent_faults(a_switch(2), {.wrong_tid = true});
  const load::Sample& sample = sweep();
  for (unsigned which = 0; which < 3; ++which) {
    const load::PortSample& port = sample.port(fabric->port_index(a_switch(which), PortNum{1}));
    EXPECT_EQ(port.status, which == 0 ? PortStatus::Fresh : PortStatus::Failed);
    EXPECT_EQ(is_known(port.utilization), which == 0);
  }
}

TEST_F(SimulatedSamplerTest, ARestartOfASwitchIsAGapAndNoRate) {
  const PortIndex port = fabric->port_index(a_switch(), PortNum{1});
  sweep();
  sweep();
  const std::uint64_t total = sampler.latest()->port(port).totals[load::at(Counter::XmitData)];
  world.fabric.preset_counters(port, {}, world.ps());
  const load::Sample& sample = sweep(100ms);
  EXPECT_EQ(sample.port(port).gaps, 1U);
  EXPECT_FALSE(is_known(sample.port(port).xmit_bytes_per_second));
  EXPECT_EQ(sample.port(port).totals[load::at(Counter::XmitData)], total);
  EXPECT_TRUE(is_known(sweep().port(port).xmit_bytes_per_second));
}

class QueueProbeTest : public SimulatedSamplerTest {
 protected:
  std::vector<QueueLook> look(const std::vector<PortIndex>& ports) {
    std::optional<std::vector<QueueLook>> result;
    const auto begun = probe.look(*fabric, sampler.agents(), ports, 1ms, world.now,
                                  [&](std::vector<QueueLook> looks) { result = std::move(looks); });
    EXPECT_TRUE(begun);
    while (!result) {
      world.run([&] { return result.has_value(); }, 100us);
      probe.on_timer(world.now);
      world.now += 100us;
    }
    return *result;
  }
  QueueProbe probe{world.engine};
};

TEST_F(QueueProbeTest, SeesTheQueuesOfPortsOfSeveralSwitches) {
  sweep();
  std::vector<PortIndex> ports;
  for (unsigned which = 0; which < 4; ++which) {
    for (std::uint8_t p = 1; p <= 3; ++p) ports.push_back(fabric->port_index(a_switch(which), PortNum{p}));
  }
  const auto looks = look(ports);
  ASSERT_EQ(looks.size(), ports.size());
  for (const QueueLook& look : looks) {
    ASSERT_FALSE(look.failure) << look.failure->message;
    const PortIndex port = fabric->find_port(look.port);
    EXPECT_NE(std::ranges::find(ports, port), ports.end());
    EXPECT_EQ(look.depth[0], port.raw() * 100);
    EXPECT_EQ(look.depth[14], port.raw() * 100 + 14);
  }
}

TEST_F(QueueProbeTest, SaysWhyThereIsNothing) {
  sweep();
  world.fabric.set_traits(a_switch(0), {.samples = false});
  world.fabric.set_agent_faults(a_switch(1), {.mute_pma = true});
  const auto looks =
      look({fabric->port_index(a_switch(0), PortNum{1}), fabric->port_index(a_switch(1), PortNum{1}),
            fabric->port_index(a_switch(1), PortNum{0})});
  ASSERT_EQ(looks.size(), 3U);
  std::vector<ErrorCode> codes;
  for (const QueueLook& look : looks) {
    ASSERT_TRUE(look.failure);
    codes.push_back(look.failure->code);
  }
  EXPECT_THAT(codes, testing::UnorderedElementsAre(ErrorCode::Unsupported, ErrorCode::Unreachable,
                                                   ErrorCode::Unreachable));
}

TEST_F(QueueProbeTest, OneAtATime) {
  sweep();
  const std::vector<PortIndex> ports{fabric->port_index(a_switch(), PortNum{1})};
  ASSERT_TRUE(probe.look(*fabric, sampler.agents(), ports, 1ms, world.now, [](const auto&) {}));
  EXPECT_EQ(probe.look(*fabric, sampler.agents(), ports, 1ms, world.now, {}).error().code,
            ErrorCode::Conflict);
  world.engine.stop(world.now);
}

}  // namespace
}  // namespace heddle::sampling
