/// Questions to nodes in the name of OpenSM's discovery: its own handlers take the answers, and ask for what
/// follows from them. All with OpenSM's lock; nothing waits here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "opensm_headers.h"
#include "other_routes.h"

namespace heddle::plugin {

class Questions {
 public:
  /// A node is asked one thing first, and then all that is missing.
  static constexpr std::size_t at_first = 1;
  static constexpr std::size_t without_limit = SIZE_MAX;

  explicit Questions(osm_opensm_t& opensm) : opensm_{opensm} {}

  // How many requests were sent.

  /// For what is missing of so many ports at most; a switch that is not known well enough by its neighbours.
  std::size_t ask(osm_node_t& node, std::size_t most);
  /// Anew, by other routes; as at first where there are none.
  std::size_t ask_by(const OtherRoutes& routes, osm_node_t& node);
  /// For the NodeInfo of the port's node, by its cable.
  std::size_t ask_node_info(osm_physp_t& port);
  /// For the NodeInfo of whoever is at the other end of this port's cable.
  std::size_t ask_behind(osm_physp_t& port);
  /// For the PortInfo of an outer port of a switch.
  std::size_t ask_port_info(osm_physp_t& port);

  /// The port at the other end of its cable, if this sweep has been there, found the link up, and can go on
  /// from it; null else.
  [[nodiscard]] osm_physp_t* way_to(const osm_physp_t& port) const;
  /// Of all that was asked since they were taken last.
  [[nodiscard]] std::vector<osm_dr_path_t> take_routes();

 private:
  std::size_t ask_node_info(const osm_physp_t& last, const osm_dr_path_t& path);
  std::size_t ask_pkeys(osm_physp_t& port);

  osm_opensm_t& opensm_;
  std::vector<osm_dr_path_t> routes_;
};

}  // namespace heddle::plugin
