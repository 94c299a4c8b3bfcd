#include "sampling/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_pmas.h"

namespace heddle::sampling {
namespace {

using namespace std::chrono_literals;
using load::Counter;
using load::is_known;
using load::PortStatus;

// Switch 1 (LID 1) with four ports, hosts 11 and 12 (LIDs 11, 12) on its ports 1 and 2; QDR. Port 4 is empty.
class SamplerTest : public testing::Test {
 protected:
  SamplerTest() : fabric{build({11, 12})} {
    transport.receive_with([this](const mad::Packet& p, Instant at) { engine.on_packet(p, at); });
    for (const auto& [lid, ports] : std::map<int, int>{{1, 4}, {11, 1}, {12, 1}}) {
      FakePma& pma = transport.agents[Lid{static_cast<std::uint16_t>(lid)}];
      pma.info.capability_mask = mad::pm_cap::extended_width | mad::pm_cap::xmit_wait;
      pma.info.capability_mask2 = mad::pm_cap::extended_errors;
      for (int p = 1; p <= ports; ++p) pma.ports[PortNum{static_cast<std::uint8_t>(p)}];
    }
    sampler.use(fabric);
  }

  static std::shared_ptr<const Fabric> build(std::initializer_list<int> hosts) {
    FabricBuilder builder;
    Node node;
    node.guid = NodeGuid{1};
    node.type = NodeType::Switch;
    node.port_count = 4;
    const NodeIndex sw = *builder.add_node(node);
    Port port;
    port.lid = Lid{1};
    static_cast<void>(builder.set_port(sw, port));
    for (const int host : hosts) {
      node.guid = NodeGuid{static_cast<std::uint64_t>(host)};
      node.type = NodeType::ChannelAdapter;
      node.port_count = 1;
      const NodeIndex index = *builder.add_node(node);
      const PortNum one{1};
      const PortNum far{static_cast<std::uint8_t>(host - 10)};
      static_cast<void>(builder.add_link({sw, far}, {index, one}, LinkWidth::X4, LinkSpeed::Qdr));
      port = builder.port(index, one);
      port.lid = Lid{static_cast<std::uint16_t>(host)};
      static_cast<void>(builder.set_port(index, port));
    }
    return builder.build();
  }

  // Until the sweep is over, or nothing more can happen.
  std::shared_ptr<const load::Sample> sweep() {
    const auto began = sampler.begin_sweep(now);
    EXPECT_TRUE(began) << began.error().message;
    run();
    EXPECT_FALSE(sampler.sweeping());
    return sampler.latest();
  }
  void run() {
    for (int i = 0; i < 1000; ++i) {
      if (!transport.idle()) {
        transport.deliver(now);
      } else if (sampler.sweeping() && engine.next_deadline()) {
        now = std::max(now, *engine.next_deadline());
        engine.on_timer(now);
      } else {
        return;
      }
    }
    FAIL() << "the sampler never rests";
  }

  FakePma& pma(int lid) { return transport.agents[Lid{static_cast<std::uint16_t>(lid)}]; }
  FakePort& port(int lid, int num) { return pma(lid).ports[PortNum{static_cast<std::uint8_t>(num)}]; }
  [[nodiscard]] const load::PortSample& of(const load::Sample& sample, std::uint64_t guid, int num) const {
    return sample.port(sample.fabric->find_port({NodeGuid{guid}, PortNum{static_cast<std::uint8_t>(num)}}));
  }
  void make_narrow(int lid) {
    pma(lid).info.capability_mask = mad::pm_cap::xmit_wait;
    pma(lid).info.capability_mask2 = 0;
  }

