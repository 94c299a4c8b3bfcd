/// Who is in the fabric, and by which paths: a survey with the forwarding tables in force, so arranged that a
/// query costs no more than the path that it asks for. Immutable; shared by shared_ptr<const Directory>.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "mad/survey.h"
#include "routing/tables.h"
#include "sa/wire.h"

namespace heddle::sa {

/// The default partition, full member (IBA 10.9.1): the only one there is.
inline constexpr std::uint16_t default_pkey = 0xffff;
/// PacketLifeTime of every path: what the stages of table updates wait for (routing/packet_life.h).
inline constexpr std::uint8_t packet_life_code = 18;

/// What a path, or a port, can carry.
struct Capacity {
  std::uint8_t mtu = 0;
  std::uint8_t rate = 0;
};

struct PathAnswer {
  std::uint16_t status = mad::status::ok;
  std::vector<PathRecord> paths;
};

class Directory {
 public:
  static constexpr std::size_t node_record_size = 108;
  static constexpr std::size_t port_record_size = 68;
  using NodeRecord = std::array<std::uint8_t, node_record_size>;
  using PortRecord = std::array<std::uint8_t, port_record_size>;

  /// `idle_plane`: LIDs base + i with i mod planes equal to it are given last, because what uses them moves
  /// away.
  Directory(std::shared_ptr<const Survey> survey, std::shared_ptr<const routing::ForwardingTables> tables,
            unsigned planes = 1, std::optional<unsigned> idle_plane = std::nullopt);

  /// The end port of a LID or GID; no_port where the survey has none.
  [[nodiscard]] PortIndex find(Lid lid) const { return survey_->fabric->find_port(lid); }
  [[nodiscard]] PortIndex find(const Gid& gid) const;
  [[nodiscard]] Gid gid(PortIndex port) const;
  /// Of the link of a channel adapter's port; of a switch's port 0, what its PortInfo says.
  [[nodiscard]] Capacity capacity(PortIndex port) const;
  /// The switch port that leads to this end port; itself for a switch's port 0. None without a cable.
  [[nodiscard]] std::optional<PortRef> attached_at(PortIndex port) const;

  /// At most `most` that fit the query, best first. Pairs of LIDs base + i.
  [[nodiscard]] PathAnswer paths(const PathRecord& query, std::uint64_t components, std::size_t most) const;
  /// What the tables make of a packet for this LID; none where it does not arrive.
  [[nodiscard]] std::optional<Capacity> walk(PortIndex from, Lid to) const;

  /// Those that match, in the order of nodes and ports. M_Keys are never told.
  [[nodiscard]] std::vector<NodeRecord> nodes(std::span<const std::uint8_t> query,
                                              std::uint64_t components) const;
  enum class Masks : std::uint8_t { Equal, Contain };  ///< how a CapabilityMask is compared
  [[nodiscard]] std::vector<PortRecord> ports(std::span<const std::uint8_t> query, std::uint64_t components,
                                              Masks masks) const;

  /// Records that are looked at for an answer: one, or all, of which there are so many.
  [[nodiscard]] std::size_t looks(Attribute attribute, std::uint64_t components) const;
  [[nodiscard]] std::size_t all() const { return std::max(lids_, survey_->fabric->ports().size()); }

  [[nodiscard]] const Survey& survey() const { return *survey_; }

 private:
  struct Step {
    PortIndex peer = no_port;  ///< over a link that is Active at both ends
    Capacity capacity;
  };
  void add_paths(PortIndex from, PortIndex to, const PathRecord& query, std::uint64_t components,
                 std::size_t most, std::vector<PathRecord>& found) const;
  [[nodiscard]] std::optional<PathRecord> path(PortIndex from, PortIndex to, Lid slid, Lid dlid,
                                               const PathRecord& query, std::uint64_t components) const;
  void each_candidate(std::span<const std::uint8_t> query, std::uint64_t components,
                      const std::function<void(NodeIndex)>& look) const;

  std::shared_ptr<const Survey> survey_;
  std::shared_ptr<const routing::ForwardingTables> tables_;
  unsigned planes_;
  std::size_t lids_ = 0;  ///< of all ports together
  std::optional<unsigned> idle_plane_;
  std::vector<Step> steps_;                     ///< by PortIndex
  std::vector<routing::SwitchIndex> switches_;  ///< by NodeIndex
};

}  // namespace heddle::sa
