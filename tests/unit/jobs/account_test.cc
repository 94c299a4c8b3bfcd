#include "jobs/account.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/generators.h"
#include "fabric/link_name.h"

namespace heddle::jobs {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// Two leaves with two hosts each (host-0 and host-1 at leaf-0), under two spines.
class AccountTest : public ::testing::Test {
 protected:
  AccountTest() {
    for (PortLoad& load : loads_) load.known = true;
  }
  /// Direction from one node to another, by the only cable between them.
  [[nodiscard]] LinkEnd way(const std::string& from, const std::string& to) const {
    const NodeIndex node = names_.find_node(from).value();
    for (unsigned p = 1; p <= fabric_->node(node).port_count; ++p) {
      const LinkEnd end{node, PortNum{static_cast<std::uint8_t>(p)}};
      const auto peer = fabric_->peer(end);
      if (peer && names_.node(peer->node) == to) return end;
    }
    ADD_FAILURE() << "no cable from " << from << " to " << to;
    return {};
  }
  void set(const std::string& from, const std::string& to, double rate) {
    loads_[fabric_->port_index(way(from, to)).raw()] = {rate, rate / 1000, true};
  }
  static std::string host(int i) { return "host-" + std::to_string(i) + " mlx5_0"; }
  [[nodiscard]] std::vector<JobFigures> figures(const std::vector<Job>& jobs) const {
    return account(*fabric_, loads_, jobs);
  }

  std::shared_ptr<const Fabric> fabric_ = generate("tree:k=2,n=2").value();
  FabricNames names_{fabric_};
  std::vector<PortLoad> loads_ = std::vector<PortLoad>(fabric_->ports().size());
};

const std::vector<Job> one_a_leaf{{"a", "", "", {"host-0", "host-1"}}, {"b", "", "", {"host-2", "host-3"}}};

TEST_F(AccountTest, AJobAloneAtItsLeafIsMeasured) {
  set(host(0), "leaf-0", 300);
  set(host(1), "leaf-0", 100);
  set("leaf-0", host(1), 200);
  set("leaf-0", "spine-0", 60);
  set("leaf-0", "spine-1", 40);
  const auto both = figures(one_a_leaf);
  EXPECT_EQ(both[0].hosts, 2U);
  EXPECT_DOUBLE_EQ(both[0].injected, 400);
  EXPECT_DOUBLE_EQ(both[0].delivered, 200);
  ASSERT_TRUE(both[0].leaves_leaf);
  EXPECT_DOUBLE_EQ(*both[0].leaves_leaf, 0.25);
  EXPECT_TRUE(both[0].exact);
  EXPECT_THAT(both[0].leaves, SizeIs(1));
  EXPECT_EQ(both[0].worst, way(host(0), "leaf-0"));
  EXPECT_DOUBLE_EQ(both[0].worst_utilization, 0.3);
  EXPECT_THAT(both[0].neighbours, IsEmpty());
  // Who sends nothing has no share.
  EXPECT_FALSE(both[1].leaves_leaf);
}

TEST_F(AccountTest, WhoSharesTheLeafSharesItsUplinks) {
  set(host(0), "leaf-0", 300);
  set(host(1), "leaf-0", 100);
  set("leaf-0", "spine-0", 390);
  const auto both =
      figures({{"a", "", "", {"host-0"}}, {"b", "", "", {"host-1"}}, {"c", "", "", {"host-2"}}});
  EXPECT_FALSE(both[0].exact);
  EXPECT_DOUBLE_EQ(both[0].leaves_leaf.value(), 0.975);
  EXPECT_EQ(both[0].worst, way("leaf-0", "spine-0"));
  EXPECT_THAT(both[0].neighbours, ElementsAre(Neighbour{1, 100}));
  EXPECT_THAT(both[1].neighbours, ElementsAre(Neighbour{0, 300}));
  EXPECT_THAT(both[2].neighbours, IsEmpty());
}

TEST_F(AccountTest, OfALinkTowardsTheLeafItIsWhoReceives) {
  set("spine-1", "leaf-1", 700);
  set("leaf-1", host(2), 200);
  set("leaf-1", host(3), 500);
  const auto both = figures({{"a", "", "", {"host-2"}}, {"b", "", "", {"host-3"}}});
  EXPECT_EQ(both[0].worst, way("spine-1", "leaf-1"));
  EXPECT_THAT(both[0].neighbours, ElementsAre(Neighbour{1, 500}));
}

TEST_F(AccountTest, AHostMayHaveSeveralJobsAndADomain) {
  set(host(0), "leaf-0", 300);
  const auto both =
      figures({{"a", "", "", {"host-0.cluster.example"}}, {"b", "", "", {"host-0", "nowhere"}}});
  EXPECT_EQ(both[0].hosts, 1U);
  EXPECT_FALSE(both[0].exact);
  EXPECT_EQ(both[0].worst, way(host(0), "leaf-0"));
  EXPECT_THAT(both[0].neighbours, ElementsAre(Neighbour{1, 300}));
  EXPECT_THAT(both[1].unknown_hosts, ElementsAre("nowhere"));
}

TEST_F(AccountTest, WhatNobodyKnowsIsCountedAndNotExact) {
  set(host(0), "leaf-0", 300);
  loads_[fabric_->port_index(way(host(1), "leaf-0")).raw()].known = false;
  const auto both = figures(one_a_leaf);
  EXPECT_EQ(both[0].unmeasured, 1U);
  EXPECT_FALSE(both[0].exact);
}

// Through a switch of a torus packets of others pass.
TEST_F(AccountTest, WhereOthersPassThroughNothingIsExact) {
  const auto torus = generate("torus:4x4,hosts=1").value();
  std::vector<PortLoad> loads(torus->ports().size(), {1, 0.1, true});
  const std::vector<Job> jobs{{"a", "", "", {"host-0"}}};
  const auto figures = account(*torus, loads, jobs);
  EXPECT_EQ(figures[0].hosts, 1U);
  EXPECT_FALSE(figures[0].exact);
}

}  // namespace
}  // namespace heddle::jobs
