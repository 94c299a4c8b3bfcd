/// Directed routes for nodes that have been asked in vain. OpenSM reaches a node by the route on which it
/// found it; where a cable of that route has been cut since, all behind it are silent although other ways
/// lead there.
#pragma once

#include <map>
#include <optional>
#include <span>

#include "opensm_headers.h"

namespace heddle::plugin {

/// With OpenSM's lock, for as long as the object lives.
class OtherRoutes {
 public:
  /// From OpenSM's own port over links that this sweep has found up, as few as possible of those on which
  /// `in_vain` have been asked: each counts as often as it was used, so that the one which all share, as that
  /// one may be cut, weighs most. Dijkstra's algorithm.
  OtherRoutes(osm_subn_t& subnet, std::span<osm_node_t* const> in_vain);

  struct Route {
    osm_dr_path_t path;
    osm_physp_t* last;  ///< of the neighbour, which leads to the node
  };
  /// Nothing where no link leads there, or only over more hops than a directed route has (IBA 14.2.1.2).
  [[nodiscard]] std::optional<Route> to(const osm_node_t& node) const;

 private:
  struct Cost {
    unsigned used_in_vain = 0;
    unsigned hops = 0;
    auto operator<=>(const Cost&) const = default;
  };
  struct Step {
    Cost cost;
    osm_physp_t* last = nullptr;
  };

  void count(osm_node_t& in_vain);
  void search();

  const osm_physp_t* own_ = nullptr;
  std::map<const osm_physp_t*, unsigned> used_in_vain_;
  std::map<const osm_node_t*, Step> steps_;
};

}  // namespace heddle::plugin
