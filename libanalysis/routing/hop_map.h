/// What lies behind each port, for following packets through tables: by array, whoever made the tables.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "routing/link_set.h"
#include "routing/switch_graph.h"
#include "routing/tables.h"

namespace heddle::routing {

class HopMap {
 public:
  /// Behind the port is no cable to another switch.
  static constexpr std::uint32_t none = 0xffffffffU;

  explicit HopMap(const SwitchGraph& graph) {
    for (std::uint32_t s = 0; s < graph.size(); ++s) {
      for (const Hop& hop : graph.hops(SwitchIndex{s})) ports_ = std::max(ports_, hop.out.raw() + 1U);
    }
    ways_.assign(graph.size() * ports_, {});
    for (std::uint32_t s = 0; s < graph.size(); ++s) {
      const auto hops = graph.hops(SwitchIndex{s});
      for (std::uint32_t h = 0; h < hops.size(); ++h) {
        ways_[s * ports_ + hops[h].out.raw()] = {
            static_cast<std::uint32_t>(graph.first_hop(SwitchIndex{s})) + h, hops[h].peer.raw()};
        peer_.push_back(hops[h].peer.raw());
        from_.push_back(s);
      }
    }
  }

  struct Way {
    std::uint32_t hop = none;  ///< position among all hops of the graph
    std::uint32_t peer = 0;    ///< switch that it leads to
  };
  [[nodiscard]] Way way(std::uint32_t s, std::uint8_t port) const {
    return port < ports_ ? ways_[s * ports_ + port] : Way{};
  }
  [[nodiscard]] std::uint32_t hop(std::uint32_t s, std::uint8_t port) const { return way(s, port).hop; }
  [[nodiscard]] std::uint32_t peer(std::uint32_t hop) const { return peer_[hop]; }
  [[nodiscard]] std::uint32_t from(std::uint32_t hop) const { return from_[hop]; }

 private:
  /// One more than the largest port that leads to a switch: rows of 256 would fall into few sets of a cache.
  std::uint32_t ports_ = 0;
  std::vector<Way> ways_;
  std::vector<std::uint32_t> peer_;
  std::vector<std::uint32_t> from_;
};

/// By hop: whether its link is one of these; null: all are.
[[nodiscard]] inline std::vector<char> hops_over(const SwitchGraph& graph, const LinkSet* links) {
  std::vector<char> result;
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    for (const Hop& hop : graph.hops(SwitchIndex{s}))
      result.push_back(links == nullptr || links->contains(hop.link) ? 1 : 0);
  }
  return result;
}

/// The entries of all switches for each of 64 LIDs: a block of every switch, turned on its side.
class Columns {
 public:
  explicit Columns(std::size_t switches) : switches_{switches}, bytes_(lids_per_block * switches) {}

  void load(const ForwardingTables& tables, std::size_t block) {
    if (block >= tables.blocks()) {
      bytes_.assign(bytes_.size(), no_path.raw());
      return;
    }
    std::uint32_t s = 0;
    for (; s + at_once <= switches_; s += at_once) turn(tables, block, s);
    for (; s < switches_; ++s) {
      const auto row = tables.block(SwitchIndex{s}, block);
      for (std::size_t i = 0; i < lids_per_block; ++i) bytes_[i * switches_ + s] = row[i];
    }
  }

  [[nodiscard]] const std::uint8_t* column(Lid lid) const {
    return &bytes_[lid.raw() % lids_per_block * switches_];
  }

 private:
  /// Switches that are read together, so that what is written lies together.
  static constexpr std::size_t at_once = 16;

  void turn(const ForwardingTables& tables, std::size_t block, std::uint32_t first) {
    std::array<const std::uint8_t*, at_once> rows{};
    for (std::uint32_t j = 0; j < at_once; ++j) rows[j] = tables.block(SwitchIndex{first + j}, block).data();
    for (std::size_t i = 0; i < lids_per_block; ++i) {
      std::uint8_t* to = &bytes_[i * switches_ + first];
      for (std::size_t j = 0; j < at_once; ++j) to[j] = rows[j][i];
    }
  }

  std::size_t switches_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace heddle::routing
