// Who joins groups, and who is told of what happens.

#include <gtest/gtest.h>

#include "asked.h"

namespace heddle::provision {
namespace {

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

// Each change had all groups looked at, and their blocks written: a host took the daemon's whole thread.
TEST_F(Asked, WhoJoinsAndLeavesWithoutEndHasItDoneTogether) {
  World world{small_tree};
  world.bring_up();
  std::size_t sets = 0;
  world.sim.on_send = [&](const mad::Packet& packet) {
    const mad::Header header = mad::read_header(packet.mad);
    const auto attribute = static_cast<mad::SmAttr>(header.attribute);
    if (attribute == mad::SmAttr::MulticastForwardingTable && header.method == mad::Method::Set) ++sets;
  };
  SaClient client{world.sim.fabric, world.host(4)};
  const SaQuestion join = join_question(sa::ipoib_broadcast, world.gid(world.host(4)));
  SaQuestion leave = join;
  leave.method = sa::method::remove;
  ASSERT_TRUE(world.ask(client, join));
  ASSERT_TRUE(world.sim.run([&] { return !world.sm.busy(); }));
  EXPECT_EQ(hearing(world, Lid{0xc000}), std::vector{world.host(4)}) << "the first one at once";
  const std::size_t one_change = sets;
  for (int i = 0; i < 50; ++i) {
    for (const SaQuestion& question : {leave, join}) {
      ASSERT_TRUE(world.ask(client, question));
      ASSERT_EQ(client.answered().status, mad::status::ok);
    }
  }
  world.rest();
  EXPECT_LE(sets, 3 * one_change) << "50 times there and back";
  EXPECT_EQ(hearing(world, Lid{0xc000}), std::vector{world.host(4)});
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
  world.sim.next_deadline = [&] { return second.next_deadline(); };
  world.sim.on_timer = [&](Instant now) { second.on_timer(now); };
  SaQuestion join = join_question({0xff12401bffff0000, 0x16}, world.gid(world.host(1)));
  ASSERT_TRUE(world.ask(client, join));
  EXPECT_EQ(client.record<R>().mlid, mlid);
  join.method = sa::method::remove;
  ASSERT_TRUE(world.ask(client, join));
  (void)world.sim.run([] { return false; }, 1s);
  EXPECT_TRUE(hearing(world, mlid).empty()) << "what was found in the tables goes with who leaves";
  world.sim.engine.unsolicited_to([](const mad::Packet&, Instant) {});
  world.sim.next_deadline = nullptr;
}

}  // namespace
}  // namespace heddle::provision
