// Multicast groups that an earlier subnet manager left: they follow when links go, and stay whole.

#include "routing/multicast.h"
#include "authority/own/multicast_table.h"
#include "mad/header.h"
#include "routing/updn.h"
#include "story.h"
#include "support/foreign_set.h"

namespace heddle::test {
namespace {

class Multicast : public AnyStory {
 protected:
  /// A fabric that is configured and has these groups of hosts, and a daemon that has just begun.
  RegulatedWorld& begin_with_groups(const std::map<Lid, std::vector<std::size_t>>& groups, std::uint8_t lmc,
                                    regulation::Mode mode) {
    WorldOptions options;
    options.lmc = lmc;
    options.governor = quick();
    options.governor.mode = mode;
    options.sim.training_delay = std::chrono::milliseconds{500};
    RegulatedWorld& world = begin(ring, options);
    give(groups);
    return world;
  }
  /// By an earlier subnet manager, or by the one that is there.
  void give(const std::map<Lid, std::vector<std::size_t>>& groups) {
    RegulatedWorld& world = *world_;
    if (world.opensm) {
      for (const auto& [group, hosts] : groups) {
        std::set<PortIndex> members;
        for (const std::size_t host : hosts) members.insert(hosts_[host]);
        world.opensm->set_members(group, std::move(members));
      }
      EXPECT_TRUE(world.run([&] { return world.opensm->quiet(); }, 1min));
      world.run_for(3s);
      world.watch.settled();
      return;
    }
    world.kill();
    program(groups);
    world.watch.settled();
    world.start();
    EXPECT_TRUE(world.run([&] { return world.daemon->quiet(); }, 1min));
  }
  /// Whose trees keep off links that are to go: those of an OpenSM that takes unicast tables from a file go
  /// where it likes.
  [[nodiscard]] bool trees_move() const { return written_by() != WrittenBy::File; }
  /// One of all hosts, some of two each; over both links of each trunk, as OpenSM would spread them.
  RegulatedWorld& begin_with_groups(std::uint8_t lmc = 1, regulation::Mode mode = regulation::Mode::Enforce) {
    return begin_with_groups({{Lid{0xc000}, {0, 1, 2, 3}},
                              {Lid{0xc001}, {0, 1, 2, 3}},
                              {Lid{0xc002}, {0, 3}},
                              {Lid{0xc003}, {1, 2}},
                              {Lid{0xc040}, {1, 3}}},
                             lmc, mode);
  }

  void program(const std::map<Lid, std::vector<std::size_t>>& groups) {
    const Fabric& truth = world_->fabric.description();
    const auto router = routing::UpDownRouter::make(truth).value();
    std::map<NodeIndex, provision::MulticastTable> tables;
    for (const auto& [group, hosts] : groups) {
      std::vector<routing::MulticastMember> members;
      for (const std::size_t host : hosts) {
        const Port& port = truth.port(hosts_[host]);
        const LinkEnd at = *truth.peer({port.node, port.num});
        members.push_back({router.graph().find(at.node), at.port});
      }
      const auto tree = routing::grow_tree(router.graph(), router.ranks(), routing::LinkSet::all(truth),
                                           members, group.raw());
      for (const auto& port : tree.ports) {
        tables[router.graph().node(port.sw)][group].set(port.port.raw());
      }
    }
    for (const auto& [node, table] : tables) {
      for (const std::uint16_t number : {0, 2}) {
        const provision::MftBlockRef at{number, 0};
        ASSERT_TRUE(set_at(world_->fabric, node, mad::SmAttr::MulticastForwardingTable, at.modifier(),
                           provision::block_of(table, at), world_->ps()));
      }
    }
  }

  /// Links between switches over which some group's packets go.
  [[nodiscard]] std::set<LinkIndex> links_of_groups() const {
    const Fabric& truth = world_->fabric.description();
    std::set<LinkIndex> links;
    for (std::uint32_t i = 0; i < truth.links().size(); ++i) {
      for (const LinkEnd end : {truth.link(LinkIndex{i}).a, truth.link(LinkIndex{i}).b}) {
        if (truth.node(end.node).type != NodeType::Switch) continue;
        for (const Lid group : world_->fabric.multicast_groups(end.node)) {
          if (world_->fabric.multicasts(end.node, group, end.port)) links.insert(LinkIndex{i});
        }
      }
    }
    return links;
  }

