#include "record/stand_ins.h"

#include <gtest/gtest.h>

#include "mad/attributes.h"
#include "mad/header.h"
#include "transport/requests.h"

namespace heddle::record {
namespace {

constexpr std::uint64_t secret = 0x1122'3344'5566'7788;

mad::Packet packet(mad::MgmtClass mgmt_class, std::uint16_t attribute, std::uint64_t m_key) {
  mad::Packet made;
  mad::Header header;
  header.mgmt_class = mgmt_class;
  header.attribute = attribute;
  header.m_key = m_key;
  mad::write_header(header, made.mad);
  return made;
}
mad::Packet smp(mad::SmAttr attribute, std::uint64_t m_key = 0) {
  return packet(mad::MgmtClass::SubnDirected, static_cast<std::uint16_t>(attribute), m_key);
}
void put(mad::Packet& into, std::size_t at, std::uint64_t value) {
  for (std::size_t i = 8; i > 0; --i, value >>= 8U) into.mad[at + i - 1] = static_cast<std::uint8_t>(value);
}
bool holds(const mad::Packet& in, std::uint64_t value) {
  mad::Packet sought;
  for (std::size_t at = 0; at + 8 <= in.mad.size(); ++at) {
    put(sought, 0, value);
    if (std::equal(sought.mad.begin(), sought.mad.begin() + 8,
                   in.mad.begin() + static_cast<std::ptrdiff_t>(at)))
      return true;
  }
  return false;
}

TEST(StandIns, AreOneForEachKeyAndNoneForNone) {
  StandIns keys;
  EXPECT_EQ(keys.of(0), 0U);
  const std::uint64_t one = keys.of(secret);
  EXPECT_NE(one, secret);
  EXPECT_NE(one, 0U);
  EXPECT_EQ(keys.of(secret), one);
  EXPECT_NE(keys.of(secret + 1), one);
}

TEST(StandIns, TakeThePlaceOfKeysInEveryMadThatHasOne) {
  StandIns keys;
  EXPECT_EQ(mad::read_header(keys.in(smp(mad::SmAttr::NodeInfo, secret)).mad).m_key, keys.of(secret));

  mad::Packet port_info = smp(mad::SmAttr::PortInfo, secret);
  mad::PortInfo info;
  info.m_key = secret;
  info.lid = Lid{5};
  mad::encode(info, mad::smp_data(port_info.mad));
  const auto masked = mad::decode<mad::PortInfo>(mad::smp_data(keys.in(port_info).mad));
  EXPECT_EQ(masked.m_key, keys.of(secret));
  EXPECT_EQ(masked.lid, Lid{5});

  mad::Packet sm_info = smp(mad::SmAttr::SmInfo, secret);
  mad::SmInfo manager;
  manager.sm_key = secret;
  manager.guid = PortGuid{7};
  mad::encode(manager, mad::smp_data(sm_info.mad));
  const auto seen = mad::decode<mad::SmInfo>(mad::smp_data(keys.in(sm_info).mad));
  EXPECT_EQ(seen.sm_key, keys.of(secret));
  EXPECT_EQ(seen.guid, PortGuid{7});

  // A port that complains of a wrong key says which one.
  mad::Packet complaint = smp(mad::SmAttr::Notice);
  complaint.mad[64 + 4] = 1;
  put(complaint, 64 + 24, secret);
  EXPECT_TRUE(holds(complaint, secret));
  EXPECT_FALSE(holds(keys.in(complaint), secret));

  mad::Packet record = packet(mad::MgmtClass::SubnAdm, 0x35, 0);
  put(record, 36, secret);
  EXPECT_FALSE(holds(keys.in(record), secret));
}

TEST(StandIns, LeaveAloneWhatIsNoKey) {
  StandIns keys;
  mad::Packet counters = packet(mad::MgmtClass::Perf, 0x12, 0);
  put(counters, 24, secret);
  put(counters, 64, secret);
  EXPECT_EQ(keys.in(counters).mad, counters.mad);
  mad::Packet table = smp(mad::SmAttr::LinearForwardingTable);
  put(table, 64, secret);
  EXPECT_EQ(keys.in(table).mad, table.mad);
}

}  // namespace
}  // namespace heddle::record
