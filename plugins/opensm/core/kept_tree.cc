#include "core/kept_tree.h"

#include <algorithm>

namespace heddle::plugin {

bool still_good(const KeptTree& tree, const planned::Routes& routes) {
  if (!tree.whole) return false;
  const Fabric& fabric = *routes.fabric;
  return std::ranges::all_of(tree.links, [&](const LinkRef& ref) {
    const PortIndex port = fabric.find_port(ref.a);
    if (port == no_port || fabric.port(port).link == no_link) return false;
    const LinkIndex link = fabric.port(port).link;
    return routes.permitted.contains(link) && link_ref(fabric, fabric.link(link)) == ref;
  });
}

}  // namespace heddle::plugin
