/// The channel dependency graph (Dally and Seitz, 1987): a channel is one direction of a cable on one VL; a
/// packet that holds one while it waits for another makes an edge. Without a cycle there can be no deadlock.
/// Every edge remembers one destination that makes it, so that a cycle can be shown and believed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "routing/hop_map.h"
#include "routing/switch_graph.h"

namespace heddle::routing {

class Dependencies {
 public:
  explicit Dependencies(const SwitchGraph& graph, unsigned vls = 1);

  /// A packet to `lid` holds `before` and waits for `after`, a hop of the switch that `before` leads to.
  void add(std::uint32_t before, std::uint32_t after, Lid lid) { note(before * width_ + local_[after], lid); }
  void add(std::uint32_t before, unsigned vl_before, std::uint32_t after, unsigned vl_after, Lid lid) {
    note((before * vls_ + vl_before) * width_ + local_[after] * vls_ + vl_after, lid);
  }

  /// Of one VL: whether some packet does; whether dependencies lead from one channel to another, which costs
  /// as much of `budget` as are looked at, and is so when that is spent.
  [[nodiscard]] bool has(std::uint32_t before, std::uint32_t after) const {
    return witness_[before * width_ + local_[after]] != 0;
  }
  [[nodiscard]] bool leads(std::uint32_t from, std::uint32_t to, std::size_t& budget) const;

  struct Edge {
    std::uint32_t hop = 0;
    unsigned vl = 0;
    Lid lid;  ///< of a packet that goes on to the next edge's hop
  };
  /// A cycle of channels, or nothing when there is none.
  [[nodiscard]] std::vector<Edge> find_cycle() const;

 private:
  /// Nearly always of an edge that is known: that is looked up where there is room for it in a cache.
  void note(std::size_t edge, Lid lid) {
    std::uint64_t& word = known_[edge / word_bits];
    const std::uint64_t bit = std::uint64_t{1} << edge % word_bits;
    if ((word & bit) != 0) return;
    word |= bit;
    witness_[edge] = lid.raw();
  }

  static constexpr std::size_t word_bits = 64;
  const SwitchGraph* graph_;
  unsigned vls_;
  std::size_t width_;                ///< edges that a channel can have
  std::vector<std::uint8_t> local_;  ///< a switch has fewer than 256 hops
  std::vector<std::uint32_t> peer_;
  std::vector<std::uint64_t> known_;  ///< a bit for each edge that has a witness
  std::vector<std::uint16_t> witness_;
};

}  // namespace heddle::routing
