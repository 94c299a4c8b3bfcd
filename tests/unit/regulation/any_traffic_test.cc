#include "regulation/any_traffic.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fabric/generators.h"
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
