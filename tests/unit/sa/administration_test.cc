// What hosts are told of paths, nodes and ports, and who is refused.

#include "authority/own/administration.h"

#include <gtest/gtest.h>

#include "asked.h"

namespace heddle::provision {
namespace {

TEST_F(Asked, PathsAreThoseOfTheTablesInForce) {
  World world{small_tree, 1};
  world.bring_up();
  SaClient client{world.sim.fabric, world.host(1)};
  for (std::size_t to = 0; to < 8; ++to) {
    sa::PathRecord wish;
    wish.sgid = world.gid(world.host(1));
    wish.dgid = world.gid(world.host(to));
    const std::uint64_t by_gids = sa::PathRecord::has_sgid | sa::PathRecord::has_dgid;
    ASSERT_TRUE(world.ask(client, path_question(wish, by_gids)));
    ASSERT_EQ(client.answered().status, mad::status::ok);
    EXPECT_EQ(client.answered().method, mad::Method::GetResp);
    const auto path = client.record<sa::PathRecord>();
    EXPECT_EQ(path.slid, world.sim.fabric.port_info(world.host(1)).lid);
    EXPECT_EQ(path.dlid, world.sim.fabric.port_info(world.host(to)).lid);
    EXPECT_EQ(path.dgid, wish.dgid);
    EXPECT_EQ(path.pkey, 0xffff);
    if (to == 1) continue;
    const auto walked = walk(world.sim.fabric, world.host(1), path.dlid);
    ASSERT_TRUE(walked);
    EXPECT_EQ(path.mtu.code, walked->mtu);
    EXPECT_EQ(path.rate.code, walked->rate);
    // Both LIDs of the other end.
    SaQuestion table = path_question(wish, by_gids);
    table.method = sa::method::get_table;
    ASSERT_TRUE(world.ask(client, table));
    ASSERT_EQ(client.records(), 2U);
    EXPECT_EQ(sa::decode<sa::PathRecord>(client.record_at(1)).dlid.raw(), path.dlid.raw() + 1);
    EXPECT_EQ(sa::decode<sa::PathRecord>(client.record_at(1)).slid.raw(), path.slid.raw() + 1);
  }
}

TEST_F(Asked, WhatAPathCannotCarryIsNotPromised) {
  World world{small_tree};
  world.bring_up();
  SaClient client{world.sim.fabric, world.host(1)};
  sa::PathRecord wish;
  wish.slid = world.sim.fabric.port_info(world.host(1)).lid;
  wish.dlid = world.sim.fabric.port_info(world.host(5)).lid;
  constexpr std::uint64_t lids = sa::PathRecord::has_slid | sa::PathRecord::has_dlid;
  const auto status = [&](std::uint64_t components) {
    EXPECT_TRUE(world.ask(client, path_question(wish, lids | components)));
    return client.answered().status;
  };
  EXPECT_EQ(status(0), 0);
  const auto best = client.record<sa::PathRecord>();
  wish.mtu = {sa::Selector::Above, best.mtu.code};
  EXPECT_EQ(status(sa::PathRecord::has_mtu), sa::status::no_records);
  wish.mtu = {sa::Selector::Below, best.mtu.code};
  EXPECT_EQ(status(sa::PathRecord::has_mtu), 0);
  EXPECT_EQ(client.record<sa::PathRecord>().mtu.code, best.mtu.code - 1);
  wish.rate = {sa::Selector::Exactly, 2};  // 2.5 Gb/s
  EXPECT_EQ(status(sa::PathRecord::has_rate), 0);
  EXPECT_EQ(client.record<sa::PathRecord>().rate.code, 2);
  wish.rate = {sa::Selector::Above, best.rate.code};
  EXPECT_EQ(status(sa::PathRecord::has_rate), sa::status::no_records);
  wish.life = {sa::Selector::Below, 10};
  EXPECT_EQ(status(sa::PathRecord::has_life), sa::status::no_records);
  wish.pkey = 0x8123;
  EXPECT_EQ(status(sa::PathRecord::has_pkey), sa::status::no_records);
  wish.dlid = Lid{0x7777};
  EXPECT_EQ(status(0), sa::status::no_records);
  EXPECT_TRUE(world.ask(client, path_question({}, 0)));
  EXPECT_EQ(client.answered().status, sa::status::insufficient_components);
  wish.dgid = {0xfe80000000000000, 0x1234};
  EXPECT_TRUE(world.ask(client, path_question(wish, sa::PathRecord::has_slid | sa::PathRecord::has_dgid)));
  EXPECT_EQ(client.answered().status, sa::status::invalid_gid);
}

TEST_F(Asked, NodesAndPortsAreThoseOfTheSurvey) {
  World world{wide_tree};
  world.bring_up();
  SaClient client{world.sim.fabric, world.host(1)};
  SaQuestion question{.method = sa::method::get_table, .attribute = sa::Attribute::NodeRecord};
  ASSERT_TRUE(world.ask(client, question));
  EXPECT_EQ(client.records(), 64U + 48U);
  std::set<std::uint16_t> lids;
  for (std::size_t i = 0; i < client.records(); ++i) {
    const auto record = client.record_at(i);
    const Lid lid{static_cast<std::uint16_t>(record[0] << 8U | record[1])};
    lids.insert(lid.raw());
    const PortIndex port = world.sim.fabric.port_of(lid);
    ASSERT_NE(port, no_port);
    const Node& node = world.sim.fabric.description().node(world.sim.fabric.description().port(port).node);
    EXPECT_EQ(record[6], static_cast<std::uint8_t>(node.type));
    const std::string text(reinterpret_cast<const char*>(&record[44]));
    EXPECT_EQ(text, node.description);
  }
  EXPECT_EQ(lids.size(), 112U);
  // By the LID of a switch: all its ports.
  const Fabric& truth = world.sim.fabric.description();
  for (const Node& node : truth.nodes()) {
    if (node.type != NodeType::Switch) continue;
    const Lid lid = world.sim.fabric.port_info(node.first_port).lid;
    std::vector<std::uint8_t> record{static_cast<std::uint8_t>(lid.raw() >> 8U),
                                     static_cast<std::uint8_t>(lid.raw())};
    ASSERT_TRUE(world.ask(client, {.method = sa::method::get_table,
                                   .attribute = sa::Attribute::PortInfoRecord,
                                   .components = 1,
                                   .record = record}));
    EXPECT_EQ(client.records(), node.port_count + 1U);
    ASSERT_TRUE(
        world.ask(client, {.attribute = sa::Attribute::PortInfoRecord, .components = 1, .record = record}));
    EXPECT_EQ(client.answered().status, sa::status::too_many_records);
    break;
  }
  // Whose CapabilityMask has IsSM: one port, ours.
  std::vector<std::uint8_t> mask(28);
  mask[27] = 2;
  ASSERT_TRUE(world.ask(client, {.method = sa::method::get_table,
                                 .attribute = sa::Attribute::PortInfoRecord,
                                 .components = 1U << 7U,
                                 .modifier = 1U << 31U,
                                 .record = mask}));
  EXPECT_EQ(client.records(), 1U);
}

TEST_F(Asked, LongAnswersArriveWholeThoughMadsAreLost) {
  World world{wide_tree};
  world.bring_up();
  SaClient client{world.sim.fabric, world.host(9)};
  world.sim.fabric.set_mad_faults({.lost = Ratio{0.02}});
  for (int round = 0; round < 10; ++round) {
    ASSERT_TRUE(
        world.ask(client, {.method = sa::method::get_table, .attribute = sa::Attribute::PortInfoRecord}));
    EXPECT_EQ(client.answered().status, mad::status::ok);
    // Every port of every node: 48 switches with 8 and port 0, 64 hosts; some 170 segments.
    EXPECT_EQ(client.records(), 48U * 9U + 64U);
    std::set<std::pair<unsigned, unsigned>> seen;
    for (std::size_t i = 0; i < client.records(); ++i) {
      const auto record = client.record_at(i);
      seen.emplace(record[0] << 8U | record[1], record[2]);
    }
    EXPECT_EQ(seen.size(), client.records());
  }
  world.rest();
  EXPECT_GT(world.sm.administration()->segment_statistics().repeated, 0U);
  EXPECT_EQ(client.aborts, 0U);
}

TEST_F(Asked, WhoGoesAwayIsNotWaitedForForEver) {
  World world{wide_tree};
  world.bring_up();
  SaClient client{world.sim.fabric, world.host(9)};
  client.ask({.method = sa::method::get_table, .attribute = sa::Attribute::PortInfoRecord}, world.sim.ps());
  world.sim.fabric.set_mad_faults({.lost = Ratio{1.0}});
  EXPECT_FALSE(world.sim.run([&] { return client.answer.has_value(); }, 20s));
  const auto& segments = world.sm.administration()->segment_statistics();
  EXPECT_EQ(segments.finished, 0U);
  EXPECT_LE(segments.given_up, 1U);
  EXPECT_FALSE(world.sm.administration()->next_deadline());
}

TEST_F(Asked, AWrongKeyAndAStrangersLidAreNotAnswered) {
  World world{small_tree};
  world.bring_up();
  SaClient client{world.sim.fabric, world.host(1)};
  sa::PathRecord wish;
  wish.slid = world.sim.fabric.port_info(world.host(1)).lid;
  wish.dlid = world.sim.fabric.port_info(world.host(2)).lid;
  SaQuestion question = path_question(wish, sa::PathRecord::has_slid | sa::PathRecord::has_dlid);
  question.sm_key = 2;
  EXPECT_FALSE(world.ask(client, question, 2s));
  EXPECT_GT(world.sm.administration()->statistics().wrong_keys, 0U);
  question.sm_key = 1;
  EXPECT_TRUE(world.ask(client, question));

  mad::Packet forged;
  forged.address = {.dlid = Lid{1}, .slid = Lid{0x4000}, .dqp = mad::gsi_qp, .sqp = mad::gsi_qp};
  mad::Header header;
  header.mgmt_class = mad::MgmtClass::SubnAdm;
  header.class_version = sa::class_version;
  header.attribute = static_cast<std::uint16_t>(sa::Attribute::ClassPortInfo);
  mad::write_header(header, forged.mad);
  const auto before = world.sim.fabric.statistics().sent;
  EXPECT_FALSE(world.sm.on_unsolicited(forged, world.sim.now));
  EXPECT_EQ(world.sim.fabric.statistics().sent, before);
  EXPECT_EQ(world.sm.administration()->statistics().strangers, 1U);
}

// Each such question has all ports looked at: a host that asked without end had the daemon do nothing else.
TEST_F(Asked, WhoAsksForTablesWithoutEndIsToldThatItIsBusyAndNobodyElseIs) {
  World world{
      small_tree, 1, {}, {.burst = 0, .per_second = 0, .tables_at_once = 2, .tables_per_second = 0.01}};
  world.bring_up();
  SaClient greedy{world.sim.fabric, world.host(1)};
  SaClient other{world.sim.fabric, world.host(2)};
  const auto lid = [&](std::size_t host) { return world.sim.fabric.port_info(world.host(host)).lid; };
  sa::PathRecord wish;
  wish.slid = lid(1);
  wish.dlid = lid(2);
  SaQuestion to_all = path_question(wish, sa::PathRecord::has_slid);
  SaQuestion ports{.attribute = sa::Attribute::PortInfoRecord};
  to_all.method = ports.method = sa::method::get_table;
  const auto status = [&](SaClient& who, const SaQuestion& question) {
    return world.ask(who, question) ? who.answered().status : std::uint16_t{0xffff};
  };
  EXPECT_EQ(status(greedy, ports), mad::status::ok);
  EXPECT_EQ(status(greedy, ports), mad::status::ok);
  EXPECT_EQ(status(greedy, ports), mad::status::busy);
  EXPECT_EQ(status(greedy, to_all), mad::status::busy);
  EXPECT_EQ(world.sm.administration()->statistics().too_often, 2U);
  EXPECT_EQ(status(other, ports), mad::status::ok);
  EXPECT_EQ(status(other, to_all), mad::status::ok);
  const SaQuestion one_path = path_question(wish, sa::PathRecord::has_slid | sa::PathRecord::has_dlid);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(status(greedy, one_path), mad::status::ok);
  world.sim.now += 200s;
  EXPECT_EQ(status(greedy, ports), mad::status::ok) << "two tables' worth has come back";
}

TEST_F(Asked, WhatIsNotThereIsRefusedCleanly) {
  World world{small_tree};
  world.bring_up();
  SaClient client{world.sim.fabric, world.host(1)};
  for (const auto method : {mad::Method::Get, mad::Method::Set, sa::method::get_table, sa::method::remove}) {
    ASSERT_TRUE(world.ask(client, {.method = method, .attribute = sa::Attribute::ServiceRecord}));
    EXPECT_EQ(client.answered().status, mad::status::bad_method_attribute);
  }
  ASSERT_TRUE(world.ask(client, {.attribute = sa::Attribute::ClassPortInfo}));
  EXPECT_EQ(client.answered().status, mad::status::ok);
  EXPECT_EQ(client.record<sa::ClassPortInfo>().version, 2);
  EXPECT_TRUE(client.record<sa::ClassPortInfo>().capabilities & sa::ClassPortInfo::multicast);
}

TEST_F(Asked, NobodyIsAnsweredByWhoIsNotTheMaster) {
  World world{small_tree};
  world.bring_up();
  SaClient client{world.sim.fabric, world.host(1)};
  SaClient rival{world.sim.fabric, world.host(5)};
  Administration administration{world.sim.engine, world.sim, {}};
  mad::Packet request;
  mad::Header header;
  header.mgmt_class = mad::MgmtClass::SubnAdm;
  header.class_version = sa::class_version;
  header.attribute = static_cast<std::uint16_t>(sa::Attribute::ClassPortInfo);
  request.address = {
      .dlid = Lid{1}, .slid = world.sim.fabric.port_info(world.host(1)).lid, .dqp = 1, .sqp = 1};
  mad::write_header(header, request.mad);
  const auto before = world.sim.fabric.statistics().sent;
  EXPECT_TRUE(administration.take(request, world.sim.now));
  EXPECT_EQ(world.sim.fabric.statistics().sent, before);
  EXPECT_EQ(administration.statistics().answered, 0U);
}

}  // namespace
}  // namespace heddle::provision
