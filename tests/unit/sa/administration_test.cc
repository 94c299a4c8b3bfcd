// The subnet administrator as the daemon has it: discovery, subnet manager and hosts that ask, on a simulated
// fabric.

#include "authority/own/administration.h"

#include <gtest/gtest.h>

#include "authority/own/subnet_manager.h"
#include "authority/own/up_down_keeper.h"
#include "discovery/discovery.h"
#include "support/sa_client.h"
#include "support/sim_world.h"

namespace heddle::provision {
namespace {

using namespace std::chrono_literals;
using test::bytes_of;
using test::SaClient;
using test::SaQuestion;
using R = sa::McMemberRecord;

constexpr const char* small_tree = "tree:k=2,n=3";  // 8 hosts
constexpr const char* wide_tree = "tree:k=4,n=3";   // 64 hosts, 48 switches

class Asked : public ::testing::Test {
 protected:
  struct World {
    explicit World(std::string_view generator, std::uint8_t lmc = 0, const sim::Options& options = {},
                   const sa::PaceOptions& pace = {})
        : sim{generator, options},
          discovery{sim.engine,
                    {.change_bits = discovery::ChangeBits::Clear},
                    [this](const discovery::SweepReport& report) {
                      if (report.survey && report.survey != report.before)
                        sm.configure(report.survey, sim.now);
                    }},
          sm{sim.engine, sim, settings(lmc, pace),
             [this](const Fabric& fabric) { return routes.route(fabric); },
             [this](const ProvisionReport& report) {
               survey = report.survey;
               set += report.ports_set;
               if (!report.failure) discovery.adopt(report.survey);
             }} {
      sim.engine.unsolicited_to([this](const mad::Packet& packet, Instant at) {
        if (const auto notice = sm.on_unsolicited(packet, at)) discovery.on_notice(*notice, at);
      });
      sim.next_deadline = [this] {
        auto next = sm.next_deadline();
        if (asks_again_at && (!next || *asks_again_at < *next)) next = asks_again_at;
        return next;
      };
      sim.on_timer = [this](Instant now) {
        sm.on_timer(now);
        if (asks_again_at && *asks_again_at <= now && asking != nullptr) {
          asks_again_at = now + 300ms;
          asking->again(sim.ps());
        }
      };
    }
    static ProvisionOptions settings(std::uint8_t lmc, const sa::PaceOptions& pace) {
      ProvisionOptions options;
      options.ports.lmc = lmc;
      options.administrator = sa::AdministratorOptions{.pace = pace};
      return options;
    }
    void bring_up() {
      discovery.full(sim.now);
      ASSERT_TRUE(sim.run([&] { return survey && !discovery.busy() && !sm.busy(); }));
    }
    /// The nth port of a channel adapter with a cable; the first is where the subnet manager sits.
    [[nodiscard]] PortIndex host(std::size_t nth) const {
      const Fabric& truth = sim.fabric.description();
      for (std::uint32_t p = 0; p < truth.ports().size(); ++p) {
        const Port& port = truth.ports()[p];
        if (truth.node(port.node).type == NodeType::ChannelAdapter && port.link != no_link && nth-- == 0) {
          return PortIndex{p};
        }
      }
      return no_port;
    }
    [[nodiscard]] sa::Gid gid(PortIndex port) const {
      return {sim.fabric.port_info(port).gid_prefix, sim.fabric.port_guid(port).raw()};
    }
    /// Asked until it is answered, or `limit` has passed.
    bool ask(SaClient& client, const SaQuestion& question, FabricClock::duration limit = 60s) {
      client.ask(question, sim.ps());
      asking = &client;
      asks_again_at = sim.now + 300ms;
      const bool answered = sim.run([&] { return client.answer.has_value(); }, limit);
      asks_again_at.reset();
      return answered;
    }
    void rest() {
      EXPECT_TRUE(sim.run([&] { return !sm.busy() && !discovery.busy(); }));
    }

    test::SimWorld sim;
    std::shared_ptr<const Survey> survey;
    std::size_t set = 0;
    discovery::Discovery discovery;
    UpDownKeeper routes;
    SubnetManager sm;
    SaClient* asking = nullptr;
    std::optional<Instant> asks_again_at;
  };

