#include "power/cages.h"

namespace heddle::power {

Cages::Cages(const PowerModel& model, const Fabric& fabric, std::span<const LinkMode> modes)
    : ports_a_cage_(fabric.nodes().size(), 0) {
  std::vector<Watts> modules(fabric.nodes().size());
  for (std::size_t i = 0; i < modules.size(); ++i) {
    const Node& node = fabric.nodes()[i];
    modules[i] = model.module(node);
    if (modules[i] > Watts{}) ports_a_cage_[i] = model.find(node)->ports_a_cage;
  }
  for (std::uint32_t i = 0; i < modes.size(); ++i) {
    const Link& link = fabric.link(LinkIndex{i});
    for (const LinkEnd end : {link.a, link.b}) {
      if (ports_a_cage_[end.node.raw()] == 0) continue;
      Cage& cage = cages_[key(end)];
      cage.module = modules[end.node.raw()];
      ++cage.linked;
      cage.lit = cage.lit || modes[i].on();
    }
  }
}

std::uint64_t Cages::key(LinkEnd end) const {
  const unsigned cage = (end.port.raw() - 1U) / ports_a_cage_[end.node.raw()];
  return (std::uint64_t{end.node.raw()} << 8U) | cage;
}

Watts Cages::share(LinkEnd end) const {
  if (ports_a_cage_[end.node.raw()] == 0) return {};
  const auto cage = cages_.find(key(end));
  if (cage == cages_.end() || !cage->second.lit) return {};
  return cage->second.module / cage->second.linked;
}

}  // namespace heddle::power
