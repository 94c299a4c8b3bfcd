/// MADs of subnet administration (IBA 15.2): what stands between the common header and the record, and the
/// records that Heddle answers with. `decode<T>(data)` and `encode(value, data)` translate between structs
/// and the bytes of one record; reserved bits are written as 0. Everything but the bytes is in host order.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <span>

#include "base/ids.h"
#include "fabric/link_rate.h"
#include "mad/header.h"

namespace heddle::sa {

inline constexpr std::uint8_t class_version = 2;

/// Methods of this class (IBA 15.2.2) besides Get, Set and their answers.
namespace method {
inline constexpr mad::Method get_table{0x12};
inline constexpr mad::Method get_multi{0x14};
inline constexpr mad::Method remove{0x15};
}  // namespace method

enum class Attribute : std::uint16_t {
  ClassPortInfo = 0x0001,
  Notice = 0x0002,
  InformInfo = 0x0003,
  NodeRecord = 0x0011,
  PortInfoRecord = 0x0012,
  ServiceRecord = 0x0031,
  PathRecord = 0x0035,
  McMemberRecord = 0x0038,
};

/// The upper byte of a status (IBA 15.2.4).
namespace status {
inline constexpr std::uint16_t no_resources = 0x0100;
inline constexpr std::uint16_t request_invalid = 0x0200;
inline constexpr std::uint16_t no_records = 0x0300;
inline constexpr std::uint16_t too_many_records = 0x0400;
inline constexpr std::uint16_t invalid_gid = 0x0500;
inline constexpr std::uint16_t insufficient_components = 0x0600;
inline constexpr std::uint16_t denied = 0x0700;
}  // namespace status

/// Where the RMPP header and the data stand, and how much of a segment each class-specific header takes
/// (IBA 13.6.2, 15.2.1.1).
inline constexpr std::size_t rmpp_offset = 24;
inline constexpr std::size_t data_offset = 56;
inline constexpr std::size_t data_size = mad::mad_size - data_offset;

struct Header {
  std::uint64_t sm_key = 0;
  std::uint16_t attribute_offset = 0;  ///< from record to record, in 8 bytes
  std::uint64_t components = 0;        ///< bit i: field i of the record counts
};
[[nodiscard]] Header read_header(const mad::Bytes& mad);
void write_header(const Header& header, mad::Bytes& mad);

/// IBA 13.6.2.
struct Rmpp {
  enum class Type : std::uint8_t { None = 0, Data = 1, Ack = 2, Stop = 3, Abort = 4 };
  static constexpr std::uint8_t active = 1;
  static constexpr std::uint8_t first = 2;
  static constexpr std::uint8_t last = 4;

  Type type = Type::None;
  std::uint8_t flags = 0;
  std::uint8_t status = 0;
  std::uint32_t segment = 0;           ///< Data: this one, from 1; Ack: the last that came in order
  std::uint32_t length_or_window = 0;  ///< Data: of what is sent; Ack: the last segment that may come
};
[[nodiscard]] Rmpp read_rmpp(const mad::Bytes& mad);
void write_rmpp(const Rmpp& rmpp, mad::Bytes& mad);

struct Gid {
  std::uint64_t prefix = 0;
  std::uint64_t id = 0;
  friend constexpr auto operator<=>(const Gid&, const Gid&) = default;
};

/// How a field of a query is meant (IBA 15.2.5.16).
enum class Selector : std::uint8_t { Above = 0, Below = 1, Exactly = 2, Best = 3 };
struct Selected {
  Selector selector = Selector::Exactly;
  std::uint8_t code = 0;  ///< of an MTU, a rate or a life time
};

/// Of 1 to 5: 256 to 4096 bytes; rates as rate_code() has them; life times 4.096 us x 2^code.
struct PathRecord {
  static constexpr std::size_t size = 64;
  static constexpr std::uint64_t has_dgid = 1U << 2U;
  static constexpr std::uint64_t has_sgid = 1U << 3U;
  static constexpr std::uint64_t has_dlid = 1U << 4U;
  static constexpr std::uint64_t has_slid = 1U << 5U;
  static constexpr std::uint64_t has_count = 1U << 12U;
  static constexpr std::uint64_t has_pkey = 1U << 13U;
  static constexpr std::uint64_t has_sl = 1U << 15U;
  static constexpr std::uint64_t has_mtu = 3U << 16U;
  static constexpr std::uint64_t has_rate = 3U << 18U;
  static constexpr std::uint64_t has_life = 3U << 20U;