  Instant now{1s};
  std::shared_ptr<const Fabric> fabric;
  FakePmas transport;
  transport::TransactionEngine engine{transport, {}};
  int published = 0;
  Sampler sampler{engine, {.interval = 0s, .history = 8}, [this](const auto&) { ++published; }};
};

/// Submits requests of its own, and wants nothing of their answers.
class Crowd final : public transport::TransactionClient {
 public:
  void on_completion(const transport::Completion&) override { ++completed; }
  int completed = 0;
};

TEST_F(SamplerTest, ASweepThatBeginsWhileOthersFillTheQueueEndsAllTheSame) {
  Crowd crowd;
  transport::PmaAddress to{};
  to.dlid = Lid{11};
  const auto packet = transport::perf_gmp(mad::Method::Get, mad::PmAttr::ClassPortInfo, 0, to);
  for (int i = 0; i < 300; ++i)
    ASSERT_TRUE(engine.submit({.packet = packet, .agent = transport::AgentKey{11}}, crowd, 0, now));
  const auto sample = sweep();
  EXPECT_TRUE(sample->failures.empty());
  EXPECT_EQ(of(*sample, 11, 1).status, PortStatus::Fresh);
  EXPECT_GT(crowd.completed, 0);
  engine.stop(now);
}

TEST_F(SamplerTest, ASweepReadsEveryPortOnceAndAsksEachAgentOnce) {
  const auto first = sweep();
  // Switch ports 1 and 2, both hosts; ports 3 and 4 are down and have their turn now and then.
  EXPECT_EQ(transport.asked(mad::PmAttr::ClassPortInfo), 3U);
  EXPECT_EQ(transport.asked(mad::PmAttr::PortCounters), 0U);
  const auto extended = transport.asked(mad::PmAttr::PortCountersExtended);
  EXPECT_GE(extended, 4U);
  EXPECT_LE(extended, 6U);
  sweep();
  EXPECT_EQ(transport.asked(mad::PmAttr::ClassPortInfo), 3U);
  EXPECT_EQ(published, 2);
  EXPECT_TRUE(first->failures.empty());
  EXPECT_EQ(of(*first, 11, 1).status, PortStatus::Fresh);
  EXPECT_EQ(of(*first, 1, 0).status, PortStatus::NotSampled);
}

TEST_F(SamplerTest, UtilizationOfQdr) {
  sweep();
  port(11, 1).wide.xmit_data = 500'000'000;  // 2 GB of 4 GB/s
  port(11, 1).wide.xmit_wait = 25'000'000;   // of 250 million ticks
  now += 1s;
  const auto sample = sweep();
  EXPECT_FLOAT_EQ(of(*sample, 11, 1).utilization, 0.5F);
  EXPECT_FLOAT_EQ(of(*sample, 11, 1).congestion, 0.1F);
  EXPECT_FLOAT_EQ(of(*sample, 11, 1).xmit_bytes_per_second, 2e9F);
}

TEST_F(SamplerTest, NarrowErrorsBesideWideDataTakeTwoRequestsAPort) {
  for (const int lid : {1, 11, 12}) pma(lid).info.capability_mask2 = 0;
  port(11, 1).wide.xmit_data = 1000;
  port(11, 1).wide.symbol_errors = 77;  // garbage where the agent has no such counter
  port(11, 1).narrow.symbol_errors = 5;
  port(11, 1).narrow.xmit_data = 3;
  const auto sample = sweep();
  EXPECT_EQ(transport.asked(mad::PmAttr::PortCounters), transport.asked(mad::PmAttr::PortCountersExtended));
  EXPECT_EQ(of(*sample, 11, 1).totals[load::at(Counter::XmitData)], 1000U);
  EXPECT_EQ(of(*sample, 11, 1).totals[load::at(Counter::SymbolErrors)], 5U);
}

TEST_F(SamplerTest, NarrowPortsAreResetAtHalfAndLoseNothing) {
  make_narrow(11);
  sweep();
  std::uint64_t real = 0;
  for (int i = 1; i <= 10; ++i) {
    now += 500ms;
    real += 400'000'000;
    port(11, 1).narrow.xmit_data += 400'000'000;
    const auto sample = sweep();
    EXPECT_EQ(of(*sample, 11, 1).totals[load::at(Counter::XmitData)], real);
    EXPECT_EQ(of(*sample, 11, 1).saturations, 0U);
    EXPECT_NEAR(of(*sample, 11, 1).xmit_bytes_per_second, 3.2e9, 1e6);
  }
  ASSERT_EQ(transport.resets.size(), 1U);
  EXPECT_EQ(transport.resets[0].counter_select, 0x1000U);
  EXPECT_EQ(transport.resets[0].counter_select2, 0U);
  EXPECT_EQ(sampler.statistics().resets, 1U);
}

TEST_F(SamplerTest, PortsWith64BitsAreNeverReset) {
  for (const int lid : {1, 11, 12}) pma(lid).info.capability_mask2 = 0;
  port(11, 1).wide.xmit_data = std::uint64_t{1} << 40U;
  port(11, 1).narrow.xmit_data = 0xffffffff;
  port(11, 1).narrow.xmit_wait = 0xffffffff;
  sweep();
  sweep();
  EXPECT_TRUE(transport.resets.empty());
}

TEST_F(SamplerTest, AReadOnlyTransportMeansSaturationAndIsToldOnce) {
  make_narrow(11);
  transport.read_only = true;
  port(11, 1).narrow.xmit_data = 3'000'000'000;
  sweep();
  now += 1s;
  port(11, 1).narrow.xmit_data = 0xffffffff;
  const auto sample = sweep();
  EXPECT_EQ(of(*sample, 11, 1).saturations, 1U);
  EXPECT_FALSE(is_known(of(*sample, 11, 1).xmit_bytes_per_second));
  EXPECT_EQ(sampler.statistics().reset_failures, 1U);
}

TEST_F(SamplerTest, NarrowPortsArePolledBetweenSlowSweeps) {
  make_narrow(11);
  sampler.set_interval(10s, now);
  ASSERT_EQ(sampler.next_deadline(), now);
  sampler.on_timer(now);
  run();
  ASSERT_EQ(published, 1);
  // QDR fills 32 bits in 4.3 s.
  std::uint64_t real = 0;
  while (published < 2) {
    ASSERT_TRUE(sampler.next_deadline());
    const auto step = *sampler.next_deadline() - now;
    ASSERT_GT(step, 0s);
    ASSERT_LT(step, 1100ms);
    now += step;
    const auto words = static_cast<std::uint64_t>(seconds(step) * 1e9);
    real += words;
    port(11, 1).narrow.xmit_data += static_cast<std::uint32_t>(words);
    sampler.on_timer(now);
    run();
  }
  const auto& sample = of(*sampler.latest(), 11, 1);
  EXPECT_EQ(sample.totals[load::at(Counter::XmitData)], real);
  EXPECT_EQ(sample.saturations, 0U);
  EXPECT_NEAR(sample.utilization, 1, 0.001);
  EXPECT_GT(sampler.statistics().polls, 5U);
}

TEST_F(SamplerTest, ADeadAgentIsListedAndTheOthersAreRead) {
  pma(12).dead = true;
  const auto sample = sweep();
  ASSERT_EQ(sample->failures.size(), 1U);
  EXPECT_EQ(sample->failures[0].port, fabric->find_port({NodeGuid{12}, PortNum{1}}));
  EXPECT_EQ(sample->failures[0].reason, load::SampleFailure::Reason::Timeout);
  EXPECT_EQ(of(*sample, 12, 1).status, PortStatus::Failed);
  EXPECT_EQ(of(*sample, 11, 1).status, PortStatus::Fresh);
  pma(12).dead = false;
  now += 60s;
  EXPECT_EQ(of(*sweep(), 12, 1).status, PortStatus::Fresh);
}

TEST_F(SamplerTest, AnAgentThatDiesLaterKeepsItsTotals) {
  port(12, 1).wide.xmit_data = 4000;
  sweep();
  pma(12).dead = true;
  now += 1s;
  const auto sample = sweep();
  EXPECT_EQ(of(*sample, 12, 1).totals[load::at(Counter::XmitData)], 4000U);
  EXPECT_FALSE(is_known(of(*sample, 12, 1).utilization));
}

TEST_F(SamplerTest, ARedirectionIsFollowed) {
  pma(11).info.redirect_lid = Lid{77};
  pma(11).redirects_to = Lid{77};
  transport.agents[Lid{77}] = pma(12);
  transport.agents[Lid{77}].ports[PortNum{1}].wide.xmit_data = 1234;
  const auto sample = sweep();
  EXPECT_EQ(of(*sample, 11, 1).totals[load::at(Counter::XmitData)], 1234U);
  EXPECT_TRUE(sample->failures.empty());
}

TEST_F(SamplerTest, ALateRedirectionIsFollowedToo) {
  sweep();
  pma(11).redirects_to = Lid{77};
  transport.agents[Lid{77}] = pma(12);
  transport.agents[Lid{77}].ports[PortNum{1}].wide.xmit_data = 1234;
  now += 1s;
  EXPECT_EQ(of(*sweep(), 11, 1).totals[load::at(Counter::XmitData)], 1234U);
}

TEST_F(SamplerTest, ARedirectionDuringAPollThatIsNotAnsweredIsFollowedToo) {
  make_narrow(11);
  sampler.set_interval(10s, now);
  sampler.on_timer(now);
  run();
  ASSERT_EQ(published, 1);
  now = *sampler.next_deadline();
  pma(11).dead = true;
  sampler.on_timer(now);
  ASSERT_EQ(sampler.statistics().polls, 1U);
  transport.deliver(now);
  pma(11).dead = false;
  pma(11).redirects_to = Lid{77};
  transport.agents[Lid{77}] = pma(12);
  transport.agents[Lid{77}].ports[PortNum{1}].wide.xmit_data = 1234;
  const auto& sample = of(*sweep(), 11, 1);
  EXPECT_EQ(sample.status, PortStatus::Fresh);
  EXPECT_EQ(sample.totals[load::at(Counter::XmitData)], 1234U);
}

TEST_F(SamplerTest, RedirectionsInACircleEnd) {
  pma(11).info.redirect_lid = Lid{12};
  pma(11).redirects_to = Lid{12};
  pma(12).info.redirect_lid = Lid{11};
  pma(12).redirects_to = Lid{11};
  const auto sample = sweep();
  EXPECT_EQ(sample->failures.size(), 2U);
}

TEST_F(SamplerTest, AnAgentThatPromisesTooMuchIsReadIn32Bits) {
  pma(11).refuses_wide = true;
  port(11, 1).narrow.xmit_data = 50;
  const auto sample = sweep();
  EXPECT_EQ(of(*sample, 11, 1).totals[load::at(Counter::XmitData)], 50U);
  EXPECT_EQ(of(*sample, 11, 1).status, PortStatus::Fresh);
}

TEST_F(SamplerTest, AnAnswerForAnotherPortIsNoReading) {
  pma(11).wrong_port = true;
  const auto sample = sweep();
  ASSERT_EQ(sample->failures.size(), 1U);
  EXPECT_EQ(sample->failures[0].reason, load::SampleFailure::Reason::BadAnswer);
}

TEST_F(SamplerTest, AChangeOfTheFabricKeepsTotalsAndAgents) {
  port(11, 1).wide.xmit_data = 1000;
  sweep();
  sampler.use(build({11}));
  port(11, 1).wide.xmit_data = 2000;
  now += 1s;
  const auto sample = sweep();
  EXPECT_EQ(of(*sample, 11, 1).totals[load::at(Counter::XmitData)], 2000U);
  EXPECT_FLOAT_EQ(of(*sample, 11, 1).xmit_bytes_per_second, 4000);
  EXPECT_EQ(transport.asked(mad::PmAttr::ClassPortInfo), 3U);
  EXPECT_EQ(sampler.history().profile(sample->fabric->find_port({NodeGuid{11}, PortNum{1}})).size(), 2U);
}

TEST_F(SamplerTest, AFabricThatComesDuringASweepWaitsForItsEnd) {
  ASSERT_TRUE(sampler.begin_sweep(now));
  const auto next = build({11});
  sampler.use(next);
  run();
  EXPECT_EQ(sampler.latest()->fabric, fabric);
  EXPECT_EQ(sweep()->fabric, next);
}

// Ten seconds with an interval of one: what did not begin is counted, however few sweeps it came between.
TEST_F(SamplerTest, EverySweepThatDidNotBeginInTimeIsCounted) {
  sampler.set_interval(1s, now);
  for (const auto pause : {0ms, 1000ms, 3600ms, 1400ms, 1000ms, 3000ms}) {
    now += pause;
    sampler.on_timer(now);
    run();
  }
  EXPECT_EQ(sampler.statistics().sweeps, 6U);
  EXPECT_EQ(sampler.statistics().late_sweeps, 3U + 2U);
}

TEST_F(SamplerTest, NoTwoSweepsAtOnceAndNoneWithoutAFabric) {
  ASSERT_TRUE(sampler.begin_sweep(now));
  EXPECT_EQ(sampler.begin_sweep(now).error().code, ErrorCode::Conflict);
  Sampler empty{engine, {}, {}};
  EXPECT_EQ(empty.begin_sweep(now).error().code, ErrorCode::NotFound);
  EXPECT_FALSE(empty.next_deadline());
  engine.stop(now);
}

TEST_F(SamplerTest, AnswersAfterStopAreHarmless) {
  ASSERT_TRUE(sampler.begin_sweep(now));
  engine.stop(now);
  transport.deliver(now);
  EXPECT_EQ(published, 0);
}

}  // namespace
}  // namespace heddle::sampling
