/// Directed routes for nodes that have been asked in vain. OpenSM reaches a node by the route on which it
/// found it; where a cable or a switch of that route has died since, all behind it are silent although other
/// ways lead there.
#pragma once

#include <map>
#include <optional>
#include <span>

#include "opensm_headers.h"

namespace heddle::plugin {

/// With OpenSM's lock, for as long as the object lives.
class OtherRoutes {
 public:
  /// From OpenSM's own port over links that this sweep has found up, past cables and switches on the routes
  /// of questions `in_vain`: each counts as often as it was passed, so that what all share, which may be
  /// what has died, weighs most. Dijkstra's algorithm.
  OtherRoutes(osm_subn_t& subnet, std::span<const osm_dr_path_t> in_vain);

  struct Route {
    osm_dr_path_t path;
    osm_physp_t* last;  ///< the neighbour's port, which leads to the node
  };
  /// To a switch. Nothing where no link leads there, or the way found has more hops than a directed route
  /// may have (IBA 14.2.1.2).
  [[nodiscard]] std::optional<Route> to(const osm_node_t& node) const;
  /// To a switch: whether by another one than OpenSM has at present.
  [[nodiscard]] bool lead_elsewhere(osm_node_t& node) const;
  /// To a port of a host, by its cable.
  [[nodiscard]] std::optional<Route> to(const osm_physp_t& port) const;

 private:
  struct Cost {
    unsigned passed_in_vain = 0;
    unsigned hops = 0;
    auto operator<=>(const Cost&) const = default;
  };
  struct Step {
    Cost cost;
    osm_physp_t* last = nullptr;
  };

  void count(const osm_dr_path_t& in_vain);
  void search();
  [[nodiscard]] unsigned passed_in_vain(const osm_physp_t& port) const;
  [[nodiscard]] std::optional<osm_dr_path_t> path_to(const osm_node_t& node) const;

  osm_physp_t* own_ = nullptr;
  std::map<const osm_physp_t*, unsigned> cables_in_vain_;  ///< by both ends
  std::map<const osm_node_t*, unsigned> switches_in_vain_;
  std::map<const osm_node_t*, Step> steps_;
};

}  // namespace heddle::plugin
