#include "authority/known_fabric.h"

namespace heddle::authority {

std::vector<PortRef> disabled_ports(const Fabric& fabric) {
  std::vector<PortRef> ports;
  for (std::uint32_t i = 0; i < fabric.ports().size(); ++i) {
    const Port& port = fabric.ports()[i];
    const bool external = port.num != PortNum{0} && fabric.node(port.node).type == NodeType::Switch;
    if (external && port.physical == PhysState::Disabled) ports.push_back(fabric.ref(PortIndex{i}));
  }
  return ports;
}

}  // namespace heddle::authority
