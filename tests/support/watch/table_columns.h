/// The forwarding tables as last seen, by LID: which port each switch sends it to. Rows as well, for entries
/// of LIDs that nobody has.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "support/watch/watched_fabric.h"

namespace heddle::test {

/// Position among all LIDs of all targets, in the order of the targets.
using Column = std::uint32_t;

class TableColumns {
 public:
  static constexpr Column no_column = 0xffffffffU;

  /// Everything anew, for the LIDs of today.
  void load(const WatchedFabric& watched) {
    graph_ = &watched.graph();
    lids_.clear();
    column_of_.assign(0x10000, no_column);
    for (const routing::Target& target : graph_->targets()) {
      for (unsigned i = 0; i < target.lid_count(); ++i) {
        const Lid lid{static_cast<std::uint16_t>(target.base.raw() + i)};
        column_of_[lid.raw()] = static_cast<Column>(lids_.size());
        lids_.push_back({&target, lid});
      }
    }
    stride_ = routing::ForwardingTables(*graph_).stride();
    rows_.assign(graph_->size() * stride_, no_path.raw());
    entries_.assign(lids_.size() * graph_->size(), no_path.raw());
    for (std::uint32_t s = 0; s < graph_->size(); ++s) {
      for (const Change& change : changes(watched, s, sim::Change::every_block))
        set(s, change.lid, change.after);
    }
  }

  struct Change {
    Lid lid;
    std::uint8_t before;
    std::uint8_t after;
  };
  /// What is not as it was last seen, in one block of a switch or in all; until set().
  [[nodiscard]] std::vector<Change> changes(const WatchedFabric& watched, std::uint32_t s,
                                            std::uint32_t block) const {
    std::vector<Change> result;
    const auto table = watched.sim().forwarding_table(graph_->node(routing::SwitchIndex{s}));
    const bool all = block == sim::Change::every_block;
    const std::size_t first = all ? 0 : std::size_t{block} * routing::lids_per_block;
    const std::size_t last = all ? stride_ : first + routing::lids_per_block;
    for (std::size_t i = first; i < last && i < stride_; ++i) {
      const std::uint8_t port = i < table.size() ? table[i].raw() : no_path.raw();
      const std::uint8_t known = rows_[s * stride_ + i];
      if (known != port) result.push_back({Lid{static_cast<std::uint16_t>(i)}, known, port});
    }
    return result;
  }
  void set(std::uint32_t s, Lid lid, std::uint8_t port) {
    rows_[s * stride_ + lid.raw()] = port;
    if (const Column k = column_of_[lid.raw()]; k != no_column) entries_[k * graph_->size() + s] = port;
  }

  struct Entry {
    const routing::Target* target;
    Lid lid;
  };
  [[nodiscard]] std::span<const Entry> lids() const { return lids_; }
  [[nodiscard]] Column column_of(Lid lid) const { return column_of_[lid.raw()]; }
  /// By switch.
  [[nodiscard]] const std::uint8_t* column(Column k) const { return &entries_[k * graph_->size()]; }
  [[nodiscard]] std::size_t stride() const { return stride_; }
  /// Columns of LIDs that the switch sends out of this port.
  template <class F>
  void for_each_leaving(std::uint32_t s, std::uint8_t port, F&& f) const {
    for (std::size_t i = 0; i < stride_; ++i) {
      if (rows_[s * stride_ + i] == port && column_of_[i] != no_column) f(column_of_[i]);
    }
  }

 private:
  const routing::SwitchGraph* graph_ = nullptr;
  std::vector<Entry> lids_;
  std::vector<Column> column_of_;
  std::size_t stride_ = 0;
  std::vector<std::uint8_t> rows_;
  std::vector<std::uint8_t> entries_;
};

}  // namespace heddle::test
