#include "authority/own/up_down_keeper.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/generators.h"
#include "fabric/links.h"
#include "lacking.h"
#include "routing/link_set.h"
#include "support/trunks.h"

namespace heddle::provision {
namespace {

TEST(UpDownKeeper, AFabricWithoutSwitchesIsNothingToRouteThrough) {
  FabricBuilder builder;
  Node host;
  host.guid = NodeGuid{0x10};
  host.type = NodeType::ChannelAdapter;
  host.port_count = 1;
  ASSERT_TRUE(builder.add_node(host));
  const auto alone = builder.build();
  // Its switch does not answer yet.
  UpDownKeeper keeper(2);
  const auto routes = keeper.route(*alone);
  ASSERT_TRUE(routes) << routes.error().message;
  EXPECT_TRUE(routes->tables.switches().empty());
  EXPECT_EQ(keeper.unconnected(), 0U);
  const auto whole = assign_lids(**generate("tree:k=2,n=2"), 0).value();
  ASSERT_TRUE(keeper.route(*whole));
  EXPECT_EQ(keeper.ranks().size(), whole->switch_count());
}

/// A rank was kept for each name that a node gave itself, in memory and in the journal.
TEST(UpDownKeeper, OfManySwitchesThatAreGoneNothingIsKept) {
  const auto whole = assign_lids(**generate("tree:k=2,n=2"), 0).value();
  for (const std::size_t gone : {UpDownKeeper::most_gone, UpDownKeeper::most_gone + 1}) {
    UpDownKeeper keeper;
    std::vector<UpDownKeeper::Rank> ranks;
    for (std::uint64_t i = 0; i < gone; ++i) ranks.emplace_back(NodeGuid{1'000'000 + i}, 1);
    for (const Node& node : whole->nodes()) {
      if (node.type == NodeType::Switch) ranks.emplace_back(node.guid, 1);
    }
    ranks.back().second = 2;
    keeper.remember(ranks);
    ASSERT_TRUE(keeper.route(*whole));
    EXPECT_EQ(keeper.ranks().size(), whole->switch_count() + (gone > UpDownKeeper::most_gone ? 0 : gone));
  }
}

class UpDownKeeperTest : public testing::Test {
 protected:
  std::shared_ptr<const Fabric> full = assign_lids(**generate("tree:k=4,n=3"), 0).value();
  UpDownKeeper keeper;

