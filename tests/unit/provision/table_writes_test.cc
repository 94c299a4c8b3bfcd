// What is written to tables, and when, where switches do not answer, or may hold what nobody knows.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <vector>

#include "provision_world.h"
#include "support/foreign_set.h"
#include "unit/routing/passing.h"

namespace heddle::provision {
namespace {

using namespace std::chrono_literals;

// Its answers were lost in the first sweep of a daemon that was just started, which knows of it only that a
// port is Active.
TEST(Provisioner, AHostThatDoesNotAnswerIsGoneOnLedTo) {
  World world{"tree:k=3,n=2"};
  world.bring_up();
  NodeIndex silent = no_node;  // the last one is not the daemon's own
  for (std::uint32_t i = 0; i < world.truth().nodes().size(); ++i) {
    if (world.truth().nodes()[i].type != NodeType::Switch) silent = NodeIndex{i};
  }
  world.sim.fabric.set_agent_faults(silent, {.mute_sma = true});
  const auto survey = found_anew(world);
  ASSERT_TRUE(survey);
  ASSERT_EQ(survey->fabric->find_node(world.truth().node(silent).guid), no_node);
  std::vector<ProvisionReport> reports;
  Provisioner fresh{world.sim.engine, world.sim, {}, minhop, [&](const ProvisionReport& report) {
                      reports.push_back(report);
                    }};
  fresh.run(survey, world.sim.now);
  ASSERT_TRUE(world.sim.run([&] { return !reports.empty(); }));
  EXPECT_FALSE(reports[0].failure);
  expect_works(world);
}

// Whoever was taken for gone, with all that it leads to, forwarded all the time.
TEST(Provisioner, ASwitchThatDoesNotAnswerGoesOnForwarding) {
  for (const std::size_t nth : {2U, 8U, 12U}) {
    KeptWorld kept{"torus:4x4,hosts=1,links=1"};
    World& world = kept.world;
    ASSERT_FALSE(world.bring_up().failure);
    const NodeIndex silent = world.switch_at(nth);
    world.sim.fabric.set_agent_faults(silent, {.mute_sma = true});
    const ProvisionReport& report = world.bring_up();
    ASSERT_FALSE(report.failure);
    EXPECT_EQ(report.survey->fabric->find_node(world.truth().node(silent).guid), no_node);
    EXPECT_EQ(report.blocks_written, 0U);
    expect_works(world);
    world.sim.fabric.set_agent_faults(silent, {});
    world.bring_up();
    kept.settle();
    expect_works(world);
  }
}

// The daemon kept a forwarding table of each.
TEST(Provisioner, OfASwitchThatCallsItselfAnotherOneEachTimeFewTablesAreKept) {
  World world{"tree:k=2,n=2"};
  world.bring_up();
  const NodeGuid liar = world.truth().node(world.switch_at(1)).guid;
  std::uint64_t says = 0x1'0000'0000;
  world.sim.receive_with([&](const mad::Packet& packet, Instant at) {
    mad::Packet told = packet;
    const mad::Header header = mad::read_header(packet.mad);
    if (mad::is_smp(header) && static_cast<mad::SmAttr>(header.attribute) == mad::SmAttr::NodeInfo) {
      auto info = mad::decode<mad::NodeInfo>(mad::smp_data(packet.mad));
      if (info.node_guid == liar) info.node_guid = NodeGuid{says};
      mad::encode(info, mad::smp_data(told.mad));
    }
    world.sim.engine.on_packet(told, at);
  });
  std::size_t runs = 0;
  Provisioner fresh{world.sim.engine, world.sim, {}, minhop, [&](const ProvisionReport& report) {
                      EXPECT_FALSE(report.failure);
                      ++runs;
                    }};
  std::size_t most = 0;
  for (std::size_t i = 0; i < 2 * TableWriter::most_gone; ++i, ++says) {
    const auto survey = found_anew(world);
    ASSERT_TRUE(survey);
    fresh.run(survey, world.sim.now);
    ASSERT_TRUE(world.sim.run([&] { return runs == i + 1; }));
    most = std::max(most, fresh.known_switches());
  }
  EXPECT_EQ(most, TableWriter::most_gone + world.truth().switch_count());
}

// A partial sweep has missed it, and has not read its neighbours.
TEST(Provisioner, AsksTheNeighboursWhetherASwitchIsGone) {
  KeptWorld kept{"torus:4x4,hosts=1,links=1"};
  World& world = kept.world;
  ASSERT_FALSE(world.bring_up().failure);
  const NodeIndex victim = world.switch_at(8);
  world.sim.fabric.set_agent_faults(victim, {.mute_sma = true});
  const auto survey = world.bring_up().survey;
  ASSERT_EQ(kept.keeper.mute(), std::vector{world.truth().node(victim).guid});
  world.sim.fabric.kill(victim, world.sim.ps());
  world.sim.engine.unsolicited_to([](const mad::Packet&, Instant) {});
  world.sm.configure(survey, world.sim.now);
  const ProvisionReport& report = world.finish();
  EXPECT_FALSE(report.failure);
  EXPECT_THAT(kept.keeper.mute(), testing::IsEmpty());
  EXPECT_GT(report.blocks_written, 0U);
}

// Cables have come that were not there, and the mends became others (SafeUpdate.LidsThatCouldOnly...).
TEST(Provisioner, SaysWhichLidsStayAsTheyAre) {
  bool have_come = false;
  const auto route = [&](const Fabric& fabric) -> Result<Routes> {
    auto came = routing::changes::cables_that_came(std::make_shared<const Fabric>(fabric), 268);
    auto order = std::make_shared<routing::UpDownRouter>(std::move(have_come ? came.router : came.earlier));
    Routes routes{routing::ForwardingTables(order->tables()), order};
    routes.up = routes.may_be_used = routes.may_stay = routes.in_all_planes = routing::LinkSet::all(fabric);
    return routes;
  };
  World world{"random:switches=10,hosts=20,links=20,seed=268", {}, {}, route};
  const auto survey = world.bring_up().survey;
  ASSERT_TRUE(survey);
  EXPECT_THAT(world.sm.staying(), testing::IsEmpty());
  have_come = true;
  world.sm.configure(survey, world.sim.now);
  EXPECT_TRUE(world.sim.run([&] { return !world.sm.staying().empty(); }));
}

// A Set that nobody answered may have been taken all the same. What the switch holds is one of two then, and
// what others hold must suit both (1070390 and 1050380 of the swarm: a change was taken back around such a
// switch, and made a loop).
TEST(Provisioner, NothingChangesAroundAnEntryThatNobodyKnows) {
  std::size_t doubtful = 0;
  for (std::size_t nth = 0; nth < 15; ++nth) {
    KeptWorld kept{"torus:4x4,hosts=1,links=1"};
    World& world = kept.world;
    ASSERT_FALSE(world.bring_up().failure);
    const NodeIndex silent = world.switch_at(nth + 1);
    const Survey& survey = *world.reports.back().survey;
    const auto& way = survey.node(survey.fabric->find_node(world.truth().node(silent).guid)).path;
    // Block 0 holds all LIDs.
    std::vector<std::vector<std::uint8_t>> asked;
    world.sim.on_send = [&](const mad::Packet& packet) {
      const auto set = table_set(packet);
      if (set && std::equal(set->path.begin(), set->path.end(), way.begin(), way.end()))
        asked.push_back(set->entries);
    };
    const auto rewrite = [&](const std::vector<LinkRef>& without) {
      kept.keeper.avoid(0, without);
      (void)rewrite_tables(world.sm, world.sim);
    };
    world.sim.fabric.set_agent_faults(silent, {.mute_sma = true});
    rewrite({link_ref(world.truth(), world.truth().link(kept.switch_link(2 * nth)))});
    std::set<std::size_t> unknown;
    const auto held = world.sim.fabric.forwarding_table(silent);
    for (const auto& content : asked) {
      for (std::size_t lid = 0; lid < std::min(held.size(), content.size()); ++lid)
        if (held[lid].raw() != content[lid]) unknown.insert(lid);
    }
    std::map<std::size_t, std::vector<PortNum>> before;
    const auto entries = [&](std::size_t sw) {
      const auto table = world.sim.fabric.forwarding_table(world.switch_at(sw));
      return std::vector<PortNum>(table.begin(), table.end());
    };
    for (std::size_t sw = 0; sw < 16; ++sw) before[sw] = entries(sw);
    rewrite({});
    for (std::size_t sw = 0; sw < 16; ++sw) {
      const auto after = entries(sw);
      for (const std::size_t lid : unknown) EXPECT_EQ(after[lid], before[sw][lid]) << "switch " << sw;
    }
    doubtful += unknown.size();
    world.sim.on_send = nullptr;
    world.sim.fabric.set_agent_faults(silent, {});
    world.bring_up();
    kept.settle();
    expect_works(world);
  }
  EXPECT_GT(doubtful, 0U);
}

// Whoever managed the fabric was killed after writing the tables, and before saying how far they count
// (1070350 of the swarm: what a switch held was overwritten stage by stage, as if it had held nothing).
TEST(Provisioner, ASwitchWithoutATopThatHasALidMayHoldEntries) {
  KeptWorld kept{"tree:k=3,n=2"};
  World& world = kept.world;
  ASSERT_FALSE(world.bring_up().failure);
  const auto found = std::make_shared<Survey>(*found_anew(world));
  for (SurveyNode& node : found->nodes) {
    if (node.is_switch()) node.switch_info->linear_fdb_top = 0;
  }
  const ProvisionReport report = run_anew(kept, found);
  EXPECT_FALSE(report.failure);
  EXPECT_EQ(report.blocks_written, 0U);
}

/// A change avoids these links, and knows nothing of the restart.
void restart_and_write(KeptWorld& kept, NodeIndex restarted, std::vector<LinkRef> avoided) {
  World& world = kept.world;
  world.sim.fabric.kill(restarted, world.sim.ps());
  world.sim.fabric.revive(restarted, world.sim.ps());
  kept.keeper.avoid(0, std::move(avoided));
  (void)rewrite_tables(world.sm, world.sim);
  kept.keeper.avoid(0, {});
}

// It was restarted, and a change wrote blocks to it before a sweep found that (4000010139 of the swarm: it
// was taken for empty, and what it had got was taken away while it came anew, stage by stage).
TEST(Provisioner, WhatARestartedSwitchWasGivenBeforeASweepFoundThatStays) {
  std::size_t given = 0;
  for (std::size_t nth = 0; nth < 32; ++nth) {
    KeptWorld kept{"torus:4x4,hosts=1,links=1"};
    World& world = kept.world;
    ASSERT_FALSE(world.bring_up().failure);
    const Link& link = world.truth().link(kept.switch_link(nth));
    const NodeIndex restarted = link.b.node;
    restart_and_write(kept, restarted, {link_ref(world.truth(), link)});
    std::set<std::size_t> led;
    std::set<std::size_t> taken;
    world.sim.on_send = [&](const mad::Packet&) {
      const auto held = world.sim.fabric.forwarding_table(restarted);
      for (std::size_t lid = 0; lid < held.size(); ++lid) {
        if (held[lid] != no_path) led.insert(lid);
        if (held[lid] == no_path && led.contains(lid)) taken.insert(lid);
      }
    };
    world.bring_up();
    kept.settle();
    EXPECT_THAT(taken, testing::IsEmpty()) << "link " << nth;
    given += led.size();
    world.sim.on_send = nullptr;
    // Its links trained while ports were being raised, and Sets to it were given up that may still arrive.
    (void)world.sim.run([] { return false; }, ProvisionOptions{}.packet_life);
    world.bring_up();
    kept.settle();
    expect_works(world);
  }
  EXPECT_GT(given, 0U);
}

// Random run 1100082: whoever gave it that was killed before it had set its LID and its top, and the next
// program took it for empty.
TEST(Provisioner, WhatAnEarlierProgramGaveARestartedSwitchStays) {
  std::size_t given = 0;
  for (std::size_t nth = 0; nth < 32; ++nth) {
    KeptWorld kept{"torus:4x4,hosts=1,links=1"};
    World& world = kept.world;
    ASSERT_FALSE(world.bring_up().failure);
    const Link& link = world.truth().link(kept.switch_link(nth));
    const NodeIndex restarted = link.b.node;
    world.sim.engine.unsolicited_to([](const mad::Packet&, Instant) {});
    std::vector<LinkRef> avoided;
    for (std::size_t other = nth % 3; other < 32; other += 3) {
      const Link& each = world.truth().link(kept.switch_link(other));
      if (each.a.node != restarted && each.b.node != restarted)
        avoided.push_back(link_ref(world.truth(), each));
    }
    restart_and_write(kept, restarted, avoided);
    (void)world.sim.run([] { return false; }, std::chrono::seconds{10});
    const auto held = world.sim.fabric.forwarding_table(restarted);
    const std::vector<PortNum> before(held.begin(), held.end());
    (void)run_anew(kept, found_anew(world));
    const auto holds = world.sim.fabric.forwarding_table(restarted);
    for (std::size_t lid = 0; lid < before.size(); ++lid) {
      if (before[lid] == no_path) continue;
      ++given;
      EXPECT_NE(holds[lid], no_path) << "link " << nth << ", LID " << lid;
    }
  }
  EXPECT_GT(given, 0U);
}

// An order that is made anew allows what the tables turn packets by that stand (1070154 of the swarm).
TEST(Provisioner, WhoMakesTheTablesIsToldHowPacketsTurnByThoseThatWereFound) {
  KeptWorld kept{"random:switches=10,hosts=20,links=20,seed=3053"};
  World& world = kept.world;
  ASSERT_FALSE(world.bring_up().failure);
  const auto& routes = *world.reports.back().routes;
  const auto standing = routing::standing_turns(routes.order->graph(), routes.order->ranks(), routes.tables);
  ASSERT_FALSE(standing.empty());
  const auto survey = found_anew(world);
  UpDownKeeper keeper;
  keeper.remember(kept.keeper.ranks());
  std::size_t made = 0;
  std::vector<std::vector<routing::KeptTurn>> told;
  std::vector<ProvisionReport> reports;
  Provisioner fresh{world.sim.engine,
                    world.sim,
                    {},
                    [&](const Fabric& fabric) {
                      ++made;
                      return keeper.route(fabric);
                    },
                    [&](const ProvisionReport& report) { reports.push_back(report); }};
  fresh.allow_turns_by([&](const std::vector<routing::KeptTurn>& turns) {
    told.push_back(turns);
    return true;
  });
  fresh.run(survey, world.sim.now);
  ASSERT_TRUE(world.sim.run([&] { return !reports.empty(); }));
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0], standing);
  EXPECT_EQ(made, 2U);
  // What was asked of an order holds for it.
  fresh.run(after_its_end(*reports[0].survey), world.sim.now);
  ASSERT_TRUE(world.sim.run([&] { return reports.size() == 2; }));
  EXPECT_EQ(told.size(), 1U);
  EXPECT_EQ(made, 3U);
}

