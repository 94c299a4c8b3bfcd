/// What the daemon has decided, for the OpenSM plugin to carry out: the order of the switches, the cables
/// that are off, what each LID plane must avoid, QoS tables. One file, replaced as a whole, that says
/// everything: a plugin that has just started needs nothing else, since OpenSM cannot see cables that are
/// off.
///
/// Everything is named by GUID and port, because the plan outlives snapshots. Plain values; any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "fabric/change.h"
#include "qos/tables.h"

namespace heddle::plan {

/// Of the file's form. A reader takes no other.
inline constexpr std::uint64_t version = 1;
/// An hour: longer than any packet lives.
inline constexpr std::uint64_t most_packet_life_us = 3'600'000'000ULL;
/// A larger file is refused unread: the plugin reads it while OpenSM waits.
inline constexpr std::size_t max_bytes = std::size_t{16} << 20U;
/// 2^LMC at most (IBA 4.1.3).
inline constexpr std::size_t max_planes = 128;

/// Of a plane that is updated in stages (facts/regulation.md 2): `from` was avoided before, and stages 0 ..
/// stage of the way to what is to be avoided are to be written.
struct Staged {
  std::vector<LinkRef> from;
  std::uint32_t stage = 0;
  friend bool operator==(const Staged&, const Staged&) = default;
};

/// What one LID plane may use. Plane p carries the LIDs base + i with i mod planes == p.
struct Plane {
  /// On, but not to be routed over (in this plane). Cables that are off need not be repeated here.
  std::vector<LinkRef> avoid;
  /// None: all is written.
  std::optional<Staged> staged;
  friend bool operator==(const Plane&, const Plane&) = default;
};

/// Tables of a port. Without `sl2vl` OpenSM's own maps stay, and its quick way to program them.
using QosTables = qos::Tables;

struct QosGroup {
  std::vector<PortRef> ports;
  QosTables tables;
  friend bool operator==(const QosGroup&, const QosGroup&) = default;
};

/// `everywhere` is for ports that no group names; where neither says anything, OpenSM's options count.
struct Qos {
  std::optional<QosTables> everywhere;
  std::vector<QosGroup> groups;
  friend bool operator==(const Qos&, const Qos&) = default;
};

struct Plan {
  /// Grows with every plan that a daemon writes; reports name it.
  std::uint64_t epoch = 0;
  /// Of every switch, 0 on top, ties by GUID (routing/ranks.h). Empty: the reader keeps its own.
  std::vector<std::pair<NodeGuid, std::uint16_t>> ranks;
  /// Cables that are off or about to go off: never routed over, yet part of the topology.
  std::vector<LinkRef> off;
  /// Cables that an operator wants off: not routed over even where hosts are cut off without them.
  std::vector<LinkRef> forced;
  /// Switches that an operator takes out of service: OpenSM needs no way there. Ascending.
  std::vector<NodeGuid> drained;
  /// 1, 2, 4 ... max_planes of them; none counts as one that avoids nothing.
  std::vector<Plane> planes;
  std::optional<Qos> qos;
  /// How long a packet may be under way, where an operator knows better than the switches
  /// (routing/packet_life.h).
  std::optional<std::chrono::microseconds> packet_life;
  friend bool operator==(const Plan&, const Plan&) = default;
};

/// JSON, in lines, with a checksum over everything after it. Equal plans give equal texts.
[[nodiscard]] std::string to_text(const Plan& plan);

/// Errors (Invalid) name `file` and the key: too large, another version, a wrong checksum, a key that is
/// missing, unknown or of the wrong kind, a value out of range, a cable or rank that comes twice. Whatever
/// the text, nothing else happens.
[[nodiscard]] Result<Plan> parse(std::string_view text, const std::string& file);

/// The part on QoS alone, `{"qos": {"vlarb_high": ..., "vlarb_low": ..., "high_limit": n, "sl2vl": [...]}}`,
/// without version or checksum, as `heddle qos design --plan` writes it. Errors as above.
[[nodiscard]] Result<Qos> parse_qos(std::string_view text, const std::string& file);

}  // namespace heddle::plan
