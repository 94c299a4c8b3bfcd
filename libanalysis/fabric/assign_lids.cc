#include <fmt/format.h>

#include <cstdint>
#include <vector>

#include "fabric/generators.h"

namespace heddle {
namespace {

/// Base LIDs in node order. Switches first would waste less, but a reader expects the order of the file.
class LidCounter {
 public:
  /// Nothing if the unicast LIDs are used up.
  Lid take(std::uint8_t lmc) {
    const std::uint32_t block = 1U << lmc;
    const std::uint32_t base = (next_ + block - 1) / block * block;
    if (base + block - 1 > last_unicast_lid.raw()) return no_lid;
    next_ = base + block;
    return Lid{static_cast<std::uint16_t>(base)};
  }

 private:
  std::uint32_t next_ = 1;
};

bool has_lid(const Node& node, PortNum port) {
  return (node.type == NodeType::Switch) == (port == PortNum{0});
}

}  // namespace

Result<std::shared_ptr<const Fabric>> assign_lids(const Fabric& fabric, std::uint8_t lmc) {
  if (lmc > 7) return fail(ErrorCode::Invalid, fmt::format("LMC {}: 0 to 7 is possible", lmc));
  FabricBuilder builder;
  LidCounter lids;
  for (const Node& node : fabric.nodes()) {
    const auto index = builder.add_node(node);
    if (!index) return fail(index.error());
    for (unsigned p = 0; p <= node.port_count; ++p) {
      Port port = fabric.port(PortIndex{node.first_port.raw() + p});
      const bool cabled = port.link != no_link;
      if (cabled) {
        port.state = PortState::Active;
        port.physical = PhysState::LinkUp;
      }
      const bool is_switch = node.type == NodeType::Switch;
      if (has_lid(node, port.num) && (is_switch || cabled)) {
        port.lmc = is_switch ? std::uint8_t{0} : lmc;
        port.lid = lids.take(port.lmc);
        if (port.lid == no_lid) {
          return fail(ErrorCode::Invalid,
                      fmt::format("LMC {} and {} nodes need more than the {} unicast LIDs", lmc,
                                  fabric.nodes().size(), last_unicast_lid.raw()));
        }
      }
      if (auto set = builder.set_port(*index, port); !set) return fail(set.error());
    }
  }
  for (const Link& link : fabric.links()) {
    const auto added = builder.add_link(link.a, link.b, link.width, link.speed);
    if (!added) return fail(added.error());
  }
  return builder.build(fabric.epoch() + 1);
}

}  // namespace heddle
