#include "regulation/any_links.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "base/random.h"
#include "fabric/generators.h"
#include "routing/quality.h"

namespace heddle::regulation {
namespace {

class AnyLinksTest : public testing::Test {
 protected:
  AnyLinksTest() { be("xgft:2;8,8;1,8"); }
  void be(const char* generator) {
    NetworkOptions make;
    make.planes = 2;
    network_ = *Network::make(*assign_lids(**generate(generator), 1), make);
    all_ = routing::LinkSet::all(network_->fabric());
    exempt_.clear();
    for (std::uint32_t i = 0; i < network_->fabric().links().size(); ++i)
      exempt_.push_back(network_->trunk_of(LinkIndex{i}) == Network::no_trunk ? Exempt::HostLink
                                                                              : Exempt::No);
    problem_.network = network_.get();
    problem_.power = &power_;
    problem_.exempt = exempt_;
    problem_.available = &all_;
    problem_.current = &all_;
    options_.policy = SelectPolicy::General;
    options_.next_plane = 1;
  }
  [[nodiscard]] MeasuredLoads all_send(double share) const {
    MeasuredLoads rates;
    rates.sent.assign(network_->graph().targets().size(), 0);
    for (const std::uint32_t host : routing::host_targets(network_->graph()))
      rates.sent[host] = share * network_->capacity(LinkIndex{0});
    rates.received = rates.sent;
    return rates;
  }
  [[nodiscard]] std::size_t off(const routing::LinkSet& active) const {
    return all_.count() - active.count();
  }

  power::PowerModel power_;
  std::unique_ptr<Network> network_;
  routing::LinkSet all_;
  std::vector<Exempt> exempt_;
  SelectionProblem problem_;
  SelectOptions options_;
};

TEST_F(AnyLinksTest, TheLessHostsSendTheMoreLinksLeave) {
  std::size_t last = 0;
  for (const double share : {0.5, 0.2, 0.1, 0.02}) {
    AnyLinks any{problem_, options_, all_send(share), all_};
    const auto active = any.choose();
    ASSERT_TRUE(active) << share;
    EXPECT_TRUE(any.bears(*active)) << share;
    EXPECT_FALSE(broken_rule(*network_, *active)) << share;
    EXPECT_GE(off(*active), last) << share;
    last = off(*active);
  }
  EXPECT_GT(last, 40U);  // of 64
}

// The larger the fabric, the fewer sets were tried: of selene-compute four. A link that had to stay may be
// spared once others have gone, so a few could.
TEST_F(AnyLinksTest, HardlyALinkMoreCouldLeave) {
  be("xgft:2;16,32;1,16");
  std::size_t could = 0;  // 197 before
  for (const double share : {0.3, 0.2}) {
    AnyLinks any{problem_, options_, all_send(share), all_};
    const auto active = any.choose();
    ASSERT_TRUE(active) << share;
    for (const Trunk& trunk : network_->trunks()) {
      for (const LinkIndex link : trunk.links) {
        if (!active->contains(link)) continue;
        routing::LinkSet fewer = *active;
        fewer.erase(link);
        if (!broken_rule(*network_, fewer) && any.bears(fewer)) ++could;
      }
    }
  }
  EXPECT_LT(could, 20U);  // of 1,024
}

// Patterns that it was not chosen by.
TEST_F(AnyLinksTest, OtherPermutationsFindRoom) {
  const double share = 0.1;
  AnyLinks any{problem_, options_, all_send(share), all_};
  const auto active = any.choose();
  ASSERT_TRUE(active);
  ASSERT_GT(off(*active), 16U);
  const double capacity = network_->capacity(LinkIndex{0});
  Random random{4711};
  for (int i = 0; i < 50; ++i) {
    std::vector<std::uint32_t> to(network_->graph().host_count());
    for (std::uint32_t h = 0; h < to.size(); ++h) to[h] = h;
    random.shuffle(to);
    std::vector<HostFlow> flows;
    for (std::uint32_t h = 0; h < to.size(); ++h) flows.push_back({h, to[h], share * capacity});
    for (const double load :
         predicted_loads(*network_, network_->tables(*active), traffic_of(*network_, flows)))
      EXPECT_LE(load, capacity) << "permutation " << i;
  }
}

// What nearly fills links with all of them on leaves none to spare.
TEST_F(AnyLinksTest, AllStayWhereAllAreNeeded) {
  AnyLinks any{problem_, options_, all_send(0.9), all_};
  const auto active = any.choose();
  ASSERT_TRUE(active);
  EXPECT_LE(off(*active), 8U);
}

// Each link that stays counts once, for a rule that an operator knows, and the busiest of them is one of
// them.
TEST_F(AnyLinksTest, SaysWhatHoldsLinksOn) {
  exempt_[network_->trunks().front().links.front().raw()] = Exempt::Pinned;
  for (const double share : {0.0, 0.05, 0.3, 0.9}) {
    AnyLinks any{problem_, options_, all_send(share), all_};
    const auto active = any.choose();
    ASSERT_TRUE(active) << share;
    const AnyLinks::Outcome outcome = any.outcome(*active);
    std::size_t links = 0;
    for (const Holding& each : outcome.held) {
      links += each.links;
      EXPECT_TRUE(active->contains(each.example)) << each.rule;
      EXPECT_NE(network_->trunk_of(each.example), Network::no_trunk) << each.rule;
      EXPECT_DOUBLE_EQ(each.busiest.value(), std::max(outcome.most[network_->up_hop(each.example)],
                                                      outcome.most[network_->down_hop(each.example)]) /
                                                 network_->capacity(each.example));
    }
    std::size_t stay = 0;
    for (const Trunk& trunk : network_->trunks())
      stay += static_cast<std::size_t>(
          std::ranges::count_if(trunk.links, [&](LinkIndex link) { return active->contains(link); }));
    EXPECT_EQ(links, stay) << share;
    const auto held = [&](std::string_view by) {
      std::size_t count = 0;
      for (const Holding& each : outcome.held)
        count += each.rule.find(by) != std::string::npos ? each.links : 0;
      return count;
    };
    EXPECT_EQ(held(to_string(Exempt::Pinned)), 1U);
    // Of hosts that send nothing a path is left of each switch; of those that send much, patterns fill links.
    const std::string_view most = share == 0     ? "keeps a path"
                                  : share == 0.3 ? "hardly less is to get through"
                                  : share == 0.9 ? "no link is to carry more than 70 %"
                                                 : "";
    EXPECT_GT(held(most), stay / 2) << share;
  }
}

}  // namespace
}  // namespace heddle::regulation
