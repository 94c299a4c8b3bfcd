/// Linear forwarding tables of all switches: which port each LID leaves by. What every engine makes, and what
/// the provisioner, the OpenSM plugin and the simulator take. One piece of memory, a row per switch, in
/// blocks of 64 LIDs as LinearForwardingTable MADs carry them (IBA 14.2.5.6). Owns its bytes; no lock.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "routing/switch_graph.h"

namespace heddle::routing {

inline constexpr std::size_t lids_per_block = 64;

class ForwardingTables {
 public:
  ForwardingTables() = default;
  /// Every entry is no_path. Rows reach up to the block that holds `top`.
  ForwardingTables(std::span<const NodeGuid> switches, Lid top);
  explicit ForwardingTables(const SwitchGraph& graph) : ForwardingTables(graph.guids(), graph.top_lid()) {}

  [[nodiscard]] std::size_t switch_count() const { return guids_.size(); }
  /// The switches in the order of SwitchIndex: of the graph that the tables were made for.
  [[nodiscard]] std::span<const NodeGuid> switches() const { return guids_; }
  [[nodiscard]] SwitchIndex find(NodeGuid guid) const;  ///< no_switch if there is none; linear time

  /// LinearFDBTop of every switch: no entry above it leads anywhere.
  [[nodiscard]] Lid top() const { return top_; }
  /// Bytes of a row, a multiple of 64.
  [[nodiscard]] std::size_t stride() const { return stride_; }
  [[nodiscard]] std::size_t blocks() const { return stride_ / lids_per_block; }

  [[nodiscard]] PortNum port(SwitchIndex s, Lid lid) const {
    return lid.raw() < stride_ ? PortNum{bytes_[s.raw() * stride_ + lid.raw()]} : no_path;
  }
  /// Precondition: lid within the row.
  void set(SwitchIndex s, Lid lid, PortNum port) { bytes_[s.raw() * stride_ + lid.raw()] = port.raw(); }

  /// Port numbers as on the wire, indexed by LID.
  [[nodiscard]] std::span<const std::uint8_t> row(SwitchIndex s) const {
    return std::span(bytes_).subspan(s.raw() * stride_, stride_);
  }
  [[nodiscard]] std::span<std::uint8_t> row(SwitchIndex s) {
    return std::span(bytes_).subspan(s.raw() * stride_, stride_);
  }
  /// 64 LIDs from 64 * block on: one MAD.
  [[nodiscard]] std::span<const std::uint8_t, lids_per_block> block(SwitchIndex s, std::size_t block) const {
    return std::span<const std::uint8_t, lids_per_block>(&bytes_[s.raw() * stride_ + block * lids_per_block],
                                                         lids_per_block);
  }

  friend bool operator==(const ForwardingTables&, const ForwardingTables&) = default;

 private:
  std::vector<NodeGuid> guids_;
  Lid top_;
  std::size_t stride_ = 0;
  std::vector<std::uint8_t> bytes_;
};

struct BlockRef {
  SwitchIndex sw;
  std::uint16_t block = 0;
  friend constexpr auto operator<=>(const BlockRef&, const BlockRef&) = default;
};

/// The blocks in which two tables of the same switches differ, by switch and then by block; entries beyond
/// the end of the shorter one count as no_path. Precondition: same switches in the same order.
[[nodiscard]] std::vector<BlockRef> differing_blocks(const ForwardingTables& x, const ForwardingTables& y);

}  // namespace heddle::routing