  static SaQuestion path_question(const sa::PathRecord& wish, std::uint64_t components) {
    return {.components = components, .record = bytes_of(wish)};
  }
  static SaQuestion join_question(const sa::Gid& mgid, const sa::Gid& port,
                                  std::uint8_t states = sa::join::full) {
    R wish;
    wish.mgid = mgid;
    wish.port = port;
    wish.pkey = sa::default_pkey;
    wish.qkey = 0x0b1b;
    wish.join_state = states;
    return {.method = mad::Method::Set,
            .attribute = sa::Attribute::McMemberRecord,
            .components = R::has_mgid | R::has_port_gid | R::has_pkey | R::has_join_state | R::has_qkey |
                          R::has_traffic_class | R::has_sl | R::has_flow_label,
            .record = bytes_of(wish)};
  }
  /// What a packet by the tables that the switches hold meets.
  static std::optional<sa::Capacity> walk(const sim::SimulatedFabric& fabric, PortIndex from, Lid to) {
    const Fabric& truth = fabric.description();
    PortIndex at = from;
    sa::Capacity least{5, 24};
    for (int hop = 0; hop < 32; ++hop) {
      const Port& port = truth.port(at);
      PortIndex out = at;
      if (truth.node(port.node).type == NodeType::Switch) {
        const PortNum next = fabric.forwarding_table(port.node)[to.raw()];
        if (next == PortNum{0}) return least;
        out = truth.port_index(port.node, next);
      } else if (hop > 0) {
        return fabric.port_of(to) == at ? std::optional{least} : std::nullopt;
      }
      if (!fabric.forwards(out)) return std::nullopt;
      least.mtu = std::min(least.mtu, fabric.port_info(out).neighbor_mtu);
      const auto rate = sa::rate_code(fabric.active_width(out), fabric.active_speed(out));
      if (sa::rate_of(rate) < sa::rate_of(least.rate)) least.rate = rate;
      at = truth.port_index(*truth.peer({truth.port(out).node, truth.port(out).num}));
    }
    return std::nullopt;
  }
  static std::vector<PortIndex> hearing(const World& world, Lid group) {
    std::vector<PortIndex> found;
    const Fabric& truth = world.sim.fabric.description();
    for (std::uint32_t p = 0; p < truth.ports().size(); ++p) {
      const Port& port = truth.ports()[p];
      if (truth.node(port.node).type != NodeType::ChannelAdapter || port.link == no_link) continue;
      const LinkEnd at = *truth.peer({port.node, port.num});
      if (world.sim.fabric.multicasts(at.node, group, at.port)) found.push_back(PortIndex{p});
    }
    return found;
  }
};

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

TEST_F(Asked, JoinedPortsHearTheGroupAndThoseThatLeftDoNot) {
  World world{small_tree};
  world.bring_up();
  std::vector<std::unique_ptr<SaClient>> clients;
  for (const std::size_t number : {1U, 4U, 6U}) {
    clients.push_back(std::make_unique<SaClient>(world.sim.fabric, world.host(number)));
    ASSERT_TRUE(
        world.ask(*clients.back(), join_question(sa::ipoib_broadcast, world.gid(world.host(number)))));
    ASSERT_EQ(clients.back()->answered().status, mad::status::ok);
    EXPECT_EQ(clients.back()->record<R>().mlid, Lid{0xc000});
  }
  world.rest();
  const std::vector all{world.host(1), world.host(4), world.host(6)};
  EXPECT_EQ(hearing(world, Lid{0xc000}), all);
  EXPECT_EQ(world.sim.fabric.dead_ends().multicast, 0U);

  SaQuestion leave = join_question(sa::ipoib_broadcast, world.gid(world.host(4)));
  leave.method = sa::method::remove;
  ASSERT_TRUE(world.ask(*clients[1], leave));
  EXPECT_EQ(clients[1]->answered().status, mad::status::ok);
  EXPECT_EQ(static_cast<unsigned>(clients[1]->answered().method), 0x95U);
  world.rest();
  EXPECT_EQ(hearing(world, Lid{0xc000}), (std::vector{world.host(1), world.host(6)}));

  // The last one of a group that was made takes it along.
  const sa::Gid other{0xff12401bffff0000, 0x16};
  ASSERT_TRUE(world.ask(*clients[0], join_question(other, world.gid(world.host(1)))));
  const Lid mlid = clients[0]->record<R>().mlid;
  world.rest();
  EXPECT_EQ(hearing(world, mlid), std::vector{world.host(1)});
  leave = join_question(other, world.gid(world.host(1)));
  leave.method = sa::method::remove;
  ASSERT_TRUE(world.ask(*clients[0], leave));
  world.rest();
  EXPECT_TRUE(hearing(world, mlid).empty());
}

TEST_F(Asked, NobodyJoinsForAnotherPortUnlessTrusted) {
  World world{small_tree};
  world.bring_up();
  SaClient client{world.sim.fabric, world.host(1)};
  SaQuestion join = join_question(sa::ipoib_broadcast, world.gid(world.host(2)));
  ASSERT_TRUE(world.ask(client, join));
  EXPECT_EQ(client.answered().status, sa::status::denied);
  join.sm_key = 1;
  ASSERT_TRUE(world.ask(client, join));
  EXPECT_EQ(client.answered().status, mad::status::ok);
  world.rest();
  EXPECT_EQ(hearing(world, Lid{0xc000}), std::vector{world.host(2)});
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

TEST_F(Asked, SubscribersHearOfGroupsAndPorts) {
  World world{small_tree};
  world.bring_up();
  SaClient listener{world.sim.fabric, world.host(3)};
  sa::InformInfo info;
  info.first = permissive_lid;
  info.subscribe = true;
  info.type = 0xffff;
  info.trap = 66;
  info.producer = 0xffffff;
  SaQuestion subscribe{
      .method = mad::Method::Set, .attribute = sa::Attribute::InformInfo, .record = bytes_of(info)};
  ASSERT_TRUE(world.ask(listener, subscribe));
  EXPECT_EQ(listener.answered().status, mad::status::ok);
  SaClient client{world.sim.fabric, world.host(1)};
  const sa::Gid made{0xff12401bffff0000, 0x16};
  ASSERT_TRUE(world.ask(client, join_question(made, world.gid(world.host(1)))));
  ASSERT_TRUE(world.sim.run([&] { return !listener.reports.empty(); }, 5s));
  const auto notice = mad::decode<mad::Notice>(
      std::span{listener.reports[0].mad}.subspan<sa::data_offset, mad::smp_data_size>());
  EXPECT_EQ(notice.trap, 66);
  EXPECT_EQ(notice.details[6], 0xff);
  EXPECT_EQ(notice.details[21], 0x16);
  const std::size_t so_far = listener.reports.size();
  info.subscribe = false;
  subscribe.record = bytes_of(info);
  ASSERT_TRUE(world.ask(listener, subscribe));
  EXPECT_EQ(listener.answered().status, mad::status::ok);
  ASSERT_TRUE(world.ask(listener, subscribe));
  EXPECT_EQ(listener.answered().status, sa::status::request_invalid);
  ASSERT_TRUE(world.ask(client, join_question({0xff12401bffff0000, 0x17}, world.gid(world.host(1)))));
  (void)world.sim.run([] { return false; }, 2s);
  EXPECT_EQ(listener.reports.size(), so_far);
}

TEST_F(Asked, GroupsOfAnAdministratorThatDiedAreJoinedAnew) {
  World world{small_tree};
  world.bring_up();
  SaClient client{world.sim.fabric, world.host(1)};
  ASSERT_TRUE(world.ask(client, join_question({0xff12401bffff0000, 0x16}, world.gid(world.host(1)))));
  const Lid mlid = client.record<R>().mlid;
  world.rest();
  // Another one in its place: what the tables hold is kept, hosts are told to register anew.
  ProvisionReport last;
  UpDownKeeper routes;
  SubnetManager second{world.sim.engine, world.sim, World::settings(0, {}),
                       [&](const Fabric& fabric) { return routes.route(fabric); },
                       [&](const ProvisionReport& report) { last = report; }};
  ASSERT_TRUE(world.sim.claim_sm(transport::SmClaim::Release));
  auto found = std::make_shared<Survey>(*world.survey);
  for (SurveyPort& port : found->nodes[found->local.raw()].ports) {
    port.info.capability_mask &= ~mad::port_cap::is_sm;
  }
  second.configure(found, world.sim.now);
  ASSERT_TRUE(world.sim.run([&] { return last.survey && !second.busy(); }));
  ASSERT_FALSE(last.failure) << last.failure->message;
  EXPECT_EQ(last.ports_set, 8U) << "each host, and nobody else";
  EXPECT_EQ(hearing(world, mlid), std::vector{world.host(1)});
  world.sim.engine.unsolicited_to(
      [&](const mad::Packet& packet, Instant at) { (void)second.on_unsolicited(packet, at); });
  SaQuestion join = join_question({0xff12401bffff0000, 0x16}, world.gid(world.host(1)));
  ASSERT_TRUE(world.ask(client, join));
  EXPECT_EQ(client.record<R>().mlid, mlid);
  join.method = sa::method::remove;
  ASSERT_TRUE(world.ask(client, join));
  ASSERT_TRUE(world.sim.run([&] { return !second.busy(); }));
  EXPECT_TRUE(hearing(world, mlid).empty()) << "what was found in the tables goes with who leaves";
  world.sim.engine.unsolicited_to([](const mad::Packet&, Instant) {});
}

}  // namespace
}  // namespace heddle::provision
