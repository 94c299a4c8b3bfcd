// What tables lead to while ports go down: nothing that is ordered meanwhile leads out of one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "provision_world.h"
#include "transport/requests.h"

namespace heddle::provision {
namespace {

// The sweep goes on, and what is ordered meanwhile makes tables anew.
TEST(Provisioner, NothingIsLedOutOfAPortThatASweepUnderWayFoundDown) {
  KeptWorld kept{"torus:3x3,hosts=1,links=1"};
  World& world = kept.world;
  ASSERT_FALSE(world.bring_up().failure);
  const Fabric& truth = world.truth();
  for (std::size_t nth = 0; nth < 18; ++nth) {
    const LinkEnd end = truth.link(kept.switch_link(nth)).a;
    world.sm.keep_off(truth.ref(end));
    EXPECT_TRUE(rewrite_tables(world.sm, world.sim));
    EXPECT_THAT(world.sim.fabric.forwarding_table(end.node), testing::Not(testing::Contains(end.port)));
    // The sweep's own survey says what is so.
    world.bring_up();
    kept.settle();
    expect_works(world);
  }
}

// A sweep that saw nobody says nothing of ports (2000001655 of the swarm: tables led into a switch that had
// died, and whose neighbours had said so before the own switch did not answer any more).
TEST(Provisioner, NorAfterASweepThatSawNobody) {
  KeptWorld kept{"torus:3x3,hosts=1,links=1"};
  World& world = kept.world;
  ASSERT_FALSE(world.bring_up().failure);
  const Fabric& truth = world.truth();
  const NodeIndex own =
      truth.peer({truth.port(world.sim.port()).node, truth.port(world.sim.port()).num})->node;
  for (std::size_t nth = 0; nth < 18; ++nth) {
    const LinkEnd end = truth.link(kept.switch_link(nth)).a;
    world.sm.keep_off(truth.ref(end));
    world.sim.fabric.set_agent_faults(own, {.mute_sma = true});
    EXPECT_TRUE(world.bring_up().failure);
    world.sim.fabric.set_agent_faults(own, {});
    (void)rewrite_tables(world.sm, world.sim);
    EXPECT_THAT(world.sim.fabric.forwarding_table(end.node), testing::Not(testing::Contains(end.port)));
    world.bring_up();
    kept.settle();
    expect_works(world);
  }
}

// Nor after a sweep that has asked others: what it says of the port is what was known before (2000030003 of
// the swarm: a sweep was told that a port is down, and failed, since the daemon's own node did not answer).
TEST(Provisioner, NorAfterASweepThatAskedOthers) {
  KeptWorld kept{"torus:3x3,hosts=1,links=1"};
  World& world = kept.world;
  ASSERT_FALSE(world.bring_up().failure);
  const Fabric& truth = world.truth();
  for (std::size_t nth = 0; nth < 18; ++nth) {
    const Link& link = truth.link(kept.switch_link(nth));
    std::size_t other = 0;
    while (world.switch_at(other) == link.a.node || world.switch_at(other) == link.b.node) ++other;
    const NodeGuid asked = truth.node(world.switch_at(other)).guid;
    world.sm.keep_off(truth.ref(link.a));
    const auto before = world.reports.size();
    world.discovery.rediscover({&asked, 1}, world.sim.now);
    kept.settle();
    ASSERT_GT(world.reports.size(), before);
    (void)rewrite_tables(world.sm, world.sim);
    EXPECT_THAT(world.sim.fabric.forwarding_table(link.a.node), testing::Not(testing::Contains(link.a.port)));
    world.bring_up();
    kept.settle();
    expect_works(world);
  }
}

/// Asks, and does not care.
struct Asker final : transport::TransactionClient {
  void on_completion(const transport::Completion& /*completion*/) override {}
};

enum class Agents : std::uint8_t {
  Idle,
  Busy  ///< what is submitted waits for its turn, as beside a sweep
};

class StagesLeftOut : public testing::TestWithParam<Agents> {};

// Stages of a change that was under way when ports were found down.
TEST_P(StagesLeftOut, ThatWouldLeadOutOfADeadPort) {
  Asker asker;
  KeptWorld kept{"torus:4x4,hosts=1,links=1"};
  World& world = kept.world;
  ASSERT_FALSE(world.bring_up().failure);
  const Fabric& truth = world.truth();
  // Block 0 holds all LIDs.
  std::map<std::vector<PortNum>, std::vector<std::uint8_t>> sent;
  world.sim.on_send = [&](const mad::Packet& packet) {
    if (const auto set = table_set(packet)) sent[set->path] = set->entries;
  };
  const auto through = [&](LinkEnd end) {
    std::set<std::size_t> lids;
    const auto table = world.sim.fabric.forwarding_table(end.node);
    for (std::size_t lid = 0; lid < table.size(); ++lid)
      if (table[lid] == end.port) lids.insert(lid);
    return lids;
  };
  std::size_t left_out = 0;
  for (std::size_t nth = 0; nth < 32; ++nth) {
    const Survey& survey = *world.reports.back().survey;
    kept.keeper.avoid(0, {link_ref(truth, truth.link(kept.switch_link(nth)))});
    std::optional<Result<void>> done;
    for (unsigned i = 0; GetParam() == Agents::Busy && i < 6; ++i) {
      for (const SurveyNode& node : survey.nodes) {
        const auto get = transport::directed_smp({.attribute = mad::SmAttr::NodeInfo}, node.path);
        ASSERT_TRUE(
            world.sim.engine.submit({get, transport::agent_of(node.guid())}, asker, i, world.sim.now));
      }
    }
    sent.clear();
    world.sm.rewrite_tables(world.sim.now, [&](const Result<void>& result, Instant) { done = result; });
    // The first stage is on its way. Of each link, the sweep has asked one end.
    std::map<LinkEnd, std::set<std::size_t>> had;
    for (std::size_t each = 0; each < 32; ++each) {
      const Link& link = truth.link(kept.switch_link(each));
      world.sm.keep_off(truth.ref(nth % 2 == 0 ? link.a : link.b));
      for (const LinkEnd end : {link.a, link.b}) {
        had[end] = through(end);
        const NodeIndex there = survey.fabric->find_node(truth.node(end.node).guid);
        const auto on_its_way = sent.find(survey.node(there).path);
        for (std::size_t lid = 0; on_its_way != sent.end() && lid < on_its_way->second.size(); ++lid)
          if (on_its_way->second[lid] == end.port.raw()) had[end].insert(lid);
      }
    }
    ASSERT_TRUE(world.sim.run([&] { return done.has_value(); }));
    for (const auto& [end, before] : had) {
      for (const std::size_t lid : through(end)) EXPECT_TRUE(before.contains(lid));
    }
    left_out += *done ? 0 : 1;
    kept.keeper.avoid(0, {});
    world.bring_up();
    kept.settle();
    expect_works(world);
  }
  EXPECT_GT(left_out, 0U);
}

INSTANTIATE_TEST_SUITE_P(All, StagesLeftOut, testing::Values(Agents::Idle, Agents::Busy));

// Random run 510174: a switch died while a stage waited for packets, and one of its neighbours said so. When
// it was back, with nothing in its table and all ports in Init, the stage led by another neighbour, and wrote
// beside that the entries that the switch was believed to hold.
TEST(Provisioner, ASwitchWhoseCableFellIsNotGivenAgainWhatItHeld) {
  std::size_t left_out = 0;
  for (std::size_t nth = 0; nth < 64; ++nth) {
    KeptWorld kept{"torus:4x4,hosts=1,links=1"};
    World& world = kept.world;
    ASSERT_FALSE(world.bring_up().failure);
    const Fabric& truth = world.truth();
    std::map<std::vector<PortNum>, std::set<std::uint8_t>> sent;
    world.sim.on_send = [&](const mad::Packet& packet) {
      if (const auto set = table_set(packet))
        sent[set->path].insert(set->entries.begin(), set->entries.end());
    };
    const Link& avoided = truth.link(kept.switch_link(nth / 2));
    kept.keeper.avoid(0, {link_ref(truth, avoided)});
    std::optional<Result<void>> done;
    world.sm.rewrite_tables(world.sim.now, [&](const Result<void>& result, Instant) { done = result; });
    // The first stage is on its way.
    const NodeIndex dies = nth % 2 == 0 ? avoided.a.node : avoided.b.node;
    const auto way = way_to(world, dies);
    if (!way || sent.contains(*way)) continue;
    world.sim.engine.unsolicited_to([](const mad::Packet&, Instant) {});
    world.sim.fabric.kill(dies, world.sim.ps());
    // The avoided one: nothing new is led there.
    world.sm.keep_off(truth.ref(nth % 2 == 0 ? avoided.b : avoided.a));
    world.sim.fabric.revive(dies, world.sim.ps());
    ASSERT_TRUE(world.sim.run([&] { return done.has_value(); }));
    const PortNum fell = nth % 2 == 0 ? avoided.a.port : avoided.b.port;
    EXPECT_THAT(sent[*way], testing::Not(testing::Contains(fell.raw()))) << "link " << nth / 2;
    left_out += *done ? 0 : 1;
    kept.keeper.avoid(0, {});
    world.bring_up();
    kept.settle();
    (void)world.sim.run([] { return false; }, ProvisionOptions{}.packet_life);
    world.bring_up();
    kept.settle();
    expect_works(world);
  }
  EXPECT_GT(left_out, 0U);
}

// Random run 600450: a switch died and came back, a sweep had found its ports in Init, and what was ordered
// meanwhile wrote a block of its table, with all the entries that it was believed to hold.
TEST(Provisioner, ASwitchWhosePortsTrainedIsGivenNoEntryThatLeadsOutOfThem) {
  std::size_t written = 0;
  for (std::size_t nth = 0; nth < 9; ++nth) {
    for (std::uint8_t p = 1; p <= 10; ++p) {
      KeptWorld kept{"torus:3x3,hosts=2,links=2"};
      World& world = kept.world;
      ASSERT_FALSE(world.bring_up().failure);
      const Fabric& truth = world.truth();
      const NodeIndex restarted = world.switch_at(nth);
      const auto way = way_to(world, restarted);
      if (!way) continue;
      world.sim.engine.unsolicited_to([](const mad::Packet&, Instant) {});
      world.sim.fabric.kill(restarted, world.sim.ps());
      world.sim.fabric.revive(restarted, world.sim.ps());
      (void)world.sim.run([] { return false; }, std::chrono::seconds{10});
      std::set<std::uint8_t> trained;
      for (std::uint8_t q = 1; q <= p; ++q) {
        const PortIndex port = truth.port_index(restarted, PortNum{q});
        ASSERT_EQ(world.sim.fabric.port_info(port).state, PortState::Init);
        world.sm.keep_off(truth.ref(port));
        trained.insert(q);
      }
      world.sim.on_send = [&](const mad::Packet& packet) {
        const auto set = table_set(packet);
        if (!set || set->path != *way) return;
        ++written;
        for (const std::uint8_t out : set->entries) EXPECT_FALSE(trained.contains(out)) << unsigned{out};
      };
      (void)rewrite_tables(world.sm, world.sim);
      world.sim.on_send = {};
      world.bring_up();
      kept.settle();
      expect_works(world);
    }
  }
  EXPECT_GT(written, 0U);
}

// Random run 900080: another sweep had found a port in Init just before a run raised it. What was ordered
// next took it for one that is not Active, and took away what led out of it.
TEST(Provisioner, APortThatARunHasRaisedIsUsedWhateverWasFoundBefore) {
  std::size_t led = 0;
  for (std::size_t nth = 0; nth < 18; ++nth) {
    KeptWorld kept{"torus:3x3,hosts=1,links=1"};
    World& world = kept.world;
    ASSERT_FALSE(world.bring_up().failure);
    const Fabric& truth = world.truth();
    const LinkIndex link = kept.switch_link(nth);
    const std::array ends{truth.link(link).a, truth.link(link).b};
    world.sim.engine.unsolicited_to([](const mad::Packet&, Instant) {});
    world.sim.fabric.cut(link, world.sim.ps());
    world.sim.fabric.mend(link, world.sim.ps());
    (void)world.sim.run([] { return false; }, std::chrono::seconds{10});
    auto survey = std::make_shared<Survey>(*world.reports.back().survey);
    for (const LinkEnd end : ends) read_again(*survey, world, end);
    world.sm.configure(survey, world.sim.now);
    ASSERT_TRUE(world.sm.busy());
    for (const LinkEnd end : ends) world.sm.keep_off(truth.ref(end));
    world.finish();
    ASSERT_TRUE(world.sim.fabric.forwards(truth.port_index(ends[0])));
    const auto table = world.sim.fabric.forwarding_table(ends[0].node);
    const std::vector<PortNum> before(table.begin(), table.end());
    led += static_cast<std::size_t>(std::ranges::count(before, ends[0].port));
    EXPECT_TRUE(rewrite_tables(world.sm, world.sim));
    EXPECT_THAT(world.sim.fabric.forwarding_table(ends[0].node), testing::ElementsAreArray(before));
  }
  EXPECT_GT(led, 0U);
}

// Random run 1400198: two sweeps followed one another, of which the run on the first raised the ports that
// both had found in Init. The run on the second was refused (no port goes from Active to Armed), took the
// ports for what its sweep had said, and took away what led out of them: for 15 ms, until the next one.
TEST(Provisioner, APortThatRefusesALesserStateIsRead) {
  for (std::size_t nth = 0; nth < 18; ++nth) {
    SCOPED_TRACE(nth);
    KeptWorld kept{"torus:3x3,hosts=1,links=1"};
    World& world = kept.world;
    ASSERT_FALSE(world.bring_up().failure);
    world.sim.fabric.cut(kept.switch_link(nth), world.sim.fabric.now());
    world.bring_up();
    world.sim.fabric.mend(kept.switch_link(nth), world.sim.fabric.now());
    const std::size_t sweep = world.sweeps.size();
    EXPECT_EQ(world.bring_up().links_raised, 2U);
    EXPECT_TRUE(rewrite_tables(world.sm, world.sim));  // what waits for packets
    std::size_t writes = 0;
    world.sim.on_send = [&](const mad::Packet& packet) { writes += table_set(packet) ? 1 : 0; };
    world.sm.configure(world.sweeps.at(sweep).survey, world.sim.now);
    const ProvisionReport& report = world.finish();
    world.sim.on_send = nullptr;
    EXPECT_EQ(report.links_raised, 0U);
    EXPECT_EQ(texts(report), "");
    EXPECT_EQ(writes, 0U);
    expect_works(world);
  }
}

}  // namespace
}  // namespace heddle::provision
