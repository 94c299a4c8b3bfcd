#include "sim/dead_ends.h"

#include "sim/model.h"

namespace heddle::sim {
namespace {

constexpr std::size_t ports_per_position = 16;

[[nodiscard]] bool joins_switches(const Model& model, PortIndex port) {
  const PortIndex peer = model.wires[port.raw()].peer;
  return peer != no_port && model.node_of(peer).type == NodeType::Switch;
}

/// The link between two switches is there and not Active at both ends.
[[nodiscard]] bool is_dead_end(const Model& model, const NodeState& node, std::size_t num) {
  if (num == 0 || num > node.port_count) return false;
  const PortIndex port = model.port_of(node, PortNum{static_cast<std::uint8_t>(num)});
  if (!joins_switches(model, port)) return false;
  const Wire& wire = model.wires[port.raw()];
  return !wire.active || !model.wires[wire.peer.raw()].active;
}

[[nodiscard]] bool is_held(const Model& model, std::size_t lid) {
  return lid < model.by_lid.size() && model.by_lid[lid] != no_port;
}

}  // namespace

DeadEnds entries_over(const Model& model, const NodeState& node, PortNum port) {
  DeadEnds found;
  if (node.type != NodeType::Switch || port == PortNum{0} ||
      !joins_switches(model, model.port_of(node, port))) {
    return found;
  }
  for (std::size_t lid = 0; lid < node.lft.size(); ++lid) {
    if (node.lft[lid] == port && is_held(model, lid)) ++found.unicast;
  }
  if (node.mft.empty()) return found;
  const auto row = node.mft.begin() + static_cast<std::ptrdiff_t>(port.raw() / ports_per_position * mft_lids);
  for (std::size_t i = 0; i < mft_lids; ++i) {
    const unsigned mask = row[static_cast<std::ptrdiff_t>(i)];
    found.multicast += mask >> port.raw() % ports_per_position & 1U;
  }
  return found;
}

std::uint64_t dead_ends(const Model& model, const NodeState& node, std::uint32_t number,
                        const mad::LftBlock& block) {
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < block.ports.size(); ++i) {
    const std::size_t lid = number * block.ports.size() + i;
    const bool stands = lid < node.lft.size() && node.lft[lid] == block.ports[i];
    if (!stands && is_held(model, lid) && is_dead_end(model, node, block.ports[i].raw())) ++found;
  }
  return found;
}

std::uint64_t dead_ends(const Model& model, const NodeState& node, std::size_t position, std::uint32_t number,
                        const mad::MftBlock& block) {
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < block.masks.size(); ++i) {
    const std::size_t at = position * mft_lids + number * block.masks.size() + i;
    const unsigned before = at < node.mft.size() ? node.mft[at] : 0;
    const unsigned added = block.masks[i] & ~before;
    for (std::size_t bit = 0; bit < ports_per_position; ++bit) {
      if ((added >> bit & 1U) != 0 && is_dead_end(model, node, position * ports_per_position + bit)) ++found;
    }
  }
  return found;
}

}  // namespace heddle::sim
