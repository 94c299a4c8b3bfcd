#include "load/accumulator.h"

#include <gtest/gtest.h>

#include "load/history.h"

namespace heddle::load {
namespace {

using namespace std::chrono_literals;

Instant at_second(double s) {
  return Instant{std::chrono::duration_cast<FabricClock::duration>(std::chrono::duration<double>(s))};
}

Node make(std::uint64_t guid, NodeType type, std::uint8_t ports) {
  Node node;
  node.guid = NodeGuid{guid};
  node.type = type;
  node.port_count = ports;
  node.description = "node" + std::to_string(guid);
  return node;
}

// Two switches in a line, a host on each; HDR.
std::shared_ptr<const Fabric> line(bool reversed = false) {
  FabricBuilder builder;
  const auto add = [&](std::uint64_t guid) {
    return *builder.add_node(
        make(guid, guid < 10 ? NodeType::Switch : NodeType::ChannelAdapter, guid < 10 ? 4 : 1));
  };
  const NodeIndex spare = reversed ? add(5) : no_node;
  static_cast<void>(spare);
  const NodeIndex s1 = add(1);
  const NodeIndex s2 = add(2);
  const NodeIndex h1 = add(11);
  const NodeIndex h2 = add(12);
  const auto link = [&](NodeIndex a, int p, NodeIndex b, int q) {
    static_cast<void>(*builder.add_link({a, PortNum{static_cast<std::uint8_t>(p)}},
                                        {b, PortNum{static_cast<std::uint8_t>(q)}}, LinkWidth::X4,
                                        LinkSpeed::Hdr));
  };
  link(s1, 1, h1, 1);
  link(s2, 1, h2, 1);
  link(s1, 4, s2, 4);
  return builder.build(reversed ? 2 : 1);
}

class AccumulatorTest : public testing::Test {
 protected:
  AccumulatorTest() { use(line()); }

  void use(std::shared_ptr<const Fabric> next) {
    fabric = std::move(next);
    accumulator.rebase(fabric, LocalitySets::find(*fabric, {}));
  }
  [[nodiscard]] PortIndex port(std::uint64_t guid, int num) const {
    return fabric->find_port({NodeGuid{guid}, PortNum{static_cast<std::uint8_t>(num)}});
  }
  void read(PortIndex p, double second, std::uint64_t xmit_bytes, std::uint64_t rcv_bytes,
            std::uint64_t wait = 0) {
    Reading reading{.at = at_second(second),
                    .present = mask(Counter::XmitData, Counter::RcvData, Counter::XmitWait)};
    reading.value[at(Counter::XmitData)] = xmit_bytes / 4;
    reading.value[at(Counter::RcvData)] = rcv_bytes / 4;
    reading.value[at(Counter::XmitWait)] = wait;
    accumulator.add(p, reading);
  }
  std::shared_ptr<const Sample> finish(double second) {
    return accumulator.finish(at_second(second), at_second(second));
  }

