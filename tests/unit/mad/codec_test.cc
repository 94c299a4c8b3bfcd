#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "mad/attributes.h"
#include "mad/counters.h"
#include "mad/header.h"

namespace heddle::mad {
namespace {

Bytes random_mad() {
  Bytes mad;
  for (auto& byte : mad) byte = *rc::gen::arbitrary<std::uint8_t>();
  return mad;
}

// Decoding any bytes gives a value that survives encoding: nothing is read from where it is not written.
template <class T>
void survives() {
  EXPECT_TRUE(rc::check([] {
    Bytes first = random_mad();
    const T value = decode<T>(smp_data(first));
    Bytes second{};
    encode(value, smp_data(second));
    Bytes third{};
    encode(decode<T>(smp_data(second)), smp_data(third));
    RC_ASSERT(second == third);
  }));
}

template <class T>
void survives_gmp() {
  EXPECT_TRUE(rc::check([] {
    Bytes first = random_mad();
    Bytes second{};
    encode_gmp(decode_gmp<T>(gmp_data(first)), gmp_data(second));
    Bytes third{};
    encode_gmp(decode_gmp<T>(gmp_data(second)), gmp_data(third));
    RC_ASSERT(second == third);
  }));
}

TEST(Codec, EveryAttributeSurvivesARoundTrip) {
  survives<NodeInfo>();
  survives<NodeDescription>();
  survives<SwitchInfo>();
  survives<PortInfo>();
  survives<MlnxExtPortInfo>();
  survives<LftBlock>();
  survives<MftBlock>();
  survives<PKeyBlock>();
  survives<SlToVlTable>();
  survives<VlArbBlock>();
  survives<GuidInfoBlock>();
  survives<SmInfo>();
  survives<Notice>();
  survives_gmp<ClassPortInfo>();
  survives_gmp<PortCounters>();
  survives_gmp<PortCountersExtended>();
  survives_gmp<PortSamplesControl>();
  survives_gmp<PortSamplesResult>();
  survives_gmp<PortRcvErrorDetails>();
  survives_gmp<PortXmitDiscardDetails>();
}

TEST(Codec, PortInfoStandsWhereIbaPutsIt) {
  PortInfo info;
  info.lid = Lid{0x1234};
  info.state = PortState::Active;
  info.physical = PhysState::LinkUp;
  info.lmc = 3;
  info.link_speed_ext_active = 4;
  Bytes mad{};
  encode(info, smp_data(mad));
  const auto data = smp_data(mad);
  EXPECT_EQ(data[16], 0x12);
  EXPECT_EQ(data[17], 0x34);
  EXPECT_EQ(data[32] & 0xf, 4);
  EXPECT_EQ(data[33] >> 4, 5);
  EXPECT_EQ(data[34] & 7, 3);
  EXPECT_EQ(data[62] >> 4, 4);
}

TEST(Codec, SecondExtendedSpeedsStandWhereIbaPutsThem) {
  Bytes mad{};
  smp_data(mad)[56] = 0x52;
  const auto info = decode<PortInfo>(smp_data(mad));
  EXPECT_EQ(info.link_speed_ext2_active, 2);
  EXPECT_EQ(info.link_speed_ext2_supported, 2);
  EXPECT_EQ(info.link_speed_ext2_enabled, 2);
  EXPECT_EQ(active_speed(info), LinkSpeed::None) << "a speed that nobody has named";
  EXPECT_EQ(info.link_round_trip, 0U);
  Bytes again{};
  encode(info, smp_data(again));
  EXPECT_EQ(again, mad);
}

TEST(Codec, EverySpeedIsShownAsWhatItIs) {
  for (const LinkSpeed speed : {LinkSpeed::Sdr, LinkSpeed::Ddr, LinkSpeed::Qdr, LinkSpeed::Fdr,
                                LinkSpeed::Edr, LinkSpeed::Hdr, LinkSpeed::Ndr, LinkSpeed::Xdr}) {
    PortInfo info;
    set_speed(speed, info);
    EXPECT_EQ(active_speed(info), speed);
    EXPECT_EQ(info.capability_mask, 0U) << "ports of switches other than port 0 have none (IBA 14.2.5.6)";
    EXPECT_EQ(hides_speed(info, port_cap::extended_speeds), speed <= LinkSpeed::Qdr);
  }
}

TEST(Codec, NodeInfoStandsWhereIbaPutsIt) {
  NodeInfo info;
  info.type = NodeType::Switch;
  info.port_count = 36;
  info.node_guid = NodeGuid{0x0002c90300080e84};
  info.local_port = PortNum{17};
  info.vendor_id = 0x2c9;
  Bytes mad{};
  encode(info, smp_data(mad));
  const auto data = smp_data(mad);
  EXPECT_EQ(data[2], 2);
  EXPECT_EQ(data[3], 36);
  EXPECT_EQ(data[12], 0x00);
  EXPECT_EQ(data[19], 0x84);
  EXPECT_EQ(data[36], 17);
  EXPECT_EQ(data[39], 0xc9);
}

TEST(Codec, HeaderRoundTripKeepsTheDirectionBit) {
  Bytes mad{};
  DirectedRoute route;
  route.returning = true;
  route.hop_count = 2;
  route.hop_pointer = 1;
  route.initial_path[1] = PortNum{5};
  route.return_path[2] = PortNum{9};
  Header header;
  header.mgmt_class = MgmtClass::SubnDirected;
  header.method = Method::GetResp;
  header.status = status::bad_field;
  header.tid = 0x1122334455667788;
  header.attribute = 0x15;
  header.modifier = 0x80000003;
  header.m_key = 42;
  write_directed_route(route, mad);
  write_header(header, mad);
  const Header again = read_header(mad);
  EXPECT_EQ(again.status, status::bad_field);
  EXPECT_EQ(again.tid, header.tid);
  EXPECT_EQ(again.modifier, header.modifier);
  EXPECT_EQ(again.m_key, header.m_key);
  const DirectedRoute back = read_directed_route(mad);
  EXPECT_TRUE(back.returning);
  EXPECT_EQ(back.initial_path[1], PortNum{5});
  EXPECT_EQ(back.return_path[2], PortNum{9});
}

TEST(LinkCodes, WidthAndSpeedComeBack) {
  for (const LinkSpeed speed : {LinkSpeed::Sdr, LinkSpeed::Ddr, LinkSpeed::Qdr, LinkSpeed::Fdr,
                                LinkSpeed::Edr, LinkSpeed::Hdr, LinkSpeed::Ndr}) {
    PortInfo info;
    set_width(LinkWidth::X4, info);
    set_speed(speed, info);
    EXPECT_EQ(active_width(info), LinkWidth::X4);
    EXPECT_EQ(active_speed(info), speed);
  }
  PortInfo info;
  set_speed(LinkSpeed::Fdr10, info);
  EXPECT_EQ(active_speed(info), LinkSpeed::Qdr);
  const MlnxExtPortInfo ext{.link_speed_active = 1};
  EXPECT_EQ(active_speed(info, &ext), LinkSpeed::Fdr10);
}

// As the kernel's drivers lay them out: ntc_128 has the LID first, ntc_129_131, ntc_144, ntc_145 and ntc_256
// behind two reserved bytes.
TEST(Notices, TheLidIsWhereTheTrapHasIt) {
  std::array<std::uint8_t, 64> data{};
  data[10] = 0x12;
  data[11] = 0x34;
  data[12] = 0x56;
  data[13] = 0x78;
  const auto lid_of = [&](std::uint16_t trap) {
    data[4] = static_cast<std::uint8_t>(trap >> 8U);
    data[5] = static_cast<std::uint8_t>(trap);
    return decode<Notice>(ConstSmpData{data}).data_lid();
  };
  EXPECT_EQ(lid_of(128), Lid{0x1234});
  for (const std::uint16_t trap : {129, 130, 131, 144, 145, 256})
    EXPECT_EQ(lid_of(trap), Lid{0x5678}) << trap;
}

}  // namespace
}  // namespace heddle::mad