  std::uint64_t service = 0;
  Gid dgid;
  Gid sgid;
  Lid dlid;
  Lid slid;
  std::uint32_t flow_label = 0;
  std::uint8_t hop_limit = 0;
  std::uint8_t traffic_class = 0;
  bool reversible = true;
  std::uint8_t count = 0;  ///< of paths that are wanted at most
  std::uint16_t pkey = 0;
  Sl sl;
  Selected mtu;
  Selected rate;
  Selected life;
  std::uint8_t preference = 0;
};

/// The bits of a join state (IBA 15.2.5.17.1).
namespace join {
inline constexpr std::uint8_t full = 1;
inline constexpr std::uint8_t non_member = 2;
inline constexpr std::uint8_t send_only = 4;
inline constexpr std::uint8_t send_only_full = 8;
}  // namespace join

struct McMemberRecord {
  static constexpr std::size_t size = 56;
  static constexpr std::uint64_t has_mgid = 1U << 0U;
  static constexpr std::uint64_t has_port_gid = 1U << 1U;
  static constexpr std::uint64_t has_qkey = 1U << 2U;
  static constexpr std::uint64_t has_mtu = 3U << 4U;
  static constexpr std::uint64_t has_traffic_class = 1U << 6U;
  static constexpr std::uint64_t has_pkey = 1U << 7U;
  static constexpr std::uint64_t has_rate = 3U << 8U;
  static constexpr std::uint64_t has_sl = 1U << 12U;
  static constexpr std::uint64_t has_flow_label = 1U << 13U;
  static constexpr std::uint64_t has_join_state = 1U << 16U;

  Gid mgid;
  Gid port;
  std::uint32_t qkey = 0;
  Lid mlid;
  Selected mtu;
  std::uint8_t traffic_class = 0;
  std::uint16_t pkey = 0;
  Selected rate;
  Selected life;
  Sl sl;
  std::uint32_t flow_label = 0;
  std::uint8_t hop_limit = 0;
  std::uint8_t scope = 0;
  std::uint8_t join_state = 0;
  bool proxy_join = false;
};

struct InformInfo {
  static constexpr std::size_t size = 36;
  Gid gid;
  Lid first;  ///< of the LIDs that are meant; permissive_lid: all
  Lid last;
  bool generic = true;
  bool subscribe = false;
  std::uint16_t type = 0;  ///< 0xffff: all
  std::uint16_t trap = 0;  ///< 0xffff: all; of others, the device
  std::uint32_t qpn = 0;   ///< who asks no longer
  std::uint8_t response_time = 0;
  std::uint32_t producer = 0;  ///< 0xffffff: all
};

struct ClassPortInfo {
  static constexpr std::size_t size = 72;
  static constexpr std::uint16_t multicast = 1U << 9U;
  static constexpr std::uint16_t matches_capability_masks = 1U << 13U;
  static constexpr std::uint32_t send_only_full_members = 1U << 12U;  ///< of the second mask

  std::uint8_t base_version = 1;
  std::uint8_t version = class_version;
  std::uint16_t capabilities = 0;
  std::uint32_t capabilities2 = 0;
  std::uint8_t response_time = 18;
};

template <class T>
[[nodiscard]] T decode(std::span<const std::uint8_t> record);
template <class T>
void encode(const T& value, std::span<std::uint8_t> record);

template <>
PathRecord decode(std::span<const std::uint8_t> record);
template <>
void encode(const PathRecord& path, std::span<std::uint8_t> record);
template <>
McMemberRecord decode(std::span<const std::uint8_t> record);
template <>
void encode(const McMemberRecord& member, std::span<std::uint8_t> record);
template <>
InformInfo decode(std::span<const std::uint8_t> record);
template <>
void encode(const InformInfo& info, std::span<std::uint8_t> record);
template <>
ClassPortInfo decode(std::span<const std::uint8_t> record);
template <>
void encode(const ClassPortInfo& info, std::span<std::uint8_t> record);

/// Of PathRecord.Rate (IBA 15.2.5.16, table 207); 0 where there is none.
[[nodiscard]] std::uint8_t rate_code(LinkWidth width, LinkSpeed speed);
/// In 100 Mb/s; 0 for a code that means nothing. Codes are not in the order of their rates.
[[nodiscard]] unsigned rate_of(std::uint8_t code);

}  // namespace heddle::sa
