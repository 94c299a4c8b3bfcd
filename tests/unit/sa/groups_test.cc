#include "sa/groups.h"

#include <gtest/gtest.h>

namespace heddle::sa {
namespace {

using R = McMemberRecord;

constexpr Capacity fast{5, 16};
constexpr std::uint64_t to_join = R::has_mgid | R::has_port_gid | R::has_pkey | R::has_join_state;
constexpr std::uint64_t to_make =
    to_join | R::has_qkey | R::has_traffic_class | R::has_sl | R::has_flow_label;

McMemberRecord wish(const Gid& mgid, std::uint64_t port, std::uint8_t states = join::full) {
  McMemberRecord record;
  record.mgid = mgid;
  record.port = {0xfe80000000000000, port};
  record.pkey = default_pkey;
  record.qkey = 0x0b1b;
  record.join_state = states;
  return record;
}
Gid group(std::uint64_t number) { return {0xff12401bffff0000, number}; }

class SaGroups : public ::testing::Test {
 protected:
  Groups::Answer join(const Gid& mgid, std::uint64_t port, std::uint64_t components = to_make,
                      std::uint8_t states = sa::join::full) {
    return groups.join(wish(mgid, port, states), components, PortGuid{port}, fast);
  }
  Groups::Answer leave(const Gid& mgid, std::uint64_t port, std::uint8_t states = sa::join::full) {
    return groups.leave(wish(mgid, port, states), to_join, PortGuid{port});
  }
  Groups groups{{.groups = 8, .per_port = 3}};
};

TEST_F(SaGroups, IpoibFindsItsGroupAndSettingsWithoutMakingOne) {
  const auto answer = groups.join(wish(ipoib_broadcast, 1), to_join, PortGuid{1}, fast);
  EXPECT_EQ(answer.status, 0);
  EXPECT_EQ(answer.record.mlid, Lid{0xc000});
  EXPECT_EQ(answer.record.qkey, 0x0b1bU);
  EXPECT_EQ(answer.record.mtu.code, 4);
  EXPECT_EQ(answer.record.join_state, sa::join::full);
  EXPECT_EQ(leave(ipoib_broadcast, 1).status, 0);
  EXPECT_EQ(groups.size(), 1U) << "it stays when nobody is in it";
}

TEST_F(SaGroups, AGroupIsMadeByAFullMemberThatSaysAllItTakes) {
  EXPECT_EQ(join(group(5), 1, to_join).status, status::insufficient_components);
  EXPECT_EQ(join(group(5), 1, to_make, sa::join::non_member).status, status::request_invalid);
  EXPECT_EQ(join(group(5), 1).status, 0);
  EXPECT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups.take_events().front(), (std::pair{Groups::Event::Created, group(5)}));
}

TEST_F(SaGroups, AMemberMustBeAbleToTakeWhatTheGroupSends) {
  EXPECT_EQ(groups.join(wish(ipoib_broadcast, 1), to_join, PortGuid{1}, {3, 16}).status,
            status::request_invalid);
  EXPECT_EQ(groups.join(wish(ipoib_broadcast, 1), to_join, PortGuid{1}, {4, 2}).status,
            status::request_invalid);
  auto other = wish(ipoib_broadcast, 1);
  other.qkey = 7;
  EXPECT_EQ(groups.join(other, to_join | R::has_qkey, PortGuid{1}, fast).status, status::request_invalid);
  other.qkey = 0x0b1b;
  other.pkey = 0x8001;
  EXPECT_EQ(groups.join(other, to_join, PortGuid{1}, fast).status, status::request_invalid);
}

TEST_F(SaGroups, WhoJoinsTwiceIsInOnceAndLeavesByParts) {
  EXPECT_EQ(join(group(5), 1).status, 0);
  const auto both = join(group(5), 1, to_make, sa::join::send_only);
  EXPECT_EQ(both.record.join_state, sa::join::full | sa::join::send_only);
  EXPECT_EQ(leave(group(5), 2).status, status::request_invalid);
  EXPECT_EQ(leave(group(5), 1, sa::join::non_member).status, status::request_invalid);
  EXPECT_EQ(leave(group(5), 1, sa::join::send_only).record.join_state, sa::join::full);
  EXPECT_EQ(leave(group(5), 1).status, 0);
  EXPECT_EQ(groups.size(), 1U);
  EXPECT_EQ(leave(group(5), 1).status, status::request_invalid);
}

TEST_F(SaGroups, AGroupGoesWithItsLastFullMember) {
  const Lid mlid = join(group(5), 1).record.mlid;
  EXPECT_EQ(join(group(5), 2, to_join, sa::join::non_member).status, 0);
  EXPECT_EQ(join(group(5), 3, to_join, sa::join::send_only).status, 0);
  EXPECT_EQ(groups.members().at(mlid).size(), 3U);
  EXPECT_EQ(leave(group(5), 1).status, 0);
  EXPECT_FALSE(groups.members().contains(mlid));
  (void)groups.take_events();
  EXPECT_EQ(join(group(5), 2).record.mlid, mlid) << "the same group has the same MLID again";
}

TEST_F(SaGroups, APortIsInSoManyGroupsAndThereAreSoMany) {
  for (std::uint64_t i = 1; i <= 3; ++i) EXPECT_EQ(join(group(i), 1).status, 0);
  EXPECT_EQ(join(group(4), 1).status, status::no_resources);
  EXPECT_EQ(join(group(1), 1).status, 0) << "it is in that one already";
  EXPECT_EQ(leave(group(3), 1).status, 0);
  EXPECT_EQ(join(group(4), 1).status, 0);
  for (std::uint64_t i = 10; i <= 13; ++i) EXPECT_EQ(join(group(i), i).status, 0);
  EXPECT_EQ(groups.size(), 8U);
  EXPECT_EQ(join(group(20), 20).status, status::no_resources);
  EXPECT_EQ(groups.members().size(), 7U)
      << "each with an MLID of its own, all but the broadcasts' with members";
}

TEST_F(SaGroups, WhoIsInAGroupIsToldToNobodyUntrusted) {
  EXPECT_EQ(join(group(5), 1).status, 0);
  EXPECT_EQ(join(group(5), 2).status, 0);
  const auto all = groups.records(std::array<std::uint8_t, 56>{}, 0, Trust::Yes);
  EXPECT_EQ(all.size(), 3U);  // two members, and the group that nobody is in
  const auto some = groups.records(std::array<std::uint8_t, 56>{}, 0, Trust::No);
  ASSERT_EQ(some.size(), 2U);
  for (const auto& bytes : some) {
    EXPECT_EQ(decode<R>(bytes).port, Gid{});
    EXPECT_EQ(decode<R>(bytes).join_state, 0);
  }
  std::array<std::uint8_t, 56> query{};
  encode(wish(group(5), 2), query);
  EXPECT_EQ(groups.records(query, R::has_mgid | R::has_port_gid, Trust::Yes).size(), 1U);
  EXPECT_EQ(groups.records(query, R::has_mgid | R::has_port_gid, Trust::No).size(), 1U);
}

TEST_F(SaGroups, AnMgidCanBeLeftToUs) {
  const auto first = join(Gid{}, 1);
  const auto second = join(Gid{}, 1);
  EXPECT_EQ(first.status, 0);
  EXPECT_EQ(second.status, 0);
  EXPECT_NE(first.record.mgid, second.record.mgid);
  EXPECT_NE(first.record.mlid, second.record.mlid);
  EXPECT_EQ(join(Gid{0xfe80000000000000, 5}, 1).status, status::request_invalid) << "no multicast GID";
}

}  // namespace
}  // namespace heddle::sa