// World 4326047581: a sweep found something new while what an operator had ordered read the first tables. Its
// tables waited until no packet was under way any more, no sweep could begin before that, and so it was not
// seen that a link fell into which the next stage led.
TEST(Provisioner, WhatIsOrderedDoesNotWaitForPacketsWhereASweepHasFoundSomethingNew) {
  constexpr auto life = ProvisionOptions{}.packet_life;
  std::size_t waited = 0;
  for (std::size_t nth = 0; nth < 32; ++nth) {
    for (const bool is_new : {false, true}) {
      KeptWorld kept{"torus:4x4,hosts=1,links=1"};
      World& world = kept.world;
      ASSERT_FALSE(world.bring_up().failure);
      (void)world.sim.run([] { return false; }, 2 * life);
      kept.keeper.avoid(0, {link_ref(world.truth(), world.truth().link(kept.switch_link(nth)))});
      const Instant begun = world.sim.now;
      std::optional<Instant> written;
      world.sm.rewrite_tables(begun, [&](const Result<void>&, Instant at) { written = at; });
      if (is_new) {
        world.sm.configure(world.reports.back().survey, world.sim.now);
        EXPECT_LT(world.finish().ended - begun, life / 2) << nth;
      }
      ASSERT_TRUE(world.sim.run([&] { return written.has_value(); }));
      waited += !is_new && *written - begun >= life ? 1 : 0;
      expect_works(world);
    }
  }
  EXPECT_GT(waited, 0U);
}

