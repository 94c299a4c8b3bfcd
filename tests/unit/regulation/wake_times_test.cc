#include "regulation/wake_times.h"

#include <gtest/gtest.h>

#include "fabric/generators.h"

namespace heddle::regulation {
namespace {

using namespace std::chrono_literals;

TEST(WakeTimesTest, AQuantileIsOneOfThem) {
  EXPECT_EQ(quantile({7s}, 0.95), 7s);
  EXPECT_EQ(quantile({5s, 1s, 4s, 2s, 3s}, 0.95), 5s);
  EXPECT_EQ(quantile({5s, 1s, 4s, 2s, 3s}, 0.5), 3s);
  Wakes twenty;
  for (int i = 1; i <= 20; ++i) twenty.emplace_back(i * 1s);
  EXPECT_EQ(quantile(twenty, 0.95), 19s);
}

TEST(WakeTimesTest, TheOldestIsForgotten) {
  Wakes wakes;
  for (std::size_t i = 0; i <= most_wakes; ++i) add_wake(wakes, std::chrono::milliseconds{i});
  EXPECT_EQ(wakes.size(), most_wakes);
  EXPECT_EQ(wakes.front(), 1ms);
  EXPECT_EQ(wakes.back(), std::chrono::milliseconds{most_wakes});
}

class ExpectedWakes : public testing::Test {
 protected:
  std::shared_ptr<const Fabric> fabric_ = *generate("torus:3x3,hosts=1,links=2");
  std::map<LinkRef, Wakes> wakes_;

  [[nodiscard]] LinkRef ref(std::size_t i) const { return link_ref(*fabric_, fabric_->links()[i]); }
  [[nodiscard]] bool is_trunk(std::size_t i) const {
    const Link& link = fabric_->links()[i];
    return fabric_->node(link.a.node).type == NodeType::Switch &&
           fabric_->node(link.b.node).type == NodeType::Switch;
  }
  [[nodiscard]] std::size_t trunk(std::size_t n) const {
    std::size_t i = 0;
    while (!is_trunk(i) || n-- > 0) ++i;
    return i;
  }
  [[nodiscard]] ExpectedWake of(std::size_t i) const { return expected_wakes(*fabric_, wakes_, 4500ms)[i]; }
};

TEST_F(ExpectedWakes, AreTheOperatorsGuessAtFirst) {
  for (const ExpectedWake& each : expected_wakes(*fabric_, wakes_, 4500ms)) {
    EXPECT_EQ(each, (ExpectedWake{4500ms, WakeSource::Configured, 0, {}}));
  }
  wakes_[ref(trunk(0))] = {9s, 8s, 9s, 9s};
  EXPECT_EQ(of(trunk(0)), (ExpectedWake{4500ms, WakeSource::Configured, 4, 9s}));
}

TEST_F(ExpectedWakes, AreALinksOwnFromFiveOn) {
  wakes_[ref(trunk(0))] = {9s, 8s, 60s, 9s, 9s};
  EXPECT_EQ(of(trunk(0)), (ExpectedWake{60s, WakeSource::Link, 5, 60s}));
}

TEST_F(ExpectedWakes, AreThoseOfItsKindWhereALinkHasNotShownEnough) {
  for (std::size_t n = 0; n < 5; ++n) wakes_[ref(trunk(n))] = {std::chrono::seconds{10 + n}};
  EXPECT_EQ(of(trunk(0)), (ExpectedWake{14s, WakeSource::Kind, 1, 10s}));
  EXPECT_EQ(of(trunk(7)), (ExpectedWake{14s, WakeSource::Kind, 0, {}}));
  // A host's link is another kind: a switch at one end only.
  for (std::size_t i = 0; i < fabric_->links().size(); ++i) {
    const bool same = is_trunk(i);
    EXPECT_EQ(of(i).source, same ? WakeSource::Kind : WakeSource::Configured) << i;
  }
}

}  // namespace
}  // namespace heddle::regulation