  [[nodiscard]] LinkIndex a_switch_link() const { return test::trunk_links(*full).front(); }
};

TEST_F(UpDownKeeperTest, ALinkThatGoesKeepsTheOrderAndComesBackToTheSameTables) {
  const auto before = keeper.route(*full);
  ASSERT_TRUE(before) << before.error().message;
  const LinkIndex gone = a_switch_link();
  const auto during = keeper.route(*without(*full, gone));
  ASSERT_TRUE(during);

  auto reference = routing::UpDownRouter::make(*full);
  ASSERT_TRUE(reference);
  auto rest = routing::LinkSet::all(*full);
  rest.erase(gone);
  reference->update(rest);
  EXPECT_EQ(during->tables, reference->tables());
  EXPECT_NE(during->tables, before->tables);

  const auto after = keeper.route(*full);
  ASSERT_TRUE(after);
  EXPECT_EQ(after->tables, before->tables);
  EXPECT_EQ(keeper.beginnings(), 1U);
}

TEST_F(UpDownKeeperTest, AnotherFabricBeginsAnew) {
  ASSERT_TRUE(keeper.route(*full));
  ASSERT_TRUE(keeper.route(**assign_lids(**generate("torus:4x4,hosts=2"))));
  EXPECT_EQ(keeper.beginnings(), 2U);
  // A cable that the kept snapshot has not is news too.
  const auto lacking = without(*full, a_switch_link());
  ASSERT_TRUE(keeper.route(*lacking));
  ASSERT_TRUE(keeper.route(*full));
  EXPECT_EQ(keeper.beginnings(), 4U);
}

TEST_F(UpDownKeeperTest, TheOrderOutlivesALostSwitchAndWhatIsAdded) {
  NodeIndex top = no_node;
  for (std::uint32_t i = 0; i < full->nodes().size(); ++i) {
    if (full->nodes()[i].type == NodeType::Switch) top = NodeIndex{i};  // the last is of the highest level
  }
  ASSERT_TRUE(keeper.route(*full));
  const auto order = keeper.ranks();
  const auto lacking = without(*full, top);
  const auto during = keeper.route(*lacking);
  ASSERT_TRUE(during) << during.error().message;
  EXPECT_EQ(keeper.beginnings(), 1U);
  EXPECT_EQ(keeper.unconnected(), 0U);
  ASSERT_TRUE(keeper.route(*full));
  EXPECT_EQ(keeper.beginnings(), 1U);

  UpDownKeeper other;
  other.remember(order);
  ASSERT_TRUE(other.route(*lacking));
  ASSERT_TRUE(other.route(*full));
  EXPECT_EQ(other.beginnings(), 2U);
  EXPECT_EQ(other.ranks(), order);
}

TEST_F(UpDownKeeperTest, AHostThatDoesNotAnswerKeepsItsEntries) {
  NodeIndex host = no_node;
  NodeIndex top = no_node;
  for (std::uint32_t i = 0; i < full->nodes().size(); ++i) {
    (full->nodes()[i].type == NodeType::Switch ? top : host) = NodeIndex{i};
  }
  const auto before = keeper.route(*full);
  ASSERT_TRUE(before);
  const auto mute = keeper.route(*without(*full, host));
  ASSERT_TRUE(mute);
  EXPECT_EQ(mute->tables, before->tables);

  // Also where a switch is found at the same time.
  UpDownKeeper other;
  ASSERT_TRUE(other.route(*without(*full, top)));
  const auto found = other.route(*without(*full, host));
  ASSERT_TRUE(found);
  EXPECT_EQ(other.beginnings(), 2U);
  const Port& port = full->port(full->port_index(host, PortNum{1}));
  const LinkEnd at = *full->peer({host, PortNum{1}});
  const auto graph = routing::SwitchGraph::make(*other.full());
  const auto sw = graph->find(other.full()->find_node(full->node(at.node).guid));
  EXPECT_EQ(found->tables.port(sw, port.lid), at.port);
}

// Its neighbours say that its links are Active: packets pass, and the hosts behind it are there.
TEST_F(UpDownKeeperTest, ASwitchThatDoesNotAnswerKeepsItsEntriesAndThoseBehindIt) {
  const LinkIndex cable = a_switch_link();
  const LinkEnd a = full->link(cable).a;
  const LinkEnd b = full->link(cable).b;
  const auto before = keeper.route(*full);
  ASSERT_TRUE(before);
  for (const NodeIndex silent : {a.node, b.node}) {
    // Nobody behind it can be asked either: hosts that have no other cable.
    auto seen = without(*full, silent);
    for (std::uint32_t i = 0; i < seen->nodes().size();) {
      const Node& node = seen->nodes()[i];
      if (node.type != NodeType::Switch &&
          seen->port(seen->port_index(NodeIndex{i}, PortNum{1})).link == no_link) {
        seen = without(*seen, NodeIndex{i});
      } else {
        ++i;
      }
    }
    const auto mute = keeper.route(*seen);
    ASSERT_TRUE(mute);
    EXPECT_EQ(mute->tables, before->tables);
    EXPECT_EQ(keeper.mute(), std::vector{full->node(silent).guid});
    ASSERT_TRUE(keeper.route(*full));
    EXPECT_THAT(keeper.mute(), testing::IsEmpty());
  }
  EXPECT_EQ(keeper.beginnings(), 1U);
  // A neighbour that says Down takes that link away, and no other.
  const LinkEnd other = *full->peer(full->port(full->port_index(a)).link == cable ? a : b);
  const auto down = keeper.route(*without(*full, other.node, full->ref(*full->peer(other))));
  ASSERT_TRUE(down);
  EXPECT_FALSE(keeper.up().contains(cable));
  EXPECT_NE(down->tables, before->tables);
}

TEST_F(UpDownKeeperTest, ASwitchWhoseNeighboursSayDownIsGone) {
  const LinkEnd a = full->link(a_switch_link()).a;
  ASSERT_TRUE(keeper.route(*full));
  FabricBuilder builder;
  const auto lacking = without(*full, a.node);
  for (const Node& node : lacking->nodes()) {
    const NodeIndex index = *builder.add_node(node);
    for (unsigned p = 0; p <= node.port_count; ++p) {
      Port port = lacking->port(PortIndex{node.first_port.raw() + p});
      if (p > 0 && port.link == no_link) port.state = PortState::Down;
      ASSERT_TRUE(builder.set_port(index, port));
    }
  }
  for (const Link& link : lacking->links())
    ASSERT_TRUE(builder.add_link(link.a, link.b, link.width, link.speed));
  ASSERT_TRUE(keeper.route(*builder.build()));
  EXPECT_THAT(keeper.mute(), testing::IsEmpty());
  for (unsigned p = 1; p <= full->node(a.node).port_count; ++p) {
    const LinkIndex link = full->port(LinkEnd{a.node, PortNum{static_cast<std::uint8_t>(p)}}).link;
    EXPECT_FALSE(link != no_link && keeper.up().contains(link));
  }
}

TEST_F(UpDownKeeperTest, AHostWhoseLinkIsDownHasNone) {
  NodeIndex host = no_node;
  for (std::uint32_t i = 0; i < full->nodes().size(); ++i) {
    if (full->nodes()[i].type != NodeType::Switch) host = NodeIndex{i};
  }
  const LinkEnd at = *full->peer({host, PortNum{1}});
  const Lid lid = full->port(full->port_index(host, PortNum{1})).lid;
  ASSERT_TRUE(keeper.route(*full));
  const auto gone = without(*full, host, full->ref(at));
  const auto routes = keeper.route(*gone);
  ASSERT_TRUE(routes);
  const auto graph = routing::SwitchGraph::make(*keeper.full());
  EXPECT_EQ(routes->tables.port(graph->find(at.node), lid), no_path);
}

TEST_F(UpDownKeeperTest, KeepsOffWhatIsToBeAvoidedUnlessHostsWouldBeCutOff) {
  ASSERT_TRUE(keeper.route(*full));
  const LinkIndex link = a_switch_link();
  keeper.avoid(0, {link_ref(*full, full->link(link))});
  const auto avoiding = keeper.route(*full);
  ASSERT_TRUE(avoiding);
  auto rest = routing::LinkSet::all(*full);
  rest.erase(link);
  auto reference = routing::UpDownRouter::make(*full).value();
  reference.update(rest);
  EXPECT_EQ(avoiding->tables, reference.tables());
  EXPECT_FALSE(keeper.overridden());

  std::vector<LinkRef> all_up;  // of one leaf
  const NodeIndex leaf = full->node(full->link(link).a.node).type == NodeType::Switch
                             ? full->link(link).a.node
                             : full->link(link).b.node;
  for (const Link& one : full->links()) {
    const bool ours = one.a.node == leaf || one.b.node == leaf;
    const bool switches =
        full->node(one.a.node).type == NodeType::Switch && full->node(one.b.node).type == NodeType::Switch;
    if (ours && switches) all_up.push_back(link_ref(*full, one));
  }
  keeper.avoid(0, all_up);
  ASSERT_TRUE(keeper.route(*full));
  EXPECT_TRUE(keeper.overridden());
  EXPECT_EQ(keeper.unconnected(), 0U);
  keeper.close(all_up);
  ASSERT_TRUE(keeper.route(*full));
  EXPECT_NE(keeper.unconnected(), 0U);
  // One that is off does not come back by being wished for.
  std::ranges::sort(all_up);
  const std::vector<LinkRef> going{all_up.back()};
  keeper.close(all_up, going);
  ASSERT_TRUE(keeper.route(*full));
  EXPECT_TRUE(keeper.overridden());
  EXPECT_EQ(keeper.unconnected(), 0U);
  keeper.force(all_up);
  ASSERT_TRUE(keeper.route(*full));
  EXPECT_NE(keeper.unconnected(), 0U);
  keeper.force({});
  keeper.drain({full->node(leaf).guid});
  ASSERT_TRUE(keeper.route(*full));
  EXPECT_NE(keeper.unconnected(), 0U);
}

// Worlds 127577238 and 2020021400 of the swarm: a LID for which any other way would have closed a circle was
// led off a link that was to go off, and closed it.
TEST_F(UpDownKeeperTest, LidsMayStayOnWhatIsNotOffYetUnlessItIsForced) {
  std::vector<LinkRef> links;
  for (const Link& link : full->links())
    if (joins_switches(*full, link)) links.push_back(link_ref(*full, link));
  std::ranges::sort(links);
  const auto link_of = [&](const LinkRef& ref) { return full->port(full->find_port(ref.a)).link; };
  const LinkRef off = links[0];
  const LinkRef going = links[1];
  keeper.close({off, going}, {going});
  const auto routes = keeper.route(*full).value();
  EXPECT_FALSE(routes.may_be_used.contains(link_of(going)));
  EXPECT_TRUE(routes.may_stay.contains(link_of(going)));
  EXPECT_FALSE(routes.may_stay.contains(link_of(off)));
  EXPECT_TRUE(routes.may_stay.contains(link_of(links[2])));
  keeper.force({going});
  EXPECT_FALSE(keeper.route(*full).value().may_stay.contains(link_of(going)));
}

// World 978642548 of the swarm: a spine lost one of its two cables up, and the tables that were ordered
// before that were to avoid the other one; hosts had other ways, and the manager lost its way to the spine.
// Not over what an operator wants off.
TEST_F(UpDownKeeperTest, AvoidsNothingThatASwitchIsManagedBy) {
  const auto tree = assign_lids(**generate("xgft:3;3,3,2;1,2,2")).value();
  const auto is_spine = [&](NodeIndex node) { return tree->node(node).description == "spine-1-1"; };
  const auto is_core = [&](NodeIndex node) { return tree->node(node).description.starts_with("core"); };
  std::vector<LinkRef> up;
  for (const Link& link : tree->links()) {
    if ((is_spine(link.a.node) && is_core(link.b.node)) || (is_spine(link.b.node) && is_core(link.a.node)))
      up.push_back(link_ref(*tree, link));
  }
  ASSERT_EQ(up.size(), 2U);
  Lid manager = no_lid;
  for (const Port& port : tree->ports()) {
    if (tree->node(port.node).description.starts_with("host-0 ")) manager = std::max(manager, port.lid);
  }
  ASSERT_NE(manager, no_lid);
  UpDownKeeper one;
  one.avoid(0, up);
  ASSERT_TRUE(one.route(*tree));
  ASSERT_FALSE(one.overridden()) << "hosts need them";
  one.manage_from(manager);
  const auto routes = one.route(*tree);
  ASSERT_TRUE(routes);
  EXPECT_TRUE(one.overridden());
  const auto graph = routing::SwitchGraph::make(*tree).value();
  const auto targets = graph.targets();
  const auto seat = std::ranges::find(targets, manager, &routing::Target::base);
  for (const routing::Target& target : targets) {
    if (target.kind != routing::TargetKind::Switch) continue;
    EXPECT_NE(routes->tables.port(seat->at, target.base), no_path);
    EXPECT_NE(routes->tables.port(target.at, manager), no_path);
  }
  one.withhold(up);
  ASSERT_TRUE(one.route(*tree));
  EXPECT_FALSE(one.overridden());
}

// Random run 2400289 of the real programs: what a switch was managed by was used again, and what hosts needed
// was not, since it was withheld; entries that worked were taken away.
TEST_F(UpDownKeeperTest, UsesWhatIsWithheldWhereHostsWouldBeCutOffThoughLessWouldDoForTheManager) {
  const auto tree = assign_lids(**generate("tree:k=2,n=2")).value();
  const auto between = [&](std::string_view one, std::string_view other) {
    const auto links = test::trunk_links(*tree);
    return *std::ranges::find_if(links, [&](LinkIndex index) {
      const Link& link = tree->link(index);
      const std::string_view a = tree->node(link.a.node).description;
      const std::string_view b = tree->node(link.b.node).description;
      return (a == one && b == other) || (a == other && b == one);
    });
  };
  const auto ref = [&](LinkIndex link) { return link_ref(*tree, tree->link(link)); };
  UpDownKeeper one;
  ASSERT_TRUE(one.route(*tree));
  const auto manager = std::ranges::find_if(tree->ports(), [&](const Port& port) {
    return port.lid != no_lid && tree->node(port.node).description == "host-0 mlx5_0";
  });
  ASSERT_NE(manager, tree->ports().end());
  one.manage_from(manager->lid);
  std::vector<LinkRef> avoided{ref(between("leaf-0", "spine-0")), ref(between("leaf-0", "spine-1"))};
  std::ranges::sort(avoided);
  one.avoid(0, avoided);
  one.withhold({ref(between("leaf-0", "spine-0"))});
  ASSERT_TRUE(one.route(*without(*tree, between("leaf-1", "spine-1"))));
  EXPECT_TRUE(one.overridden());
  EXPECT_EQ(one.unconnected(), 0U);
}

// Worlds 895701344 and 945000680 of the swarm: a spine came back with links that an operator wants off, and
// that were up again; a sweep led over these until the tables that were ordered next did not, and the manager
// lost its way to the spine.
TEST_F(UpDownKeeperTest, LeadsNotOverWhatAnOperatorWantsOffUnlessHostsWouldBeCutOff) {
  const LinkIndex link = a_switch_link();
  const LinkRef ref = link_ref(*full, full->link(link));
  keeper.withhold({ref});
  const auto without = keeper.route(*full);
  ASSERT_TRUE(without);
  auto rest = routing::LinkSet::all(*full);
  rest.erase(link);
  auto reference = routing::UpDownRouter::make(*full).value();
  reference.update(rest);
  EXPECT_EQ(without->tables, reference.tables());
  EXPECT_FALSE(without->in_all_planes.contains(link));

  std::vector<LinkRef> all_links;
  for (const Link& one : full->links()) {
    const bool switches =
        full->node(one.a.node).type == NodeType::Switch && full->node(one.b.node).type == NodeType::Switch;
    if (switches) all_links.push_back(link_ref(*full, one));
  }
  keeper.withhold(all_links);
  ASSERT_TRUE(keeper.route(*full));
  EXPECT_TRUE(keeper.overridden());
  EXPECT_EQ(keeper.unconnected(), 0U);
}

TEST_F(UpDownKeeperTest, OtherLidsBeginAnew) {
  ASSERT_TRUE(keeper.route(*full));
  ASSERT_TRUE(keeper.route(**assign_lids(*full, 1)));
  EXPECT_EQ(keeper.beginnings(), 2U);
}

}  // namespace
}  // namespace heddle::provision
