/// Identifiers of an InfiniBand fabric. Each is a type of its own, always in host byte order; only mad/ sees
/// the wire.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace heddle {

/// An integer that is only itself: no arithmetic, no implicit way in or out.
template <class Tag, class Rep>
class Id {
 public:
  using rep = Rep;

  constexpr Id() = default;
  constexpr explicit Id(Rep raw) noexcept : raw_{raw} {}
  [[nodiscard]] constexpr Rep raw() const noexcept { return raw_; }
  friend constexpr auto operator<=>(Id, Id) = default;

 private:
  Rep raw_{};
};

/// Burned into hardware; the key for anything that outlives a sweep.
using NodeGuid = Id<struct NodeGuidTag, std::uint64_t>;
/// Of one port of a channel adapter, or of a switch's port 0.
using PortGuid = Id<struct PortGuidTag, std::uint64_t>;
/// Local identifier. 1..0xBFFF unicast, 0xC000..0xFFFE multicast, 0xFFFF permissive, 0 none (IBA 4.1.3).
using Lid = Id<struct LidTag, std::uint16_t>;
/// 1..N; 0 is a switch's management port.
using PortNum = Id<struct PortNumTag, std::uint8_t>;
/// Virtual lane 0..15; 15 carries subnet management.
using Vl = Id<struct VlTag, std::uint8_t>;
/// Service level 0..15.
using Sl = Id<struct SlTag, std::uint8_t>;

/// Dense positions within one Fabric snapshot, and meaningless in any other.
using NodeIndex = Id<struct NodeIndexTag, std::uint32_t>;
using PortIndex = Id<struct PortIndexTag, std::uint32_t>;
using LinkIndex = Id<struct LinkIndexTag, std::uint32_t>;

inline constexpr NodeIndex no_node{0xffffffffU};
inline constexpr PortIndex no_port{0xffffffffU};
inline constexpr LinkIndex no_link{0xffffffffU};

inline constexpr Lid no_lid{0};
inline constexpr Lid permissive_lid{0xffff};
inline constexpr Lid last_unicast_lid{0xbfff};
/// What a forwarding table holds for a LID that leads nowhere (IBA 14.2.5.6).
inline constexpr PortNum no_path{0xff};

/// Names a port for good, across sweeps and restarts.
struct PortRef {
  NodeGuid node;
  PortNum port;
  friend constexpr auto operator<=>(const PortRef&, const PortRef&) = default;
};

/// "0x0002c90300080e84", as the diagnostics print a GUID.
[[nodiscard]] std::string to_string(NodeGuid guid);
[[nodiscard]] std::string to_string(PortGuid guid);
/// "0x0002c90300080e84/17".
[[nodiscard]] std::string to_string(const PortRef& port);

}  // namespace heddle

template <class Tag, class Rep>
struct std::hash<heddle::Id<Tag, Rep>> {
  std::size_t operator()(heddle::Id<Tag, Rep> id) const noexcept {
    // GUIDs of one vendor differ in few bits: spread them (the finalizer of MurmurHash3).
    std::uint64_t x = id.raw();
    x ^= x >> 33U;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33U;
    return static_cast<std::size_t>(x);
  }
};

template <>
struct std::hash<heddle::PortRef> {
  std::size_t operator()(const heddle::PortRef& ref) const noexcept {
    return std::hash<heddle::NodeGuid>{}(ref.node) * 31U + ref.port.raw();
  }
};
