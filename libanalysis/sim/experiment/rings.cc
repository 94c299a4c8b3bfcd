#include "sim/experiment/rings.h"

#include <functional>
#include <numeric>

namespace heddle::packet {

Result<std::vector<RingHop>> torus_rings(const Fabric& fabric, const GridSpec& spec) {
  const std::size_t switches =
      std::accumulate(spec.size.begin(), spec.size.end(), std::size_t{1}, std::multiplies<>{});
  if (fabric.switch_count() != switches) {
    return fail(ErrorCode::Invalid, "rings: the fabric has another number of switches than its torus");
  }
  std::vector<RingHop> rings(fabric.ports().size());
  std::size_t place = 0;  // switches come in the order of their coordinates, the last running fastest
  for (const Node& node : fabric.nodes()) {
    if (node.type != NodeType::Switch) continue;
    std::size_t stride = switches;
    for (std::size_t d = 0; d < spec.size.size(); ++d) {
      stride /= spec.size[d];
      const std::size_t at = place / stride % spec.size[d];
      const std::size_t first = spec.hosts + 2 * d * spec.links + 1;
      for (std::size_t k = 0; k < 2 * std::size_t{spec.links}; ++k) {
        const bool onward = k < spec.links;
        if (first + k > node.port_count)
          return fail(ErrorCode::Invalid, "rings: a switch lacks ports of its torus");
        RingHop& hop = rings[node.first_port.raw() + first + k];
        hop.ring = static_cast<std::uint8_t>(2 * d + (onward ? 0 : 1));
        hop.date_line = onward ? at + 1 == spec.size[d] : at == 0;
      }
    }
    ++place;
  }
  return rings;
}

}  // namespace heddle::packet
