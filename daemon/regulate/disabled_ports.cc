#include "regulate/disabled_ports.h"

#include <set>

namespace heddle::regulate {

std::vector<PortRef> not_ours(std::span<const PortRef> disabled, const regulation::Governor& governor) {
  if (disabled.empty()) return {};
  std::set<PortRef> ours;
  const auto add = [&](const LinkRef& link) { ours.insert({link.a, link.b}); };
  const regulation::Memory& memory = governor.memory();
  for (const auto& [link, off] : memory.off) add(link);
  for (const auto& [change, intent] : memory.open) {
    for (const auto& off : intent.off) add(off.link);
    for (const LinkRef& link : intent.on) add(link);
  }
  const auto reference = governor.reference();
  const auto in_hand = [&](const PortRef& ref) {
    const PortIndex port = reference ? reference->find_port(ref) : no_port;
    if (port == no_port || reference->port(port).link == no_link) return false;
    return governor.state(reference->port(port).link) != regulation::LinkState::Lost;
  };
  std::vector<PortRef> others;
  for (const PortRef& port : disabled) {
    if (!ours.contains(port) && !in_hand(port)) others.push_back(port);
  }
  return others;
}

}  // namespace heddle::regulate
