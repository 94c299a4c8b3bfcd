#include "unit/fabric/same_fabric.h"

#include <fmt/format.h>

#include <tuple>

namespace heddle {
namespace {

auto parts(const Node& n) {
  return std::tie(n.guid, n.type, n.port_count, n.enhanced_port0, n.aggregation, n.vendor_id, n.device_id,
                  n.system_image_guid, n.description);
}
auto parts(const Link& l) { return std::tie(l.a, l.b, l.width, l.speed); }

}  // namespace

std::string first_difference(const Fabric& a, const Fabric& b) {
  if (a.nodes().size() != b.nodes().size()) {
    return fmt::format("{} nodes and {}", a.nodes().size(), b.nodes().size());
  }
  for (std::size_t n = 0; n < a.nodes().size(); ++n) {
    if (parts(a.nodes()[n]) != parts(b.nodes()[n])) {
      return fmt::format("node {}: {} and {}", n, a.nodes()[n].description, b.nodes()[n].description);
    }
  }
  for (std::uint32_t p = 0; p < a.ports().size(); ++p) {
    const Port& x = a.ports()[p];
    const Port& y = b.ports()[p];
    if (x.link != y.link) return fmt::format("the cable in {}", to_string(a.ref(PortIndex{p})));
    const bool addressed = x.num == PortNum{0} || x.link != no_link;
    if (!addressed) continue;
    if (std::tie(x.lid, x.lmc, x.guid) != std::tie(y.lid, y.lmc, y.guid)) {
      return fmt::format("LID or GUID of {}", to_string(a.ref(PortIndex{p})));
    }
    if (x.num != PortNum{0} && std::tie(x.width, x.speed) != std::tie(y.width, y.speed)) {
      return fmt::format("rate of {}", to_string(a.ref(PortIndex{p})));
    }
  }
  if (a.links().size() != b.links().size()) {
    return fmt::format("{} links and {}", a.links().size(), b.links().size());
  }
  for (std::size_t l = 0; l < a.links().size(); ++l) {
    if (parts(a.links()[l]) != parts(b.links()[l])) return fmt::format("link {}", l);
  }
  return {};
}

}  // namespace heddle
