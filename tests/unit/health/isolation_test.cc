// Which bad links are taken out: surely bad ones between switches, few at a time, and for how long.
#include "health/isolation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/health/health_world.h"

namespace heddle::health {
namespace {

using sim::ErrorCounter;
using testing::IsEmpty;
using testing::SizeIs;

constexpr IsolationOptions enforced{.mode = Isolate::Enforce, .never_more_than = Ratio{0.5}};

std::vector<LinkRef> links_of(const std::vector<IsolationOrder>& orders) {
  std::vector<LinkRef> links;
  for (const IsolationOrder& order : orders) links.push_back(order.link);
  return links;
}

class HealthIsolation : public testing::Test {
 protected:
  [[nodiscard]] std::vector<IsolationOrder> decide(const Isolation& isolation,
                                                   const Isolation::Wishes& wishes = {}) const {
    return isolation.decide(*world.judge().report(), world.seen(), wishes, world.now());
  }
  [[nodiscard]] LinkRef ref(LinkIndex link) const {
    return link_ref(world.truth(), world.truth().link(link));
  }

  mutable HealthWorld world{ring};  // eight links between switches
};

TEST_F(HealthIsolation, ALinkThatIsSurelyBad) {
  const LinkIndex bad = world.trunk_link();
  world.errors(world.end(bad), ErrorCounter::Symbol, 2);
  world.pass(1min);
  ASSERT_EQ(world.count(Rule::SymbolErrors), 1U);
  EXPECT_THAT(decide(Isolation{enforced}), IsEmpty()) << "likely is not enough";
  world.errors(world.end(bad), ErrorCounter::Symbol, 100);
  world.pass(1min);
  const auto orders = decide(Isolation{enforced});
  ASSERT_THAT(orders, SizeIs(1));
  EXPECT_EQ(orders[0].link, ref(bad));
  EXPECT_EQ(orders[0].until, world.now() + 125min);
  EXPECT_THAT(orders[0].reason, testing::StartsWith("symbol-errors: 102 symbol errors"));
  EXPECT_EQ(decide(Isolation{{.never_more_than = Ratio{0.5}}}), orders) << "the same would be advised";
  EXPECT_THAT(decide(Isolation{{.mode = Isolate::Off}}), IsEmpty());
  EXPECT_THAT(decide(Isolation{enforced}, {.all = {ref(bad)}}), IsEmpty()) << "somebody wants it so";
}

TEST_F(HealthIsolation, HostsAndSlowLinksStay) {
  world.errors(world.end(world.host_link()), ErrorCounter::Symbol, 100);
  world.fabric().limit(world.trunk_link(), {.width = LinkWidth::X1}, world.ps());
  world.pass(1min);
  ASSERT_GE(world.count(), 2U);
  EXPECT_THAT(decide(Isolation{enforced}), IsEmpty());
}

TEST_F(HealthIsolation, NeverMoreThanSomeAtATime) {
  for (const Link& link : world.truth().links()) {
    world.errors(link.a, ErrorCounter::Symbol, 100);
  }
  world.pass(1min);
  EXPECT_THAT(decide(Isolation{enforced}), SizeIs(4)) << "half of eight";
  EXPECT_THAT(decide(Isolation{{.mode = Isolate::Enforce, .most = 3, .never_more_than = Ratio{0.5}}}),
              SizeIs(3));
  const std::set<LinkRef> two{ref(LinkIndex{0}), ref(LinkIndex{1})};
  EXPECT_THAT(decide(Isolation{enforced}, {.all = two, .ours = 2}), SizeIs(3))
      << "half of ten, and two are out";
  EXPECT_THAT(decide(Isolation{{.mode = Isolate::Enforce}}), IsEmpty()) << "a tenth of eight is none";
  const Isolation large{{.mode = Isolate::Enforce}};
  EXPECT_EQ(large.most(50), 5U);
  EXPECT_EQ(large.most(1000), 10U);
  EXPECT_EQ(large.most(10'000), 50U);
}

TEST_F(HealthIsolation, ATrialThatFailsDoublesTheTime) {
  world.errors(world.end(world.trunk_link()), ErrorCounter::Symbol, 100);
  world.pass(1min);
  Isolation isolation{enforced};
  auto orders = decide(isolation);
  ASSERT_THAT(orders, SizeIs(1));
  isolation.given(orders[0], world.now());
  orders = decide(isolation);
  ASSERT_THAT(orders, SizeIs(1)) << "it is back, and bad";
  EXPECT_EQ(orders[0].until, world.now() + 250min);
  isolation.given({orders[0].link, world.now() - 126min, ""}, world.now() - 251min);
  EXPECT_EQ(decide(isolation)[0].until, world.now() + 125min) << "it has stood its trial";
}

TEST_F(HealthIsolation, WhatIsRefusedIsAskedForAgainLater) {
  world.errors(world.end(world.trunk_link()), ErrorCounter::Symbol, 100);
  world.pass(1min);
  Isolation isolation{enforced};
  const auto orders = decide(isolation);
  isolation.refused(orders.at(0), world.now());
  EXPECT_THAT(decide(isolation), IsEmpty());
  world.pass(10min);
  EXPECT_EQ(links_of(decide(isolation)), links_of(orders));
}

}  // namespace
}  // namespace heddle::health
