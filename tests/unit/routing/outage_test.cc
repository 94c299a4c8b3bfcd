/// What is lost with switches and links, against a search from each host by itself.
#include "routing/outage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "fabric/generators.h"
#include "test_fabrics.h"

namespace heddle::routing {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Two switches with two hosts each, under two others.
std::shared_ptr<const Fabric> two_leaves() {
  shapes::Sketch sketch(4);
  for (unsigned leaf = 0; leaf < 2; ++leaf) {
    for (unsigned spine = 2; spine < 4; ++spine) sketch.cable(leaf, spine);
    sketch.hosts(leaf, 2);
  }
  return sketch.build();
}

std::vector<NodeIndex> nodes_of(const Fabric& fabric, NodeType type) {
  std::vector<NodeIndex> all;
  for (std::uint32_t i = 0; i < fabric.nodes().size(); ++i) {
    if (fabric.nodes()[i].type == type) all.emplace_back(i);
  }
  return all;
}

std::set<NodeIndex> reached_from(const Fabric& fabric, const LinkSet& left, NodeIndex from) {
  std::set<NodeIndex> reached{from};
  for (std::size_t before = 0; before != reached.size();) {
    before = reached.size();
    for (std::uint32_t i = 0; i < fabric.links().size(); ++i) {
      const Link& link = fabric.links()[i];
      if (!left.contains(LinkIndex{i})) continue;
      if (reached.contains(link.a.node)) reached.insert(link.b.node);
      if (reached.contains(link.b.node)) reached.insert(link.a.node);
    }
  }
  return reached;
}

/// Hop by hop, by the ports of the fabric.
bool is_led(const Fabric& fabric, const Routes& routes, const LinkSet& left, NodeIndex from, NodeIndex to) {
  const auto only_port = [&](NodeIndex host) { return fabric.port(LinkEnd{host, PortNum{1}}); };
  const auto crossed = [&](LinkEnd end) -> std::optional<LinkEnd> {
    const Port& port = fabric.port(end);
    if (port.link == no_link || !left.contains(port.link)) return std::nullopt;
    return fabric.peer(end);
  };
  auto at = crossed({from, PortNum{1}});
  for (std::size_t hops = 0; at && at->node != to; ++hops) {
    if (hops > fabric.nodes().size()) return false;
    const PortNum out = routes.tables.port(routes.graph.find(at->node), only_port(to).lid);
    at = out == no_path ? std::nullopt : crossed({at->node, out});
  }
  return at.has_value();
}

TEST(OutageTest, NothingFails) {
  const auto fabric = two_leaves();
  const Outage none = outage(*fabric, {}, Engine::UpDown, {}, 20).value();
  EXPECT_THAT(none.cut_off, IsEmpty());
  EXPECT_THAT(none.on_one, IsEmpty());
  EXPECT_EQ(none.pairs_cut, 0);
  EXPECT_EQ(none.pairs_without_path, 0);
  EXPECT_EQ(none.largest, 2);
}

TEST(OutageTest, ALeafTakesItsHostsAlongAndASpineHalfTheWays) {
  const auto fabric = two_leaves();
  const auto switches = nodes_of(*fabric, NodeType::Switch);
  const auto hosts = nodes_of(*fabric, NodeType::ChannelAdapter);
  const Outage leaf = outage(*fabric, {{switches[0]}, {}}, Engine::UpDown, {}, 0).value();
  EXPECT_THAT(leaf.cut_off, ElementsAre(hosts[0], hosts[1]));
  EXPECT_EQ(leaf.pairs_cut, 10);  // all of 12 but those of the two hosts of the other leaf
  EXPECT_EQ(leaf.pairs_without_path, 0);
  const Outage spine = outage(*fabric, {{switches[2]}, {}}, Engine::UpDown, {}, 0).value();
  EXPECT_THAT(spine.cut_off, IsEmpty());
  EXPECT_THAT(spine.on_one, ElementsAre(switches[0], switches[1]));
  EXPECT_EQ(spine.hosts_on_one, 4U);
  EXPECT_EQ(leaf.hosts_on_one, 0U);
  EXPECT_EQ(spine.largest, 4);
}

TEST(OutageTest, AHostsOwnCableCutsThatHostOnly) {
  const auto fabric = two_leaves();
  const auto hosts = nodes_of(*fabric, NodeType::ChannelAdapter);
  Failure failure;
  for (std::uint32_t i = 0; i < fabric->links().size(); ++i) {
    const Link& link = fabric->links()[i];
    if (link.a.node == hosts[3] || link.b.node == hosts[3]) failure.links.emplace_back(i);
  }
  const Outage host = outage(*fabric, failure, Engine::UpDown, {}, 0).value();
  EXPECT_THAT(host.cut_off, ElementsAre(hosts[3]));
  EXPECT_EQ(host.pairs_cut, 6);
  EXPECT_EQ(host.pairs_without_path, 0);
}

RC_GTEST_PROP(OutageProperty, SaysWhoIsCutOffAndThatAllOthersHavePaths, ()) {
  const auto count = *rc::gen::inRange(2U, 9U);
  shapes::Sketch sketch(count);
  for (unsigned s = 1; s < count; ++s) sketch.cable(s, *rc::gen::inRange(0U, s));
  const auto more = *rc::gen::inRange(0U, 2 * count);
  for (unsigned i = 0; i < more; ++i) {
    const auto a = *rc::gen::inRange(0U, count);
    const auto b = *rc::gen::inRange(0U, count);
    if (a != b) sketch.cable(a, b);
  }
  for (unsigned s = 0; s < count; ++s) sketch.hosts(s, *rc::gen::inRange(s == 0 ? 1U : 0U, 4U));
  const auto fabric = sketch.build();
  Failure failure;
  const auto links = static_cast<std::uint32_t>(fabric->links().size());
  for (const auto link : *rc::gen::container<std::set<std::uint32_t>>(rc::gen::inRange(0U, links))) {
    if (failure.links.size() < 4) failure.links.emplace_back(link);
  }
  const auto switches = nodes_of(*fabric, NodeType::Switch);
  if (*rc::gen::arbitrary<bool>()) failure.nodes.push_back(*rc::gen::elementOf(switches));
  const Engine engine = *rc::gen::element(Engine::UpDown, Engine::MinHop);
  const Outage found = outage(*fabric, failure, engine, {}, 0).value();
  const LinkSet left = links_left(*fabric, failure);
  const auto hosts = nodes_of(*fabric, NodeType::ChannelAdapter);
  const Routes routes = route(*fabric, left, engine).value();
  double apart = 0;
  double without_path = 0;
  std::size_t most = 0;
  for (const NodeIndex from : hosts) {
    const auto reached = reached_from(*fabric, left, from);
    std::size_t there = 0;
    for (const NodeIndex to : hosts) {
      if (!reached.contains(to)) continue;
      ++there;
      without_path += to == from || is_led(*fabric, routes, left, from, to) ? 0 : 1;
    }
    apart += static_cast<double>(hosts.size() - there);
    most = std::max(most, there);
  }
  RC_ASSERT(found.pairs_cut == apart);
  RC_ASSERT(found.cut_off.size() == hosts.size() - most);
  RC_ASSERT(found.pairs_without_path == without_path);
  RC_ASSERT(engine == Engine::UpDown || without_path == 0);
}

}  // namespace
}  // namespace heddle::routing
