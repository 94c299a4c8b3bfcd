// The tables of a node: forwarding, SL to VL, arbitration, P_Keys, GUIDs (IBA 14.2.5.5 - 14.2.5.13).

#include <algorithm>

#include "mad/header.h"
#include "sim/sma.h"

namespace heddle::sim {
namespace {

namespace status = mad::status;

constexpr std::size_t lids_per_block = 64;
constexpr std::size_t keys_per_block = 32;
constexpr std::size_t entries_per_block = 32;
constexpr std::uint16_t default_p_key = 0xffff;

/// OptimizedSLtoVLMappingProgramming: the modifier means all input or all output ports.
constexpr std::uint32_t all_inputs = 1U << 17U;
constexpr std::uint32_t all_outputs = 1U << 16U;

}  // namespace

std::uint16_t Sma::forwarding_table(Request& request) {
  NodeState& node = model_.nodes[request.index.raw()];
  if (node.type != NodeType::Switch) return status::bad_method_attribute;
  const std::size_t first = std::size_t{request.header.modifier} * lids_per_block;
  if (request.header.modifier >= linear_fdb_cap / lids_per_block) return status::bad_field;
  if (request.set) {
    if (node.lft.size() < first + lids_per_block) node.lft.resize(first + lids_per_block, no_path);
    const auto block = mad::decode<mad::LftBlock>(request.data);
    model_.dead_ends.unicast += dead_ends(model_, node, request.header.modifier, block);
    const auto own = node.lft.begin() + static_cast<std::ptrdiff_t>(first);
    if (!std::equal(block.ports.begin(), block.ports.end(), own)) {
      std::copy(block.ports.begin(), block.ports.end(), own);
      model_.changed(Change{Change::Kind::ForwardingTable, request.index, no_port, request.header.modifier},
                     request.now);
    }
    return status::ok;
  }
  mad::LftBlock block;
  block.ports.fill(no_path);
  for (std::size_t i = 0; i < lids_per_block && first + i < node.lft.size(); ++i) {
    block.ports[i] = node.lft[first + i];
  }
  mad::encode(block, request.data);
  return status::ok;
}

std::uint16_t Sma::multicast_table(Request& request) {
  NodeState& node = model_.nodes[request.index.raw()];
  if (node.type != NodeType::Switch) return status::bad_method_attribute;
  const std::size_t block_number = request.header.modifier & 0x1ffU;
  const std::size_t position = request.header.modifier >> 28U;
  const std::size_t positions = node.port_count / 16U + 1U;
  if (block_number >= mft_lids / entries_per_block || position >= positions) return status::bad_field;
  const std::size_t first = position * mft_lids + block_number * entries_per_block;
  mad::MftBlock block;
  if (request.set) {
    if (node.mft.empty()) node.mft.resize(positions * mft_lids);
    block = mad::decode<mad::MftBlock>(request.data);
    model_.dead_ends.multicast +=
        dead_ends(model_, node, position, static_cast<std::uint32_t>(block_number), block);
    const auto own = node.mft.begin() + static_cast<std::ptrdiff_t>(first);
    if (!std::equal(block.masks.begin(), block.masks.end(), own)) {
      std::copy(block.masks.begin(), block.masks.end(), own);
      model_.changed(Change::Kind::MulticastTable, request.index, no_port, request.now);
    }
  } else if (!node.mft.empty()) {
    std::copy_n(node.mft.begin() + static_cast<std::ptrdiff_t>(first), block.masks.size(),
                block.masks.begin());
  }
  mad::encode(block, request.data);
  return status::ok;
}

std::uint16_t Sma::sl_to_vl(Request& request) {
  NodeState& node = model_.nodes[request.index.raw()];
  const std::size_t ports = node.port_count + 1U;
  const bool is_switch = node.type == NodeType::Switch;
  const std::uint32_t modifier = request.header.modifier;
  // A channel adapter has one table per port, kept as that of input 0.
  const std::size_t in = is_switch ? modifier >> 8U & 0xffU : 0;
  const std::size_t out = is_switch ? modifier & 0xffU : model_.wires[request.arrival.at.raw()].num.raw();
  if (in >= ports || out >= ports) return status::bad_field;
  if (request.set) {
    if (node.sl_to_vl.empty()) {
      node.sl_to_vl.resize((is_switch ? ports : 1U) * ports);
      for (std::size_t i = 0; i < node.sl_to_vl.size(); ++i) {
        const PortNum to{static_cast<std::uint8_t>(i % ports)};
        const std::uint8_t vls = model_.info(model_.port_of(node, to)).operational_vls;
        for (std::uint8_t sl = 0; sl < 16; ++sl) node.sl_to_vl[i][sl] = default_vl(Sl{sl}, vls);
      }
    }
    const auto table = mad::decode<mad::SlToVlTable>(request.data);
    const bool every_in = is_switch && (modifier & all_inputs) != 0;
    const bool every_out = is_switch && (modifier & all_outputs) != 0;
    bool differs = false;
    for (std::size_t i = every_in ? 0 : in; i <= (every_in ? ports - 1 : in); ++i) {
      for (std::size_t o = every_out ? 0 : out; o <= (every_out ? ports - 1 : out); ++o) {
        SlToVl& own = node.sl_to_vl[i * ports + o];
        differs = differs || own != table.vl;
        own = table.vl;
      }
    }
    if (differs) model_.changed(Change::Kind::SlToVl, request.index, no_port, request.now);
    return status::ok;
  }
  mad::SlToVlTable table;
  const PortNum from{static_cast<std::uint8_t>(in)};
  const PortNum to{static_cast<std::uint8_t>(out)};
  for (std::uint8_t sl = 0; sl < 16; ++sl) table.vl[sl] = model_.vl(node, from, to, Sl{sl});
  mad::encode(table, request.data);
  return status::ok;
}

std::uint16_t Sma::vl_arbitration(Request& request) {
  const NodeState& node = model_.nodes[request.index.raw()];
  const bool is_switch = node.type == NodeType::Switch;
  const PortIndex port = is_switch ? meant(request, request.header.modifier & 0xffffU) : request.arrival.at;
  const std::uint32_t block_number = request.header.modifier >> 16U;
  if (port == no_port || block_number < 1 || block_number > 4) return status::bad_field;
  const mad::PortInfo& own = model_.info(port);
  const bool high = block_number > 2;
  const std::size_t first = (block_number - 1) % 2 * entries_per_block;
  const std::size_t cap = high ? own.vl_arb_high_cap : own.vl_arb_low_cap;
  if (first >= cap) return status::bad_field;

  const auto found = model_.arbitrations.find(port);
  VlArbitration tables = found != model_.arbitrations.end() ? found->second : default_arbitration(own);
  auto& table = high ? tables.high : tables.low;
  const std::size_t count = std::min(entries_per_block, cap - first);
  mad::VlArbBlock block;
  if (request.set) {
    block = mad::decode<mad::VlArbBlock>(request.data);
    std::copy_n(block.entries.begin(), count, table.begin() + static_cast<std::ptrdiff_t>(first));
    model_.arbitrations[port] = tables;
    model_.changed(Change::Kind::VlArbitration, request.index, port, request.now);
  }
  block = {};
  std::copy_n(table.begin() + static_cast<std::ptrdiff_t>(first), count, block.entries.begin());
  mad::encode(block, request.data);
  return status::ok;
}

std::uint16_t Sma::p_key_table(Request& request) {
  const NodeState& node = model_.nodes[request.index.raw()];
  const bool is_switch = node.type == NodeType::Switch;
  const unsigned number = is_switch ? request.header.modifier >> 16U : 0U;
  const PortIndex port = meant(request, number);
  if (port == no_port) return status::bad_field;
  const std::size_t size =
      is_switch && number != 0 ? node.switch_info.partition_enforcement_cap : std::size_t{p_keys_per_port};
  const std::size_t first = std::size_t{request.header.modifier & 0xffffU} * keys_per_block;
  if (first >= size) return status::bad_field;

  mad::PKeyBlock block;
  const auto found = model_.p_keys.find(port);
  if (request.set) {
    block = mad::decode<mad::PKeyBlock>(request.data);
    auto& keys = model_.p_keys[port];
    if (keys.empty()) keys.resize(p_keys_per_port);
    std::copy(block.keys.begin(), block.keys.end(), keys.begin() + static_cast<std::ptrdiff_t>(first));
  } else if (found != model_.p_keys.end()) {
    std::copy_n(found->second.begin() + static_cast<std::ptrdiff_t>(first), keys_per_block,
                block.keys.begin());
  } else if (first == 0) {
    block.keys[0] = default_p_key;
  }
  mad::encode(block, request.data);
  return status::ok;
}

std::uint16_t Sma::guid_info(Request& request) {
  if (request.header.modifier != 0) return status::bad_field;
  const PortIndex port = request.arrival.at;
  mad::GuidInfoBlock block;
  if (request.set) {
    block = mad::decode<mad::GuidInfoBlock>(request.data);
    model_.guids[port] = block.guids;
  } else if (const auto found = model_.guids.find(port); found != model_.guids.end()) {
    block.guids = found->second;
  }
  block.guids[0] = model_.port_guid(port).raw();
  mad::encode(block, request.data);
  return status::ok;
}

}  // namespace heddle::sim
