/// What OpenSM found, out of its own structures. The caller holds OpenSM's lock or is its routing thread.
#pragma once

#include "opensm_headers.h"
#include "planned/subnet.h"

namespace heddle::plugin {

[[nodiscard]] planned::SubnetRecords read_subnet(osm_subn_t& subnet);

[[nodiscard]] NodeGuid guid_of(const osm_node_t& node);
[[nodiscard]] PortRef ref_of(const osm_physp_t& port);

/// Calls `f(T&)` for each item of one of OpenSM's maps, whose items begin with their place in the map.
template <class T, class F>
void for_each(cl_qmap_t& map, F&& f) {
  for (cl_map_item_t* item = cl_qmap_head(&map); item != cl_qmap_end(&map); item = cl_qmap_next(item)) {
    f(*reinterpret_cast<T*>(item));
  }
}

[[nodiscard]] inline bool is_switch(const osm_node_t& node) {
  return osm_node_get_type(&node) == IB_NODE_TYPE_SWITCH;
}

/// A port of a switch other than port 0.
[[nodiscard]] inline bool is_outer(const osm_physp_t& port) {
  return is_switch(*port.p_node) && port.port_num != 0;
}

/// Whether the port has answered PortInfo in this sweep.
[[nodiscard]] inline bool is_heard(const osm_physp_t& port) {
  return port.p_node->physp_discovered[port.port_num] != 0;
}

/// Calls `f(osm_physp_t&)` for each port that OpenSM knows; port 0 is one of switches.
template <class F>
void for_each_port(osm_node_t& node, F&& f) {
  for (std::uint32_t p = is_switch(node) ? 0 : 1; p < node.physp_tbl_size; ++p) {
    if (osm_physp_t* port = osm_node_get_physp_ptr(&node, p)) f(*port);
  }
}

}  // namespace heddle::plugin
