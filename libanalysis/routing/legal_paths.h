/// Lengths of the shortest paths that go up and then down, from every switch to every switch, and which of
/// them go down only. A row per switch, a byte per destination, so that a row is made from its neighbours'
/// rows a machine word at a time, and a change of one link costs only the rows that it changes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "routing/link_set.h"
#include "routing/ranks.h"
#include "routing/switch_graph.h"

namespace heddle::routing {

class LegalPaths {
 public:
  using Distance = std::uint8_t;
  /// No legal path, or one of more than 254 hops.
  static constexpr Distance far = 0xff;

  /// `active` null: all links. Graph and ranks must outlive it.
  LegalPaths(const SwitchGraph& graph, const Ranks& ranks, const LinkSet* active);

  /// Hops of the shortest path that only goes down, per destination switch.
  [[nodiscard]] std::span<const Distance> down(SwitchIndex s) const { return row(down_, s); }
  /// Hops of the path that a packet takes: down if there is such a path, otherwise up until there is.
  [[nodiscard]] std::span<const Distance> distance(SwitchIndex s) const { return row(distance_, s); }
  [[nodiscard]] Distance down(SwitchIndex s, SwitchIndex to) const {
    return down_[s.raw() * stride_ + to.raw()];
  }
  [[nodiscard]] Distance distance(SwitchIndex s, SwitchIndex to) const {
    return distance_[s.raw() * stride_ + to.raw()];
  }
  [[nodiscard]] bool goes_down(SwitchIndex s, SwitchIndex to) const { return down(s, to) != far; }

  /// Whether the hop leads to `to` legally: down where s has a way down, else up.
  [[nodiscard]] bool legal(SwitchIndex s, const Hop& hop, SwitchIndex to) const {
    const bool descends = ranks_->above(s, hop.peer);
    if (goes_down(s, to)) return descends && goes_down(hop.peer, to);
    return !descends && distance(hop.peer, to) != far;
  }
  /// legal() and one step nearer.
  [[nodiscard]] bool shortest(SwitchIndex s, const Hop& hop, SwitchIndex to) const {
    return legal(s, hop, to) && distance(hop.peer, to) + 1 == distance(s, to);
  }

  /// Destinations for which anything at a switch's neighbours or itself has changed, ascending.
  struct Affected {
    SwitchIndex sw;
    std::vector<SwitchIndex> destinations;
  };
  /// Recomputes after the links in `changed` were inserted into or erased from `active`. Returns, per switch,
  /// the destinations for which its choice of hops may differ; a switch with a changed link is there with all
  /// that the link leads to.
  std::vector<Affected> update(const LinkSet& active, std::span<const LinkIndex> changed);

 private:
  [[nodiscard]] std::span<const Distance> row(const std::vector<Distance>& matrix, SwitchIndex s) const {
    return std::span(matrix).subspan(s.raw() * stride_, graph_->size());
  }
  void make_down(SwitchIndex s, const LinkSet* active, Distance* out) const;
  void make_distance(SwitchIndex s, const LinkSet* active, Distance* out) const;
  [[nodiscard]] Distance down_now(SwitchIndex s, const LinkSet& active, SwitchIndex to) const;
  [[nodiscard]] Distance distance_now(SwitchIndex s, const LinkSet& active, SwitchIndex to) const;

  const SwitchGraph* graph_;
  const Ranks* ranks_;
  std::size_t stride_;
  std::vector<Distance> down_;
  std::vector<Distance> distance_;
};

}  // namespace heddle::routing