  static bool writes_multicast(const mad::Packet& packet) {
    const mad::Header header = mad::read_header(packet.mad);
    return header.method == mad::Method::Set &&
           header.attribute == static_cast<std::uint16_t>(mad::SmAttr::MulticastForwardingTable);
  }

  /// Links go off under groups, and come back.
  void expect_a_whole_change() {
    RegulatedWorld& world = *world_;
    traffic(0.05);
    if (trees_move()) {
      ASSERT_TRUE(comes_to(4, 3min)) << events();
    } else {
      world.run_for(3min);
    }
    world.watch.settled();
    expect_well();
    for (const LinkIndex link : world.links_off()) {
      ASSERT_FALSE(links_of_groups().contains(link));
    }
    traffic(1.0, 2);
    ASSERT_TRUE(world.run([&] { return figures().delivered >= figures().wanted * 0.99; }, 1min)) << events();
    ASSERT_TRUE(world.run([&] { return world.daemon->quiet(); }, 1min));
    world.watch.settled();
    expect_well();
  }
};

/// Of what only the daemon itself writes.
class OwnMulticast : public Multicast {};
/// Of trees that change in an order of ours: an OpenSM without our plugin clears and writes them as it likes.
class OrderedMulticast : public Multicast {};

TEST_P(Multicast, GroupsMoveOffLinksThatGo) {
  for (const std::uint8_t lmc : {0, 1}) {
    RegulatedWorld& world = begin_with_groups(lmc);
    if (!world.opensm) {
      EXPECT_EQ(world.daemon->reports.back().multicast_groups, 5U);
    }
    const auto before = links_of_groups();
    EXPECT_GT(before.size(), 8U);  // of 8 links between switches and 4 to hosts: more than can stay
    expect_a_whole_change();
    if (trees_move()) {
      EXPECT_EQ(world.daemon->regulator().transitions().failed, 0U) << events();
    }
  }
}

TEST_P(OwnMulticast, GroupsThatNothingHappensToStayAsTheyAre) {
  RegulatedWorld& world = begin_with_groups(1, regulation::Mode::Off);
  const auto before = links_of_groups();
  const auto blocks = [&] {
    std::size_t written = 0;
    for (const auto& report : world.daemon->reports) written += report.blocks_written;
    return written;
  };
  traffic(0.05);
  world.run_for(60s);
  EXPECT_EQ(world.daemon->reports.back().multicast_groups, 5U);
  EXPECT_EQ(blocks(), 0U);
  EXPECT_EQ(links_of_groups(), before);
}

TEST_P(OwnMulticast, EachWriteOfAGroupLostOnceAndNeverAnswered) {
  std::uint64_t all = 0;
  for (const auto length : {FabricClock::duration{0}, FabricClock::duration{2s}}) {
    for (std::uint64_t n = 0; n == 0 || n < all; n += stride) {
      RegulatedWorld& world = begin_with_groups();
      std::uint64_t number = 0;
      std::optional<Instant> until;
      world.fate.on_request = [&](std::uint64_t, const mad::Packet& packet) {
        if (!writes_multicast(packet)) return Fate::Verdict::Goes;
        if (number++ == n) until = world.now + length;
        return until && world.now <= *until ? Fate::Verdict::Lost : Fate::Verdict::Goes;
      };
      world.watch.say(fmt::format("write {} lost for {} ns", n, length.count()));
      if (length.count() > 0) world.watch.fault();
      expect_a_whole_change();
      if (n == 0) all = number;
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(all, 4U);
}

TEST_P(OwnMulticast, TheDaemonKilledBeforeAndAfterEachWriteOfAGroup) {
  std::uint64_t kills = 0;
  for (std::uint64_t n = 0;; ++n) {
    RegulatedWorld& world = begin_with_groups();
    std::uint64_t number = 0;
    bool ends = false;
    world.fate.on_request = [&](std::uint64_t, const mad::Packet& packet) {
      if (!writes_multicast(packet) || number++ != n / 2) return Fate::Verdict::Goes;
      ends = true;
      return n % 2 == 0 ? Fate::Verdict::Lost : Fate::Verdict::Goes;  // before it, or after
    };
    world.fate.on_moment = [&](Fate::Moment, std::uint64_t) {
      return ends ? Fate::Life::Ends : Fate::Life::GoesOn;
    };
    world.watch.say(fmt::format("killed at {}", n));
    traffic(0.05);
    if (comes_to(4)) break;
    ASSERT_FALSE(world.daemon);
    ++kills;
    ends = false;
    world.fate.on_request = nullptr;
    world.run_for(3s);
    world.start();
    expect_a_whole_change();
    if (HasFailure()) return;
  }
  EXPECT_GT(kills, 8U);
}

TEST_P(OrderedMulticast, AGroupGoesRoundALinkThatFailsAndASwitchThatIsLost) {
  RegulatedWorld& world = begin_with_groups();
  traffic(0.3);
  const Fabric& truth = world.fabric.description();
  for (const LinkIndex link : links_of_groups()) {
    const Link& cable = truth.link(link);
    const bool trunk = truth.node(cable.a.node).type == NodeType::Switch &&
                       truth.node(cable.b.node).type == NodeType::Switch;
    if (!trunk) continue;
    world.watch.say(fmt::format("link {} fails", link.raw()));
    world.watch.cut(link, world.ps());
    world.run_for(15s);
    world.watch.settled();
    expect_well();
    EXPECT_FALSE(links_of_groups().contains(link));
    world.watch.mend(link, world.ps());
    world.run_for(15s);
  }
  const Port& own = truth.port(world.port);
  const NodeIndex home = truth.peer({own.node, own.num})->node;
  for (std::uint32_t n = 0; n < truth.nodes().size(); ++n) {
    const NodeIndex node{n};
    if (truth.node(node).type != NodeType::Switch || node == home) continue;
    world.watch.say(fmt::format("switch {} is lost", n));
    world.watch.kill(node, world.ps());
    world.run_for(60s);
    world.watch.settled();
    world.watch.revive(node, world.ps());
    world.run_for(60s);
    world.watch.settled();
    expect_well();
    EXPECT_FALSE(world.fabric.multicast_groups(node).empty());
    if (HasFailure()) return;
  }
}

// What is not known of its groups may lead over any of its links.
TEST_P(Multicast, ASwitchThatDoesNotTellItsGroupsKeepsItsLinks) {
  RegulatedWorld& world = begin(ring);
  const Fabric& truth = world.fabric.description();
  const Port& own = truth.port(world.port);
  const NodeIndex home = truth.peer({own.node, own.num})->node;
  world.fate.on_request = [&](std::uint64_t, const mad::Packet& packet) {
    const mad::Header header = mad::read_header(packet.mad);
    const bool asked = header.attribute == static_cast<std::uint16_t>(mad::SmAttr::MulticastForwardingTable);
    const bool here = mad::read_directed_route(packet.mad).hop_count == 1;
    return asked && here && header.modifier == 0 ? Fate::Verdict::Lost : Fate::Verdict::Goes;
  };
  give({{Lid{0xc000}, {0, 1, 2, 3}}});
  traffic(0.05);
  world.run_for(2min);
  for (const LinkIndex link : world.links_off()) {
    EXPECT_NE(truth.link(link).a.node, home);
    EXPECT_NE(truth.link(link).b.node, home);
  }
  expect_well();
  EXPECT_THAT(events(),
              ::testing::AnyOf(::testing::HasSubstr("multicast"),
                               ::testing::HasSubstr("does not say what its forwarding tables are")));
  world.fate.on_request = nullptr;
  if (trees_move()) {
    ASSERT_TRUE(comes_to(4, 3min)) << events();
  }
  world.watch.settled();
  expect_well();
}

INSTANTIATE_TEST_SUITE_P(WrittenBy, Multicast, anybody, name_of);
INSTANTIATE_TEST_SUITE_P(WrittenBy, OrderedMulticast, ::testing::Values(WrittenBy::Daemon, WrittenBy::Plugin),
                         name_of);
INSTANTIATE_TEST_SUITE_P(WrittenBy, OwnMulticast, ::testing::Values(WrittenBy::Daemon), name_of);

}  // namespace
}  // namespace heddle::test
