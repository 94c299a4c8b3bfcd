#include "routing/strangers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "fabric/generators.h"
#include "routing/updn.h"

namespace heddle::routing {
namespace {

/// A ring of three: sw-0 is above sw-1, and that above sw-2. Nobody has LID 40.
class Strangers : public testing::Test {
 protected:
  static constexpr Lid stranger{40};

  [[nodiscard]] SwitchIndex at(std::string_view name) const {
    for (std::uint32_t s = 0; s < graph.size(); ++s) {
      const NodeIndex node = ring->find_node(graph.guid(SwitchIndex{s}));
      if (ring->node(node).description == name) return SwitchIndex{s};
    }
    return {};
  }
  [[nodiscard]] PortNum out(std::string_view from, std::string_view to) const {
    return std::ranges::find(graph.hops(at(from)), at(to), &Hop::peer)->out;
  }
  /// Of the host at that switch.
  [[nodiscard]] Lid lid_at(std::string_view name) const {
    return std::ranges::find_if(
               graph.targets(),
               [&](const Target& target) { return target.kind == TargetKind::Host && target.at == at(name); })
        ->base;
  }
  [[nodiscard]] std::vector<Lid> found() const {
    return circles_with_strangers(order, before, after, differing);
  }

  std::shared_ptr<const Fabric> ring = assign_lids(**generate("torus:3,hosts=1,links=1"), 0).value();
  UpDownRouter router = UpDownRouter::make(*ring, options()).value();
  const SwitchGraph& graph = router.graph();
  UpdateOrder order{graph, router.ranks(), router.mends()};
  ForwardingTables before = router.tables();
  ForwardingTables after = before;
  std::vector<BlockRef> differing;

  void SetUp() override {
    // Down to sw-2 and up again.
    for (ForwardingTables* const tables : {&before, &after}) {
      tables->set(at("sw-1"), stranger, out("sw-1", "sw-2"));
      tables->set(at("sw-2"), stranger, out("sw-2", "sw-0"));
      // Up and down, which closes no circle by itself.
      tables->set(at("sw-2"), lid_at("sw-1"), out("sw-2", "sw-0"));
      tables->set(at("sw-0"), lid_at("sw-1"), out("sw-0", "sw-1"));
      tables->set(at("sw-0"), lid_at("sw-2"), out("sw-0", "sw-2"));
      tables->set(at("sw-1"), lid_at("sw-2"), out("sw-1", "sw-2"));
    }
    for (std::uint32_t s = 0; s < graph.size(); ++s) differing.push_back({SwitchIndex{s}, 0});
  }

 private:
  [[nodiscard]] UpDownOptions options() const {
    UpDownOptions result;
    for (const Node& node : ring->nodes()) {
      if (node.type == NodeType::Switch)
        result.ranks.emplace_back(node.guid, static_cast<std::uint16_t>(node.description.back() - '0'));
    }
    return result;
  }
};

TEST_F(Strangers, WhatClosesACircleWithThemIsFound) {
  EXPECT_THAT(found(), testing::IsEmpty()) << "nothing changes";
  after.set(at("sw-0"), lid_at("sw-2"), out("sw-0", "sw-1"));
  EXPECT_THAT(found(), testing::ElementsAre(lid_at("sw-2")));
  // With another that closes none.
  after.set(at("sw-1"), lid_at("sw-0"), out("sw-1", "sw-2"));
  before.set(at("sw-1"), lid_at("sw-0"), out("sw-1", "sw-0"));
  EXPECT_THAT(found(), testing::ElementsAre(lid_at("sw-2")));
}

TEST_F(Strangers, WhereTheyFollowTheOrderNothingIs) {
  for (ForwardingTables* const tables : {&before, &after})
    tables->set(at("sw-1"), stranger, out("sw-1", "sw-0"));
  after.set(at("sw-0"), lid_at("sw-2"), out("sw-0", "sw-1"));
  EXPECT_THAT(found(), testing::IsEmpty());
}

TEST_F(Strangers, NorWhereTheirLinkIsDown) {
  auto up = LinkSet::all(*ring);
  up.erase(std::ranges::find(graph.hops(at("sw-1")), at("sw-2"), &Hop::peer)->link);
  order.up = &up;
  after.set(at("sw-0"), lid_at("sw-2"), out("sw-0", "sw-1"));
  EXPECT_THAT(found(), testing::IsEmpty());
}

TEST_F(Strangers, NorWhereThereIsACircleAlready) {
  before.set(at("sw-0"), lid_at("sw-2"), out("sw-0", "sw-1"));
  EXPECT_THAT(found(), testing::IsEmpty());
}

}  // namespace
}  // namespace heddle::routing