// World 4157367323: orders that failed followed one another for two minutes, and meanwhile no table was
// compared with what its switch holds.
TEST(Provisioner, TablesAreVerifiedAlsoWhileOneOrderFollowsTheOther) {
  ProvisionOptions options;
  options.packet_life = 50ms;
  options.verify_within = 1s;
  KeptWorld kept{"torus:4x4,hosts=1,links=1", options};
  World& world = kept.world;
  ASSERT_FALSE(world.bring_up().failure);
  kept.settle();
  (void)world.sim.run([] { return false; }, 200ms);
  std::set<std::vector<PortNum>> written;
  world.sim.on_send = [&](const mad::Packet& packet) {
    if (const auto set = table_set(packet)) written.insert(set->path);
  };
  std::size_t orders = 0;
  const LinkRef avoided = link_ref(world.truth(), world.truth().link(kept.switch_link(0)));
  std::optional<Instant> again;
  const auto order = [&] {
    kept.keeper.avoid(0, ++orders % 2 == 0 ? std::vector{avoided} : std::vector<LinkRef>{});
    again.reset();
    world.sm.rewrite_tables(world.sim.now, [&](const Result<void>&, Instant at) { again = at + 1ms; });
  };
  world.sim.next_deadline = [&] {
    const auto first = world.sm.next_deadline();
    return again && (!first || *again < *first) ? again : first;
  };
  world.sim.on_timer = [&](Instant now) {
    world.sm.on_timer(now);
    if (again && *again <= now) order();
  };
  order();
  ASSERT_TRUE(world.sim.run([&] { return orders > 10; }));
  // One that no order writes to.
  NodeIndex sw = no_node;
  for (std::size_t nth = 0; nth < 16; ++nth) {
    const auto way = way_to(world, world.switch_at(nth));
    if (way && !written.contains(*way)) sw = world.switch_at(nth);
  }
  ASSERT_NE(sw, no_node);
  constexpr std::size_t lid = 60;
  ASSERT_TRUE(test::write_entry(world.sim.fabric, sw, lid, PortNum{2}, world.sim.ps()));
  ASSERT_EQ(world.sim.fabric.forwarding_table(sw)[lid], PortNum{2});
  EXPECT_TRUE(world.sim.run([&] { return world.sim.fabric.forwarding_table(sw)[lid] == no_path; }, 5s));
}

}  // namespace
}  // namespace heddle::provision
