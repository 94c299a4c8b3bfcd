// What the daemon's sweeps meet twice, as `heddle health` tells of it.

#include "story.h"

namespace heddle::test {
namespace {

class TwiceThere : public Story {
 protected:
  [[nodiscard]] std::vector<health::Finding> findings(health::Rule rule) const {
    std::vector<health::Finding> found;
    for (const health::Finding& finding : world_->daemon->core().health().report()->findings) {
      if (finding.rule == rule) found.push_back(finding);
    }
    return found;
  }
  [[nodiscard]] NodeIndex host(std::size_t i) const {
    return world_->fabric.description().port(hosts_[i]).node;
  }
  /// The last host goes, and one with this GUID comes in its place.
  void replaced_by(NodeGuid guid) {
    const NodeIndex last = host(hosts_.size() - 1);
    world_->fabric.kill(last, world_->ps());
    world_->run_for(30s);
    world_->fabric.set_guid(last, guid);
    world_->fabric.revive(last, world_->ps());
    world_->run_for(60s);
  }
};

TEST_F(TwiceThere, AHostWithTheGuidOfAnother) {
  RegulatedWorld& world = begin(ring, 0);
  world.run_for(60s);
  EXPECT_TRUE(findings(health::Rule::DuplicateGuid).empty());
  const NodeGuid taken = world.fabric.description().node(host(1)).guid;
  replaced_by(taken);
  const auto found = findings(health::Rule::DuplicateGuid);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].sureness, health::Sureness::Sure);
  EXPECT_EQ(found[0].at.node, taken);
}

TEST_F(TwiceThere, AHostWithAGuidOfItsOwn) {
  begin(ring, 0);
  replaced_by(NodeGuid{0x1234});
  EXPECT_TRUE(findings(health::Rule::DuplicateGuid).empty());
  EXPECT_TRUE(findings(health::Rule::DuplicateLid).empty());
}

}  // namespace
}  // namespace heddle::test