  std::shared_ptr<const Fabric> fabric;
  Accumulator accumulator;
};

TEST_F(AccumulatorTest, RatesAreOverTheTrueIntervalOfThePort) {
  read(port(11, 1), 0.0, 0, 0);
  const auto first = finish(0.5);
  EXPECT_FALSE(is_known(first->port(port(11, 1)).xmit_bytes_per_second));
  // 2.5 s later, though the sweeps are 2 s apart: 25 GB at 25 GB/s would be 1.
  read(port(11, 1), 2.5, 25'000'000'000, 0, 312'500'000);
  const auto second = finish(2.5);
  const PortSample& sample = second->port(port(11, 1));
  EXPECT_FLOAT_EQ(sample.xmit_bytes_per_second, 10e9F);
  EXPECT_FLOAT_EQ(sample.utilization, 0.4F);
  EXPECT_FLOAT_EQ(sample.congestion, 0.5F);
  EXPECT_EQ(sample.status, PortStatus::Fresh);
  EXPECT_EQ(second->number, 2U);
}

TEST_F(AccumulatorTest, APortThatMissesASweepIsUnknownAndThenAveragesOverBoth) {
  const PortIndex p = port(11, 1);
  read(p, 0, 0, 0);
  finish(0);
  read(p, 1, 1000, 0);
  finish(1);
  accumulator.fail(p, SampleFailure::Reason::Timeout);
  const auto missed = finish(2);
  EXPECT_EQ(missed->port(p).status, PortStatus::Failed);
  EXPECT_FALSE(is_known(missed->port(p).utilization));
  EXPECT_EQ(missed->port(p).totals[at(Counter::XmitData)], 250U);
  ASSERT_EQ(missed->failures.size(), 1U);
  read(p, 3, 5000, 0);
  EXPECT_FLOAT_EQ(finish(3)->port(p).xmit_bytes_per_second, 2000);
}

TEST_F(AccumulatorTest, SeveralReadingsBetweenSweepsAddUp) {
  const PortIndex p = port(11, 1);
  read(p, 0, 0, 0);
  finish(0);
  read(p, 0.5, 1000, 0);
  accumulator.confirm_reset(p, all_counters, at_second(0.5));
  read(p, 1.0, 1000, 0);
  EXPECT_FLOAT_EQ(finish(1)->port(p).xmit_bytes_per_second, 2000);
}

TEST_F(AccumulatorTest, AGapBetweenSweepsMakesTheRateUnknownOnce) {
  const PortIndex p = port(11, 1);
  read(p, 0, 10000, 0);
  finish(0);
  read(p, 0.5, 40, 0);
  read(p, 1.0, 4000, 0);
  const auto gap = finish(1);
  EXPECT_FALSE(is_known(gap->port(p).xmit_bytes_per_second));
  EXPECT_EQ(gap->port(p).gaps, 1U);
  read(p, 2.0, 6000, 0);
  EXPECT_FLOAT_EQ(finish(2)->port(p).xmit_bytes_per_second, 2000);
}

TEST_F(AccumulatorTest, TotalsAndIntervalsOutliveAChangeOfTheFabric) {
  read(port(11, 1), 0, 4000, 0);
  finish(0);
  use(line(true));
  read(port(11, 1), 2, 8000, 0);
  const auto sample = finish(2);
  EXPECT_EQ(sample->port(port(11, 1)).totals[at(Counter::XmitData)], 2000U);
  EXPECT_FLOAT_EQ(sample->port(port(11, 1)).xmit_bytes_per_second, 2000);
}

TEST_F(AccumulatorTest, PublishedSamplesDoNotChange) {
  read(port(11, 1), 0, 4000, 0);
  const auto held = finish(0);
  for (int i = 1; i < 6; ++i) {
    read(port(11, 1), i, 4000 + 4000 * static_cast<std::uint64_t>(i), 0);
    finish(i);
  }
  EXPECT_EQ(held->number, 1U);
  EXPECT_EQ(held->port(port(11, 1)).totals[at(Counter::XmitData)], 1000U);
}

TEST_F(AccumulatorTest, TheOtherEndTellsWhatAPortDoesNot) {
  for (const double t : {0.0, 1.0}) {
    read(port(1, 1), t, 0, static_cast<std::uint64_t>(t) * 5000);
    if (t == 0) finish(0);
  }
  const auto sample = finish(1);
  EXPECT_FLOAT_EQ(leaving(*fabric, sample->ports, port(11, 1)), 5000);
  EXPECT_DOUBLE_EQ(sample->total.injected, 5000);
}

TEST_F(AccumulatorTest, LocalityOfALineOfTwoSwitches) {
  // Host 11 sends 1000 B/s; all of it crosses to switch 2.
  const auto traffic = [&](double t) {
    const auto bytes = static_cast<std::uint64_t>(1000 * t);
    read(port(11, 1), t, bytes, 0);
    read(port(1, 1), t, 0, bytes);
    read(port(1, 4), t, bytes, 0);
    read(port(2, 4), t, 0, bytes);
    read(port(2, 1), t, bytes, 0);
    read(port(12, 1), t, 0, bytes);
  };
  traffic(0);
  finish(0);
  traffic(1);
  const auto sample = finish(1);
  // Switch 1 is the root: its subtree is all; switch 2's has the receiver only.
  ASSERT_EQ(*sample->set_names, (std::vector<std::string>{"subtree/node2", "subtree/node1"}));
  EXPECT_FALSE(is_known(sample->locality[0].generated));
  EXPECT_FLOAT_EQ(sample->locality[0].consumed, 0);
  EXPECT_FLOAT_EQ(sample->locality[0].total, 0);
  EXPECT_FLOAT_EQ(sample->locality[1].total, 1);
}

TEST_F(AccumulatorTest, HistoryKeepsTheLastSweepsThroughAChange) {
  History history{3};
  history.rebase(fabric);
  for (int i = 0; i < 5; ++i) {
    if (i == 3) {
      use(line(true));
      history.rebase(fabric);
    }
    // 2.5 GB/s more each second.
    read(port(11, 1), i, static_cast<std::uint64_t>(i * (i - 1) / 2) * 2'500'000'000, 0);
    history.append(*finish(i));
  }
  const auto profile = history.profile(port(11, 1));
  ASSERT_EQ(profile.size(), 3U);
  EXPECT_EQ(profile[0].at, at_second(2));
  EXPECT_NEAR(profile[0].utilization, 0.1, 2e-5);
  EXPECT_NEAR(profile[1].utilization, 0.2, 2e-5);
  EXPECT_NEAR(profile[2].utilization, 0.3, 2e-5);
  EXPECT_EQ(history.profile(port(11, 1), 1).size(), 1U);
  EXPECT_TRUE(history.profile(port(1, 2)).empty());
  EXPECT_FALSE(is_known(history.profile(port(1, 4))[0].utilization));
}

}  // namespace
}  // namespace heddle::load
