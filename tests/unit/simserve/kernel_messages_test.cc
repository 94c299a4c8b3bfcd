#include "simserve/kernel_messages.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace heddle::simserve {
namespace {

constexpr std::uint8_t directed = 0x81;
constexpr std::uint8_t performance = 0x04;
constexpr std::uint8_t get = 0x01;
constexpr std::uint8_t get_response = 0x81;

heddle_vhca_packet packet_with(std::uint8_t mgmt_class, std::uint8_t method, std::uint8_t pointer,
                               std::uint8_t hops) {
  heddle_vhca_packet packet{};
  packet.mad[1] = mgmt_class;
  packet.mad[3] = method;
  packet.mad[6] = pointer;
  packet.mad[7] = hops;
  return packet;
}

// The kernel's smi.c makes the first step before the packet comes out of QP0; the fabric wants to make it
// itself.
TEST(KernelMessages, ADirectedRequestStartsAtHopZero) {
  const mad::Packet out = from_kernel(packet_with(directed, get, 1, 3));
  EXPECT_EQ(out.mad[6], 0);
  EXPECT_EQ(out.mad[7], 3);
  EXPECT_EQ(out.address.slid, permissive_lid);
}

TEST(KernelMessages, ADirectedResponseKeepsItsHop) {
  EXPECT_EQ(from_kernel(packet_with(directed, get_response, 3, 3)).mad[6], 3);
}

TEST(KernelMessages, WhatIsNoDirectedRouteStaysAsItIs) {
  heddle_vhca_packet packet = packet_with(performance, get, 9, 9);
  packet.slid = 5;
  const mad::Packet out = from_kernel(packet);
  EXPECT_EQ(out.mad[6], 9);
  EXPECT_EQ(out.address.slid, Lid{5});
}

struct Inward {
  std::uint8_t method;
  std::uint8_t hops;
  std::uint8_t pointer;  ///< what smi.c expects (IBA 14.2.2)
};

class KernelInward : public testing::TestWithParam<Inward> {};

TEST_P(KernelInward, StandsAtTheHopThatTheKernelExpects) {
  mad::Packet packet;
  packet.mad[1] = directed;
  packet.mad[3] = GetParam().method;
  packet.mad[6] = 77;
  packet.mad[7] = GetParam().hops;
  EXPECT_EQ(to_kernel(packet, 1).mad[6], GetParam().pointer);
}

INSTANTIATE_TEST_SUITE_P(Hops, KernelInward,
                         testing::Values(Inward{get, 0, 0}, Inward{get, 4, 4}, Inward{get_response, 0, 0},
                                         Inward{get_response, 1, 1}, Inward{get_response, 4, 1}));

TEST(KernelMessages, AddressesGoBothWays) {
  heddle_vhca_packet packet{};
  packet.qp = 1;
  packet.remote_qp = 1;
  packet.dlid = 17;
  packet.slid = 4;
  packet.sl = 3;
  packet.pkey_index = 2;
  packet.mad[1] = performance;
  std::fill(std::begin(packet.mad) + 64, std::end(packet.mad), std::uint8_t{0xa5});
  const mad::Packet out = from_kernel(packet);
  mad::Packet back = out;
  std::swap(back.address.dlid, back.address.slid);
  std::swap(back.address.dqp, back.address.sqp);
  const heddle_vhca_packet in = to_kernel(back, 2);
  EXPECT_EQ(in.port, 2U);
  EXPECT_EQ(in.qp, 1U);
  EXPECT_EQ(in.slid, 17);
  EXPECT_EQ(in.dlid, 4);
  EXPECT_EQ(in.sl, 3);
  EXPECT_EQ(in.pkey_index, 2);
  EXPECT_TRUE(std::equal(std::begin(in.mad), std::end(in.mad), std::begin(packet.mad)));
}

TEST(KernelMessages, OnlyWholeMessagesOfKnownTypesCount) {
  KernelMessage message = packet_message({});
  EXPECT_TRUE(is_whole(message, message.bytes().size()));
  EXPECT_FALSE(is_whole(message, message.bytes().size() - 1));
  message.header.size -= 1;
  EXPECT_FALSE(is_whole(message, message.header.size));
  message.header.type = 99;
  EXPECT_FALSE(is_whole(message, sizeof message.header));
}

}  // namespace
}  // namespace heddle::simserve
