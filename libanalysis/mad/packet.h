/// One management datagram with its address: what a transport sends and receives, and what the simulated
/// fabric carries. Everything but the 256 bytes of `mad` is in host byte order.
#pragma once

#include <array>
#include <cstdint>

#include "base/ids.h"

namespace heddle::mad {

inline constexpr std::size_t mad_size = 256;
using Bytes = std::array<std::uint8_t, mad_size>;

/// Where the data of an attribute starts (IBA 14.2.1.1, 16.1.1), and how long it may be.
inline constexpr std::size_t smp_data_offset = 64;
inline constexpr std::size_t smp_data_size = 64;
inline constexpr std::size_t gmp_data_offset = 64;
inline constexpr std::size_t gmp_data_size = 192;

inline constexpr std::uint32_t smi_qp = 0;  ///< SMPs
inline constexpr std::uint32_t gsi_qp = 1;  ///< GMPs
inline constexpr std::uint32_t gsi_qkey = 0x80010000;

struct Address {
  Lid dlid = permissive_lid;
  Lid slid = permissive_lid;
  std::uint32_t dqp = smi_qp;
  std::uint32_t sqp = smi_qp;
  Sl sl{};
  std::uint16_t pkey_index = 0;
};

struct Packet {
  Address address;
  Bytes mad{};
};

}  // namespace heddle::mad
