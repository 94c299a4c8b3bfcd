// What the daemon's sweeps meet twice, as `heddle health` tells of it.

#include <fstream>

#include "fabric/ibnetdiscover.h"
#include "mad/attributes.h"
#include "story.h"
#include "transport/requests.h"

namespace heddle::test {
namespace {

/// By then the daemon has looked at everything anew.
constexpr auto full_sweep = 15min;

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
  /// As a subnet manager does that knows nothing of the daemon's.
  void given(std::size_t to, Lid lid) {
    const PortIndex port = hosts_[to];
    mad::PortInfo info = world_->fabric.port_info(port);
    info.lid = lid;
    info.state = PortState::NoChange;
    info.physical = PhysState::NoChange;
    auto packet = transport::directed_smp(
        {.method = mad::Method::Set, .attribute = mad::SmAttr::PortInfo, .modifier = 1}, {});
    mad::encode(info, mad::smp_data(packet.mad));
    ASSERT_TRUE(world_->fabric.ask(port, packet.mad, world_->ps()));
  }
  /// The generated fabric, where the second host is called so.
  void begin_with_second_host_called(const std::string& name) {
    std::string text = write_ibnetdiscover(**generate(ring));
    const std::string was = "host-1 mlx5_0";
    for (auto at = text.find(was); at != std::string::npos; at = text.find(was, at + name.size()))
      text.replace(at, was.size(), name);
    const std::string file = directory_ / "named.ibnetdiscover";
    std::ofstream{file} << text;
    begin(file, usual(0));
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

TEST_F(TwiceThere, AHostWithTheLidOfAnother) {
  RegulatedWorld& world = begin(ring, 0);
  world.run_for(60s);
  EXPECT_TRUE(findings(health::Rule::DuplicateLid).empty());
  given(2, world.fabric.port_info(hosts_[1]).lid);
  EXPECT_TRUE(world.run([&] { return !findings(health::Rule::DuplicateLid).empty(); }, full_sweep));
  for (const health::Finding& finding : findings(health::Rule::DuplicateLid))
    EXPECT_EQ(finding.sureness, health::Sureness::Sure);
}

TEST_F(TwiceThere, AHostWithALidOfItsOwn) {
  RegulatedWorld& world = begin(ring, 0);
  world.run_for(60s);
  given(2, Lid{0x1234});
  EXPECT_FALSE(world.run([&] { return !findings(health::Rule::DuplicateLid).empty(); }, full_sweep));
}

TEST_F(TwiceThere, ALinkOfATrunkThatCannotDoWhatItsFellowCan) {
  for (const LinkSpeed second : {LinkSpeed::Ddr, LinkSpeed::Sdr}) {
    const auto whole = *generate(ring);
    FabricBuilder builder;
    for (const Node& node : whole->nodes()) ASSERT_TRUE(builder.add_node(node));
    bool changed = false;
    for (const Link& link : whole->links()) {
      const bool is_it = !changed && whole->node(link.a.node).type == NodeType::Switch &&
                         whole->node(link.b.node).type == NodeType::Switch;
      changed = changed || is_it;
      ASSERT_TRUE(builder.add_link(link.a, link.b, link.width, is_it ? second : link.speed));
    }
    const std::string file = directory_ / "uneven.ibnetdiscover";
    std::ofstream{file} << write_ibnetdiscover(*builder.build());
    WorldOptions options = usual(0);
    options.governor.mode = regulation::Mode::Advise;  // which would take one of the two
    begin(file, options);
    world_->run_for(60s);
    EXPECT_EQ(findings(health::Rule::TrunkRate).size(), second == LinkSpeed::Sdr ? 1U : 0U);
    EXPECT_TRUE(findings(health::Rule::LinkSpeed).empty()) << "it does what its ends can";
  }
}

TEST_F(TwiceThere, AHostWithTheNameOfAnother) {
  begin_with_second_host_called("host-2 mlx5_0");
  const auto found = findings(health::Rule::DuplicateDescription);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].what, ::testing::HasSubstr("2 nodes are called \"host-2 mlx5_0\""));
}

TEST_F(TwiceThere, AHostWithTwoAdapters) {
  begin_with_second_host_called("host-2 mlx5_1");
  EXPECT_TRUE(findings(health::Rule::DuplicateDescription).empty());
}

}  // namespace
}  // namespace heddle::test
