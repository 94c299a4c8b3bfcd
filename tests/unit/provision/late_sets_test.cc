// What is written to tables while Sets may arrive that were sent before.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "provision_world.h"

namespace heddle::provision {
namespace {

using namespace std::chrono_literals;

/// In the fabric, by the cables on its way.
NodeIndex addressee(const World& world, const TableSet& set) {
  const Survey& survey = *world.reports.back().survey;
  NodeIndex at = world.truth().find_node(survey.node(survey.local).guid());
  for (const PortNum out : set.path) at = world.truth().peer({at, out})->node;
  return at;
}

// Each answer comes twice, and not the same: what the second one says is a reason to write anew.
TEST(Provisioner, ASwitchThatContradictsItselfIsNotWrittenWithoutEnd) {
  KeptWorld kept{"tree:k=2,n=2"};
  World& world = kept.world;
  const auto is_table = [](const mad::Packet& packet) {
    const mad::Header header = mad::read_header(packet.mad);
    return mad::is_smp(header) &&
           static_cast<mad::SmAttr>(header.attribute) == mad::SmAttr::LinearForwardingTable;
  };
  world.sim.receive_with([&](const mad::Packet& packet, Instant at) {
    world.sim.engine.on_packet(packet, at);
    if (!is_table(packet)) return;
    mad::Packet other = packet;
    mad::smp_data(other.mad)[7] ^= 1U;
    world.sim.engine.on_packet(other, at);
  });
  std::size_t questions = 0;
  world.sim.on_send = [&](const mad::Packet& packet) { questions += is_table(packet) ? 1 : 0; };
  ASSERT_FALSE(world.bring_up().failure);
  world.sim.fabric.cut(kept.switch_link(0), world.sim.ps());
  world.discovery.full(world.sim.now);
  (void)world.sim.run([] { return false; }, 10s);
  EXPECT_GT(questions, 100U) << "it is written anew";
  EXPECT_LT(questions, 10'000U) << "in ten seconds";
}

// A Set that was repeated before its answer came, or given up, may arrive after others.
TEST(Provisioner, ABlockIsNotChangedAgainWhileAnEarlierSetMayArrive) {
  ProvisionOptions options;
  options.packet_life = 200ms;
  KeptWorld kept{"torus:3x3,hosts=1,links=1", options};
  World& world = kept.world;
  ASSERT_FALSE(world.bring_up().failure);
  struct Block {
    std::vector<std::uint8_t> content;
    Instant last;
    std::size_t times = 0;
  };
  std::map<std::pair<std::vector<PortNum>, std::uint32_t>, Block> blocks;
  std::size_t repeated = 0;
  world.sim.on_send = [&](const mad::Packet& packet) {
    const mad::Header header = mad::read_header(packet.mad);
    if (header.method != mad::Method::Set || !mad::is_smp(header) ||
        static_cast<mad::SmAttr>(header.attribute) != mad::SmAttr::LinearForwardingTable)
      return;
    const auto route = mad::read_directed_route(packet.mad);
    Block& block = blocks[{{route.initial_path.begin(), route.initial_path.end()}, header.modifier}];
    const auto data = mad::smp_data(packet.mad);
    const std::vector<std::uint8_t> content(data.begin(), data.end());
    if (content != block.content && block.times > 1) {
      ++repeated;
      EXPECT_GE(world.sim.now - block.last, options.packet_life);
    }
    if (content != block.content) block = {content, {}, 0};
    block.last = world.sim.now;
    ++block.times;
  };
  sim::MadFaults faults;
  faults.lost = Ratio{0.05};
  world.sim.fabric.set_mad_faults(faults);
  for (std::size_t nth = 0; nth < 54; ++nth) {
    const LinkRef link = link_ref(world.truth(), world.truth().link(kept.switch_link(nth % 18)));
    kept.keeper.avoid(0, {link});
    ASSERT_FALSE(world.bring_up().failure);
    kept.settle();
  }
  EXPECT_GT(repeated, 0U);
}

// 2000010161 of the swarm: the fabric delivered a Set twice, and the second copy put a block back that had
// been changed meanwhile. It is answered, too.
TEST(Provisioner, WhatALateCopyOfASetPutsBackIsMendedOnceItIsAnswered) {
  KeptWorld kept{"torus:3x3,hosts=1,links=1"};
  World& world = kept.world;
  ASSERT_FALSE(world.bring_up().failure);
  kept.settle();
  std::vector<mad::Packet> sets;
  world.sim.on_send = [&](const mad::Packet& packet) {
    if (table_set(packet)) sets.push_back(packet);
  };
  const auto keep_off = [&](std::vector<LinkRef> links) {
    kept.keeper.avoid(0, std::move(links));
    ASSERT_FALSE(world.bring_up().failure);
    kept.settle();
  };
  for (std::size_t nth = 0; nth < 18 && sets.empty(); ++nth)
    keep_off({link_ref(world.truth(), world.truth().link(kept.switch_link(nth)))});
  world.sim.on_send = nullptr;
  ASSERT_FALSE(sets.empty());
  keep_off({});
  const auto tables = [&] {
    std::vector<std::vector<PortNum>> all;
    for (std::size_t nth = 0; nth < 9; ++nth) {
      const auto held = world.sim.fabric.forwarding_table(world.switch_at(nth));
      all.emplace_back(held.begin(), held.end());
    }
    return all;
  };
  const auto wanted = tables();
  for (const mad::Packet& late : sets) {
    world.sim.fabric.send(world.sim.ps(), world.sim.client(), late);
    ASSERT_TRUE(world.sim.run([&] { return tables() != wanted; }, 1ms));
    EXPECT_TRUE(world.sim.run([&] { return tables() == wanted; }, 10s));
  }
}

// Whoever managed the fabric before was killed, perhaps with Sets under way (20124, 1020, 1050220 and others
// of the swarm: switches had entries back that were changed already; 153164142: a switch had lost entries
// since it was read, and others sent it packets by them).
TEST(Provisioner, ABlockThatWasFoundIsNotChangedWhileASetOfBeforeMayArriveAndIsReadAgainThen) {
  ProvisionOptions options;
  options.packet_life = 200ms;
  World world{"torus:4x4,hosts=1,links=1", options};
  world.bring_up();
  const auto survey = found_anew(world);
  ASSERT_TRUE(survey);
  UpDownKeeper keeper;  // deals LIDs in another way than minhop
  std::vector<ProvisionReport> reports;
  SubnetManager fresh{world.sim.engine, world.sim, options,
                      [&](const Fabric& fabric) { return keeper.route(fabric); },
                      [&](const ProvisionReport& report) { reports.push_back(report); }};
  const Instant began = world.sim.now;
  std::optional<Instant> first;
  std::size_t read = 0;
  std::size_t read_again = 0;
  world.sim.on_send = [&](const mad::Packet& packet) {
    const mad::Header header = mad::read_header(packet.mad);
    const bool of_table = mad::is_smp(header) &&
                          static_cast<mad::SmAttr>(header.attribute) == mad::SmAttr::LinearForwardingTable;
    if (!of_table || first) return;
    if (header.method == mad::Method::Set) first = world.sim.now;
    if (header.method == mad::Method::Get)
      ++(world.sim.now - began < options.packet_life ? read : read_again);
  };
  world.sim.next_deadline = [&] { return fresh.next_deadline(); };
  world.sim.on_timer = [&](Instant now) { fresh.on_timer(now); };
  fresh.configure(survey, world.sim.now);
  ASSERT_TRUE(world.sim.run([&] { return first.has_value(); }));
  EXPECT_GE(*first - began, options.packet_life);
  EXPECT_EQ(read, 16U);
  EXPECT_EQ(read_again, 16U);
}

// 949934114 of the swarm: a switch died, Sets to it were given up, and when it was back it was written and
// used before these could no longer arrive.
TEST(Provisioner, ASwitchThatWasRestartedIsNotWrittenWhileASetOfBeforeMayArrive) {
  ProvisionOptions options;
  options.packet_life = 5s;
  KeptWorld kept{"torus:3x3,hosts=1,links=1", options};
  World& world = kept.world;
  ASSERT_FALSE(world.bring_up().failure);
  kept.settle();
  const Fabric& truth = world.truth();
  const NodeIndex dies = world.switch_at(8);
  std::optional<Instant> given_up;
  std::optional<Instant> written;
  bool is_back = false;
  world.sim.on_send = [&](const mad::Packet& packet) {
    const auto set = table_set(packet);
    if (!set) return;
    const NodeIndex to = addressee(world, *set);
    if (to != dies) return;
    if (!given_up) world.sim.fabric.kill(dies, world.sim.ps());
    (is_back ? written : given_up) = world.sim.now;
  };
  for (std::size_t nth = 0; nth < 18 && !given_up; ++nth) {
    kept.keeper.avoid(0, {link_ref(truth, truth.link(kept.switch_link(nth)))});
    ASSERT_FALSE(world.bring_up().failure);
    kept.settle();
  }
  ASSERT_TRUE(given_up);
  kept.keeper.avoid(0, {});
  world.sim.fabric.revive(dies, world.sim.ps());
  is_back = true;
  const Instant back = world.sim.now;
  while (!written && world.sim.now - back < 4 * options.packet_life) {
    world.discovery.full(world.sim.now);
    (void)world.sim.run([] { return false; }, 100ms);
  }
  ASSERT_TRUE(written);
  EXPECT_GE(*written - *given_up, options.packet_life);
}

// 249361335 of the swarm: a Set was repeated, so that LIDs waited which that switch holds in the same block.
// A link was cut, and entries that led over it waited with them; it came back, and they closed a circle.
TEST(Provisioner, WhatLeadsOverALinkThatIsDownWaitsForNoOtherSwitch) {
  ProvisionOptions options;
  options.packet_life = 200ms;
  KeptWorld kept{"torus:4x4,hosts=1,links=1", options};
  World& world = kept.world;
  ASSERT_FALSE(world.bring_up().failure);
  const Fabric& truth = world.truth();
  // Block 0 holds all LIDs.
  std::map<NodeIndex, std::vector<std::uint8_t>> sent;
  std::map<NodeIndex, Instant> repeated;
  world.sim.on_send = [&](const mad::Packet& packet) {
    const auto set = table_set(packet);
    if (!set) return;
    const NodeIndex to = addressee(world, *set);
    if (std::exchange(sent[to], set->entries) == set->entries) repeated[to] = world.sim.now;
  };
  sim::MadFaults faults;
  faults.lost = Ratio{0.02};
  world.sim.fabric.set_mad_faults(faults);
  const auto look = [&] {
    world.discovery.full(world.sim.now);
    (void)world.sim.run([] { return false; }, options.packet_life / 4);
  };
  std::size_t waited = 0;
  for (std::size_t nth = 0; nth < 96; ++nth) {
    SCOPED_TRACE(nth);
    const LinkIndex cut = kept.switch_link(nth % 32);
    world.sim.fabric.cut(cut, world.sim.ps());
    look();
    const ProvisionReport& report = world.reports.back();
    waited += report.postponed ? 1 : 0;
    for (const LinkEnd end : {truth.link(cut).a, truth.link(cut).b}) {
      const auto again = repeated.find(end.node);
      if (again != repeated.end() && world.sim.now - again->second < options.packet_life) continue;
      EXPECT_THAT(world.sim.fabric.forwarding_table(end.node), testing::Not(testing::Contains(end.port)));
    }
    world.sim.fabric.mend(cut, world.sim.ps());
    look();
  }
  EXPECT_GT(waited, 0U);
}

}  // namespace
}  // namespace heddle::provision
