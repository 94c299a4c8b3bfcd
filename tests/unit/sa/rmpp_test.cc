#include "sa/rmpp.h"

#include <gtest/gtest.h>

namespace heddle::sa {
namespace {

using namespace std::chrono_literals;

class SaRmpp : public ::testing::Test {
 protected:
  static mad::Packet head(std::uint32_t tid = 7) {
    mad::Packet packet;
    mad::Header header;
    header.mgmt_class = mad::MgmtClass::SubnAdm;
    header.method = static_cast<mad::Method>(0x92);
    header.tid = tid;
    mad::write_header(header, packet.mad);
    packet.address.dlid = Lid{9};
    packet.address.dqp = mad::gsi_qp;
    return packet;
  }
  mad::Packet control(Rmpp::Type type, std::uint32_t segment, std::uint32_t window, std::uint32_t tid = 7) {
    mad::Packet packet = head(tid);
    packet.address.slid = Lid{9};
    packet.address.sqp = mad::gsi_qp;
    write_rmpp({.type = type, .flags = Rmpp::active, .segment = segment, .length_or_window = window},
               packet.mad);
    return packet;
  }
  std::vector<std::uint32_t> segments() {
    std::vector<std::uint32_t> numbers;
    for (const auto& packet : sent) {
      const Rmpp rmpp = read_rmpp(packet.mad);
      numbers.push_back(rmpp.type == Rmpp::Type::Data ? rmpp.segment : 1000);
    }
    sent.clear();
    return numbers;
  }
  using Numbers = std::vector<std::uint32_t>;

  std::vector<mad::Packet> sent;
  Instant now{};
  RmppSender sender{{.patience = 100ms, .attempts = 3, .transfers = 2},
                    [this](const mad::Packet& packet) { sent.push_back(packet); }};
};

TEST_F(SaRmpp, WhatIsSentIsWhatTheOtherSideAllows) {
  ASSERT_TRUE(sender.begin(head(), std::vector<std::uint8_t>(data_size * 4 + 10), now));
  // Of the whole: 20 bytes a segment for its header (IBA 13.6.2.3).
  EXPECT_EQ(read_rmpp(sent[0].mad).length_or_window, 4 * data_size + 10 + 5 * 20);
  EXPECT_EQ(read_rmpp(sent[0].mad).flags, Rmpp::active | Rmpp::first);
  EXPECT_EQ(segments(), (Numbers{1}));
  sender.on_packet(control(Rmpp::Type::Ack, 1, 4), now);
  EXPECT_EQ(segments(), (Numbers{2, 3, 4}));
  sender.on_packet(control(Rmpp::Type::Ack, 4, 9), now);
  EXPECT_EQ(read_rmpp(sent[0].mad).length_or_window, 10 + 20U);
  EXPECT_EQ(read_rmpp(sent[0].mad).flags, Rmpp::active | Rmpp::last);
  EXPECT_EQ(segments(), (Numbers{5}));
  sender.on_packet(control(Rmpp::Type::Ack, 5, 9), now);
  EXPECT_EQ(sender.statistics().finished, 1U);
  EXPECT_FALSE(sender.next_deadline());
}

TEST_F(SaRmpp, NothingAndOneRecordAreASegmentEach) {
  ASSERT_TRUE(sender.begin(head(1), {}, now));
  EXPECT_EQ(read_rmpp(sent[0].mad).flags, Rmpp::active | Rmpp::first | Rmpp::last);
  EXPECT_EQ(read_rmpp(sent[0].mad).length_or_window, 20U);
  ASSERT_TRUE(sender.begin(head(2), std::vector<std::uint8_t>(64), now));
  EXPECT_EQ(read_rmpp(sent[1].mad).length_or_window, 84U);
  EXPECT_FALSE(sender.begin(head(3), {}, now)) << "so many at a time";
}

TEST_F(SaRmpp, WhatIsNotConfirmedGoesOnceMoreAndNotForEver) {
  ASSERT_TRUE(sender.begin(head(), std::vector<std::uint8_t>(data_size * 5), now));
  sender.on_packet(control(Rmpp::Type::Ack, 1, 3), now);
  EXPECT_EQ(segments(), (Numbers{1, 2, 3}));
  sender.on_timer(now += 100ms);
  EXPECT_EQ(segments(), (Numbers{2, 3}));
  EXPECT_EQ(sender.statistics().repeated, 2U);
  sender.on_packet(control(Rmpp::Type::Ack, 2, 3), now);
  EXPECT_EQ(segments(), (Numbers{}));
  sender.on_timer(now += 100ms);
  EXPECT_EQ(segments(), (Numbers{3}));
  sender.on_timer(now += 100ms);
  EXPECT_EQ(segments(), (Numbers{3}));
  sender.on_timer(now += 100ms);
  EXPECT_EQ(segments(), (Numbers{1000})) << "an abort";
  EXPECT_EQ(sender.under_way(), 0U);
}

/// Behind ibsim's shim nobody knows segments, and what nobody waits for ends the next program.
TEST_F(SaRmpp, WhoNeverConfirmsAnythingIsSentNothingUnasked) {
  ASSERT_TRUE(sender.begin(head(), std::vector<std::uint8_t>(data_size * 5), now));
  EXPECT_EQ(segments(), (Numbers{1}));
  sender.on_timer(now += 100ms);
  EXPECT_EQ(segments(), (Numbers{}));
  ASSERT_TRUE(sender.begin(head(), {}, now)) << "asked again";
  EXPECT_EQ(segments(), (Numbers{1}));
  sender.on_timer(now += 100ms);
  sender.on_timer(now += 100ms);
  EXPECT_EQ(segments(), (Numbers{})) << "not even an abort";
  EXPECT_EQ(sender.under_way(), 0U);
  EXPECT_EQ(sender.statistics().given_up, 1U);
}

TEST_F(SaRmpp, WhatCannotBeEndsIt) {
  ASSERT_TRUE(sender.begin(head(1), std::vector<std::uint8_t>(data_size * 5), now));
  segments();
  sender.on_packet(control(Rmpp::Type::Ack, 4, 9, 1), now);  // never sent
  EXPECT_EQ(segments(), (Numbers{1000}));
  ASSERT_TRUE(sender.begin(head(2), std::vector<std::uint8_t>(data_size * 5), now));
  segments();
  sender.on_packet(control(Rmpp::Type::Stop, 0, 0, 2), now);
  EXPECT_EQ(segments(), (Numbers{}));
  sender.on_packet(control(Rmpp::Type::Ack, 1, 9, 3), now);  // nobody's
  EXPECT_EQ(sender.under_way(), 0U);
  EXPECT_EQ(sender.statistics().given_up, 2U);
}

}  // namespace
}  // namespace heddle::sa
