#include "sa/wire.h"

#include <gtest/gtest.h>
#include <infiniband/iba/ib_types.h>
#include <infiniband/umad_sa_mcm.h>

#include <cstring>

#include "mad/attributes.h"
#include "sa/components.h"

namespace heddle::sa {
namespace {

constexpr Gid one{0xfe80000000000000, 0x0002c90300000001};
constexpr Gid two{0xfe80000000000000, 0x0002c90300000002};

// OpenSM's and libibumad's own structs say where each field stands.

TEST(SaWire, PathRecordsAreAsOpenSmReadsThem) {
  PathRecord path;
  path.service = 0x0102030405060708;
  path.dgid = one;
  path.sgid = two;
  path.dlid = Lid{0x1234};
  path.slid = Lid{0x4321};
  path.flow_label = 0xabcde;
  path.hop_limit = 7;
  path.traffic_class = 9;
  path.count = 5;
  path.pkey = 0x8001;
  path.sl = Sl{3};
  path.mtu = {Selector::Exactly, 4};
  path.rate = {Selector::Above, 16};
  path.life = {Selector::Below, 18};
  path.preference = 1;
  std::array<std::uint8_t, PathRecord::size> bytes{};
  encode(path, bytes);
  ib_path_rec_t is{};
  static_assert(sizeof is == PathRecord::size);
  std::memcpy(&is, bytes.data(), sizeof is);
  EXPECT_EQ(be64toh(is.dgid.unicast.interface_id), one.id);
  EXPECT_EQ(be64toh(is.sgid.unicast.interface_id), two.id);
  EXPECT_EQ(be16toh(is.dlid), 0x1234);
  EXPECT_EQ(be16toh(is.slid), 0x4321);
  EXPECT_EQ(be32toh(is.hop_flow_raw), 0x0abcde07U);
  EXPECT_EQ(is.tclass, 9);
  EXPECT_EQ(is.num_path, 0x85);
  EXPECT_EQ(be16toh(is.pkey), 0x8001);
  EXPECT_EQ(ib_path_rec_sl(&is), 3);
  EXPECT_EQ(ib_path_rec_mtu(&is), 4);
  EXPECT_EQ(ib_path_rec_mtu_sel(&is), IB_PATH_SELECTOR_EXACTLY);
  EXPECT_EQ(ib_path_rec_rate(&is), 16);
  EXPECT_EQ(ib_path_rec_rate_sel(&is), IB_PATH_SELECTOR_GREATER_THAN);
  EXPECT_EQ(ib_path_rec_pkt_life(&is), 18);
  EXPECT_EQ(is.preference, 1);
  const auto back = decode<PathRecord>(bytes);
  EXPECT_EQ(back.dgid, one);
  EXPECT_EQ(back.slid, path.slid);
  EXPECT_EQ(back.flow_label, path.flow_label);
  EXPECT_EQ(back.count, 5);
  EXPECT_EQ(back.rate.selector, Selector::Above);
}

TEST(SaWire, MemberRecordsAreAsLibibumadReadsThem) {
  McMemberRecord member;
  member.mgid = {0xff12401bffff0000, 0xffffffff};
  member.port = one;
  member.qkey = 0x0b1b;
  member.mlid = Lid{0xc001};
  member.mtu = {Selector::Exactly, 4};
  member.traffic_class = 2;
  member.pkey = 0xffff;
  member.rate = {Selector::Exactly, 3};
  member.life = {Selector::Exactly, 18};
  member.sl = Sl{5};
  member.flow_label = 0x54321;
  member.hop_limit = 8;
  member.scope = 2;
  member.join_state = join::full;
  member.proxy_join = true;
  std::array<std::uint8_t, McMemberRecord::size> bytes{};
  encode(member, bytes);
  umad_sa_mcmember_record is{};
  static_assert(sizeof is == McMemberRecord::size);
  std::memcpy(&is, bytes.data(), sizeof is);
  EXPECT_EQ(be32toh(is.qkey), 0x0b1bU);
  EXPECT_EQ(be16toh(is.mlid), 0xc001);
  EXPECT_EQ(is.mtu, 0x84);
  EXPECT_EQ(is.tclass, 2);
  EXPECT_EQ(is.rate, 0x83);
  std::uint8_t sl = 0, hop = 0, scope = 0, state = 0;
  std::uint32_t flow = 0;
  umad_sa_mcm_get_sl_flow_hop(is.sl_flow_hop, &sl, &flow, &hop);
  umad_sa_mcm_get_scope_state(is.scope_state, &scope, &state);
  EXPECT_EQ(sl, 5);
  EXPECT_EQ(flow, 0x54321U);
  EXPECT_EQ(hop, 8);
  EXPECT_EQ(scope, 2);
  EXPECT_EQ(state, UMAD_SA_MCM_JOIN_STATE_FULL_MEMBER);
  EXPECT_EQ(umad_sa_mcm_get_proxy_join(&is), 1);
  EXPECT_EQ(decode<McMemberRecord>(bytes).mgid, member.mgid);
  EXPECT_EQ(decode<McMemberRecord>(bytes).hop_limit, 8);
}

TEST(SaWire, InformInfoIsAsOpenSmWritesIt) {
  ib_inform_info_t is{};
  static_assert(sizeof is == InformInfo::size);
  is.lid_range_begin = htobe16(0xffff);
  is.is_generic = 1;
  is.subscribe = 1;
  is.trap_type = htobe16(3);
  is.g_or_v.generic.trap_num = htobe16(66);
  is.g_or_v.generic.qpn_resp_time_val = htobe32(0x00000112);
  is.g_or_v.generic.node_type_lsb = htobe16(4);
  std::array<std::uint8_t, InformInfo::size> bytes{};
  std::memcpy(bytes.data(), &is, sizeof is);
  const auto info = decode<InformInfo>(bytes);
  EXPECT_EQ(info.first, permissive_lid);
  EXPECT_TRUE(info.generic);
  EXPECT_TRUE(info.subscribe);
  EXPECT_EQ(info.type, 3);
  EXPECT_EQ(info.trap, 66);
  EXPECT_EQ(info.qpn, 1U);
  EXPECT_EQ(info.response_time, 18);
  EXPECT_EQ(info.producer, 4U);
  std::array<std::uint8_t, InformInfo::size> again{};
  encode(info, again);
  EXPECT_EQ(again, bytes);
}

TEST(SaWire, RatesAreThoseOfTheStandard) {
  EXPECT_EQ(rate_code(LinkWidth::X1, LinkSpeed::Sdr), IB_PATH_RECORD_RATE_2_5_GBS);
  EXPECT_EQ(rate_code(LinkWidth::X4, LinkSpeed::Sdr), IB_PATH_RECORD_RATE_10_GBS);
  EXPECT_EQ(rate_code(LinkWidth::X4, LinkSpeed::Qdr), IB_PATH_RECORD_RATE_40_GBS);
  EXPECT_EQ(rate_code(LinkWidth::X4, LinkSpeed::Fdr), IB_PATH_RECORD_RATE_56_GBS);
  EXPECT_EQ(rate_code(LinkWidth::X4, LinkSpeed::Edr), IB_PATH_RECORD_RATE_100_GBS);
  EXPECT_EQ(rate_code(LinkWidth::X2, LinkSpeed::Hdr), IB_PATH_RECORD_RATE_100_GBS);
  EXPECT_EQ(rate_code(LinkWidth::X4, LinkSpeed::Hdr), IB_PATH_RECORD_RATE_200_GBS);
  EXPECT_EQ(rate_code(LinkWidth::X4, LinkSpeed::Ndr), 21);
  EXPECT_EQ(rate_code(LinkWidth::X4, LinkSpeed::Xdr), 23);
  EXPECT_EQ(rate_code(LinkWidth::None, LinkSpeed::None), 0);
  EXPECT_LT(rate_of(IB_PATH_RECORD_RATE_25_GBS), rate_of(IB_PATH_RECORD_RATE_30_GBS));
  EXPECT_EQ(rate_of(63), 0U);
}

TEST(SaComponents, EachNamesTheFieldThatOpenSmMeans) {
  const auto bit = [](std::uint64_t mask) { return be64toh(mask); };
  std::array<std::uint8_t, 68> record{};
  mad::PortInfo info;
  info.state = PortState::Active;
  info.lmc = 1;
  info.neighbor_mtu = 4;
  info.subnet_timeout = 18;
  info.local_port = PortNum{1};
  std::array<std::uint8_t, mad::smp_data_size> data{};
  mad::encode(info, mad::SmpData{data});
  std::copy(data.begin(), data.end(), record.begin() + 4);
  const auto only = [&](const mad::PortInfo& other) {
    std::array<std::uint8_t, mad::smp_data_size> bytes{};
    mad::encode(other, mad::SmpData{bytes});
    std::array<std::uint8_t, 68> query{};
    std::copy(bytes.begin(), bytes.end(), query.begin() + 4);
    return query;
  };
  mad::PortInfo state;
  state.state = PortState::Active;
  mad::PortInfo lmc;
  lmc.lmc = 1;
  mad::PortInfo mtu;
  mtu.neighbor_mtu = 4;
  mad::PortInfo timeout;
  timeout.subnet_timeout = 18;
  const auto fields = port_record_fields();
  EXPECT_TRUE(matches(fields, bit(IB_PIR_COMPMASK_PORTSTATE), only(state), record));
  EXPECT_FALSE(matches(fields, bit(IB_PIR_COMPMASK_PORTSTATE), only(lmc), record));
  EXPECT_TRUE(matches(fields, bit(IB_PIR_COMPMASK_LMC), only(lmc), record));
  EXPECT_FALSE(matches(fields, bit(IB_PIR_COMPMASK_LMC), only(mtu), record));
  EXPECT_TRUE(matches(fields, bit(IB_PIR_COMPMASK_NEIGHBORMTU), only(mtu), record));
  EXPECT_FALSE(matches(fields, bit(IB_PIR_COMPMASK_NEIGHBORMTU), only(state), record));
  EXPECT_TRUE(matches(fields, bit(IB_PIR_COMPMASK_SUBNTO), only(timeout), record));
  EXPECT_FALSE(matches(fields, bit(IB_PIR_COMPMASK_SUBNTO), only(state), record));
  EXPECT_TRUE(matches(fields, 0, only(lmc), record));
}

}  // namespace
}  // namespace heddle::sa
