/// The order in which paths go up and then down. It is made from the full topology, links that are off
/// included, and stays while links come and go: then every path ever used climbs and falls in one order, and
/// the dependencies of old and new tables together have no cycle (facts/regulation.md 2; Schroeder et al.,
/// Autonet, 1991).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "routing/switch_graph.h"

namespace heddle::routing {

/// A total order of the switches by (rank, GUID). Rank 0 is the top. Valid for one SwitchGraph; `rank` by
/// GUID is what outlives it.
class Ranks {
 public:
  /// Ties are broken by GUID. Precondition: one rank per switch of the graph.
  Ranks(const SwitchGraph& graph, std::vector<std::uint16_t> rank);

  [[nodiscard]] std::uint16_t rank(SwitchIndex s) const { return rank_[s.raw()]; }
  /// Place in the order; 0 is the very top.
  [[nodiscard]] std::uint32_t position(SwitchIndex s) const { return position_[s.raw()]; }
  [[nodiscard]] bool above(SwitchIndex x, SwitchIndex y) const { return position(x) < position(y); }
  /// All switches, the top first.
  [[nodiscard]] std::span<const SwitchIndex> order() const { return order_; }

 private:
  std::vector<std::uint16_t> rank_;
  std::vector<std::uint32_t> position_;
  std::vector<SwitchIndex> order_;
};

/// Ranks are the distance to the nearest root; what no root reaches comes last.
/// Errors: NotFound for a GUID that is no switch of the fabric, Invalid for a root named twice or for none.
[[nodiscard]] Result<Ranks> rank_from_roots(const SwitchGraph& graph, std::span<const NodeGuid> roots);

/// Orders that suit trees (by the distance from the leaves, from all hosts, from the switches nearest to all)
/// and any graph (from one central switch, the last: it alone leaves no pair without a path). No two agree on
/// which end of every cable is up; one alone for a tree, damaged or not, that joins all hosts; never empty.
[[nodiscard]] std::vector<Ranks> rank_candidates(const SwitchGraph& graph);

/// The order of `before`, joined neighbours never on one level: each stands right above the highest of those
/// below it.
[[nodiscard]] Ranks in_levels(const SwitchGraph& graph, const Ranks& before);

/// Whether both agree on which end of every cable is up.
[[nodiscard]] bool same_ways_up(const SwitchGraph& graph, const Ranks& x, const Ranks& y);

}  // namespace heddle::routing
