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

}  // namespace heddle::plugin
