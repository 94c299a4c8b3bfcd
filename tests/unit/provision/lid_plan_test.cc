#include "authority/own/lid_plan.h"

#include <gmock/gmock.h>

#include "discovery/discovery.h"
#include "sim/bring_up.h"
#include "support/sim_world.h"

namespace heddle::provision {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class LidPlanTest : public testing::Test {
 protected:
  void SetUp() override {
    sim::bring_up(sim_.fabric);
    discovery::Discovery discovery{
        sim_.engine, {}, [this](const discovery::SweepReport& report) { survey_ = *report.survey; }};
    discovery.full(sim_.now);
    ASSERT_TRUE(sim_.run([&] { return !discovery.busy(); }));
    for (std::uint32_t i = 0; i < survey_.nodes.size(); ++i) {
      if (!survey_.nodes[i].is_switch()) hosts_.push_back(NodeIndex{i});
    }
  }
  [[nodiscard]] LinkEnd port_of(NodeIndex host) const { return {host, PortNum{1}}; }
  [[nodiscard]] PortRef ref_of(NodeIndex host) const { return {survey_.node(host).guid(), PortNum{1}}; }
  Lid& lid_of(NodeIndex host) { return survey_.nodes[host.raw()].ports[1].info.lid; }

  test::SimWorld sim_{"tree:k=3,n=2"};
  Survey survey_;
  std::vector<NodeIndex> hosts_;
};

/// Whoever came first in the survey took the LID, and its owner had to move.
TEST_F(LidPlanTest, NobodyTakesALidBySayingThatItIsHis) {
  LidsByPort remembered;
  remember(plan_lids(survey_, 0, {}).value(), remembered);
  const NodeIndex liar = hosts_.front();
  const NodeIndex owner = hosts_.back();
  const Lid own = lid_of(liar);
  lid_of(liar) = lid_of(owner);
  const LidPlan plan = plan_lids(survey_, 0, remembered).value();
  EXPECT_EQ(plan.lids.at(ref_of(owner)), lid_of(owner));
  EXPECT_EQ(plan.lids.at(ref_of(liar)), own);
  EXPECT_THAT(plan.moved, ElementsAre(HasSubstr("another port has it")));
}

TEST_F(LidPlanTest, RemembersPortsThatAreGoneUpToABound) {
  const LidPlan plan = plan_lids(survey_, 0, {}).value();
  LidsByPort remembered;
  for (std::uint64_t i = 0; i < most_remembered - plan.lids.size(); ++i) {
    remembered.emplace(PortRef{NodeGuid{1'000'000 + i}, PortNum{1}}, last_unicast_lid);
  }
  remember(plan, remembered);
  EXPECT_EQ(remembered.size(), most_remembered);
  remembered.emplace(PortRef{NodeGuid{1}, PortNum{1}}, last_unicast_lid);
  remember(plan, remembered);
  EXPECT_TRUE(remembered == plan.lids);
}

TEST_F(LidPlanTest, ALidIsRememberedOfOnePortOnly) {
  const LidPlan plan = plan_lids(survey_, 0, {}).value();
  const PortRef away{NodeGuid{1}, PortNum{1}};
  const PortRef other{NodeGuid{2}, PortNum{1}};
  LidsByPort remembered{{away, lid_of(hosts_.front())}, {other, last_unicast_lid}};
  remember(plan, remembered);
  EXPECT_FALSE(remembered.contains(away)) << "its LID is another one's since";
  EXPECT_EQ(remembered.at(other), last_unicast_lid);
}

}  // namespace
}  // namespace heddle::provision
