#include "regulation/any_traffic.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "fabric/generators.h"
#include "regulation/tried_loads.h"
#include "routing/quality.h"

namespace heddle::regulation {
namespace {

class AnyTrafficTest : public testing::Test {
 protected:
  void make(const std::string& spec) {
    NetworkOptions options;
    options.planes = 2;
    network_ = *Network::make(*assign_lids(**generate(spec), 1), options);
    hosts_ = routing::host_targets(network_->graph());
    rates_.sent.assign(network_->graph().targets().size(), 0);
    rates_.received = rates_.sent;
  }
  void all_send(double share) {
    for (const std::uint32_t host : hosts_) rates_.sent[host] = rates_.received[host] = share * capacity();
  }
  [[nodiscard]] double capacity() const { return network_->capacity(LinkIndex{0}); }

  std::unique_ptr<Network> network_;
  std::vector<std::uint32_t> hosts_;
  MeasuredLoads rates_;
};

// Less only by what hosts would send to themselves: one in eight, where bits are reversed.
TEST_F(AnyTrafficTest, HostsSendTheirRatesInEveryPattern) {
  make("xgft:2;8,8;1,8");
  all_send(0.1);
  const AnyTraffic any{*network_, rates_};
  ASSERT_GT(any.patterns().size(), 10U);
  for (const auto& flows : any.patterns()) {
    std::vector<double> sent(hosts_.size(), 0);
    for (const HostFlow& flow : flows) {
      EXPECT_NE(flow.from, flow.to);
      EXPECT_GT(flow.rate, 0);
      sent[flow.from] += flow.rate;
    }
    double sum = 0;
    for (const double rate : sent) {
      EXPECT_LE(rate, 0.1 * capacity() * (1 + 1e-6));
      sum += rate;
    }
    EXPECT_GT(sum, 0.85 * 0.1 * capacity() * static_cast<double>(hosts_.size()));
  }
}

// A server that gets what all others send gets it in every pattern but for what hot spots take.
TEST_F(AnyTrafficTest, NobodyGetsMoreThanItsRate) {
  make("xgft:2;8,8;1,8");
  for (const std::uint32_t host : hosts_) rates_.sent[host] = 0.01 * capacity();
  rates_.sent[hosts_[5]] = 0;
  rates_.received[hosts_[5]] = 0.63 * capacity();
  const AnyTraffic any{*network_, rates_};
  for (const auto& flows : any.patterns()) {
    double to_server = 0;
    double all = 0;
    for (const HostFlow& flow : flows) {
      EXPECT_NE(flow.from, 5U);
      all += flow.rate;
      if (flow.to == 5U) to_server += flow.rate;
    }
    EXPECT_GE(to_server, 0.9 * all);
    EXPECT_LE(to_server, 0.63 * capacity() * (1 + 1e-6));
  }
}

// Some links off, then others, few and many at a time: the same as if everything were followed.
TEST_F(AnyTrafficTest, WhatIsNotFollowedAgainIsAsItWas) {
  for (const char* spec :
       {"xgft:2;8,8;1,8", "torus:4x4,hosts=4,links=2", "random:switches=20,hosts=40,links=50,seed=7"}) {
    make(spec);
    all_send(0.3);
    const AnyTraffic any{*network_, rates_};
    Random random{1};
    for (const unsigned plane : {0U, 1U}) {
      TriedLoads tried{plane};
      routing::LinkSet active = routing::LinkSet::all(network_->fabric());
      std::size_t sets = 0;
      for (unsigned trial = 0; trial < 200; ++trial) {
        routing::LinkSet next = active;
        for (unsigned links = 1 + random.below(trial % 10 == 0 ? 20 : 2); links > 0; --links) {
          const auto& trunk = network_->trunks()[random.below(network_->trunks().size())];
          next.erase(trunk.links[random.below(trunk.links.size())]);
        }
        if (broken_rule(*network_, next)) {
          active = routing::LinkSet::all(network_->fabric());
          continue;
        }
        ++sets;
        const routing::ForwardingTables& tables = network_->tables(next, plane);
        const AnyTraffic::Loads expected = any.loads(tables, plane);
        const AnyTraffic::Loads loads = tried.loads(any, tables);
        constexpr double rounding = 1e-9;
        for (std::size_t h = 0; h < expected.mean.size(); ++h) {
          ASSERT_NEAR(loads.mean[h], expected.mean[h], rounding * capacity());
          ASSERT_NEAR(loads.most[h], expected.most[h], rounding * capacity());
        }
        for (std::size_t p = 0; p < expected.shed.size(); ++p)
          ASSERT_NEAR(loads.shed[p], expected.shed[p], rounding);
        if (random.below(2) == 0) active = next;
      }
      EXPECT_GT(sets, 50U) << spec;
    }
  }
}

TEST_F(AnyTrafficTest, WhoSendsNothingHasNoPatterns) {
  make("xgft:2;4,4;1,4");
  EXPECT_TRUE(AnyTraffic(*network_, rates_).patterns().empty());
}

// Two switches of four hosts with one link: in some pattern all of them send over it.
TEST_F(AnyTrafficTest, WhatIsAboveCapacityIsShed) {
  make("mesh:2x1,hosts=4,links=1");
  all_send(0.3);
  const AnyTraffic any{*network_, rates_};
  const auto all = routing::LinkSet::all(network_->fabric());
  const auto loads = any.loads(network_->tables(all, 1), 1);
  ASSERT_EQ(loads.shed.size(), any.patterns().size());
  EXPECT_NEAR(std::ranges::max(loads.most), 1.2 * capacity(), 1e-3 * capacity());
  // 0.2 of a link too much each way, of 2.4 that are sent.
  EXPECT_NEAR(std::ranges::max(loads.shed), 0.4 / 2.4, 1e-3);
  EXPECT_LT(std::ranges::max(loads.mean), 1.2 * capacity());
  EXPECT_GT(std::ranges::max(loads.mean), 0.3 * capacity());
}

}  // namespace
}  // namespace heddle::regulation
