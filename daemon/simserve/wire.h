/// The messages of libumad2sim, as ibsim 0.10 to 0.12 and its clients exchange them (facts/ibsim-wire.md).
/// Control messages are in host byte order; of packets, LIDs are htons(lid) in a host-order word, the rest is
/// in network order.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "mad/packet.h"

namespace heddle::simserve {

inline constexpr std::uint32_t control_magic = 0xdeadbeef;

enum class ControlType : std::uint32_t {
  Error,
  Connect,
  Disconnect,
  GetPort,
  GetVendor,
  GetGid,
  GetGuid,
  GetNodeInfo,
  GetPortInfo,
  SetIsSm,
  GetPKeys,
};

struct ControlMessage {
  std::uint32_t magic = control_magic;
  std::uint32_t client = 0;
  ControlType type = ControlType::Error;
  std::uint32_t length = 0;
  std::array<std::uint8_t, 64> data{};
};
static_assert(sizeof(ControlMessage) == 80);

struct ConnectData {
  std::uint32_t id = 0;  ///< in: the process, or its UDP port; out: the client's number
  std::uint32_t qp = 0;
  std::uint32_t is_sm = 0;
  std::array<char, 32> node{};
};
static_assert(sizeof(ConnectData) == 44);

struct PortData {
  std::uint16_t lid = 0;
  std::uint8_t state = 0;
  std::uint8_t reserved = 0;
};
static_assert(sizeof(PortData) == 4);

struct VendorData {
  std::uint32_t vendor_id = 0;
  std::uint32_t part_id = 0;
  std::uint32_t hardware_version = 0;
  std::uint32_t reserved = 0;
  std::uint64_t firmware_version = 0;
};
static_assert(sizeof(VendorData) == 24);

/// Status of a packet that comes back to its sender: nobody answered (ETIMEDOUT of the kernel's umad).
inline constexpr std::uint32_t timed_out = 110;

struct PacketMessage {
  std::uint32_t dlid = 0;
  std::uint32_t slid = 0;
  std::uint32_t dqp = 0;
  std::uint32_t sqp = 0;
  std::uint32_t status = 0;
  std::uint32_t reserved = 0;
  std::uint64_t length = 0;
  mad::Bytes mad{};
};
static_assert(sizeof(PacketMessage) == 288);

[[nodiscard]] mad::Packet from_wire(const PacketMessage& message);
[[nodiscard]] PacketMessage to_wire(const mad::Packet& packet);
/// The request as it goes back to its sender unanswered.
[[nodiscard]] PacketMessage unanswered(const PacketMessage& request);

}  // namespace heddle::simserve
