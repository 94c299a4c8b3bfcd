// What it writes into switches: forwarding tables, block by block, and the tables of groups.

#include <algorithm>
#include <span>
#include <utility>

#include "support/opensm/scripted_opensm.h"

namespace heddle::test {
namespace {

using Routing = RoutingEngine::Routing;

constexpr std::size_t block_size = routing::lids_per_block;

}  // namespace

void ScriptedOpenSm::route(Routing how) {
  const auto tables = engine_->route();
  if (!tables) {
    errors_ = true;
    return done();
  }
  for (std::uint32_t s = 0; s < tables->switch_count(); ++s) {
    const auto found = tables_.find(tables->switches()[s]);
    if (found == tables_.end()) continue;
    const auto row = tables->row(routing::SwitchIndex{s});
    found->second.wanted.assign(row.begin(), row.end());
    write_switch_info(description_.find_node(found->first), false);
  }
  after(options_.step, [this, how] { write_block(0, how); });
}

/// To all switches at once that have not confirmed it yet.
void ScriptedOpenSm::write_block(std::size_t number, Routing how) {
  std::vector<Request> requests;
  bool more = false;
  for (auto& [guid, table] : tables_) {
    const std::size_t first = number * block_size;
    if (first >= table.wanted.size()) continue;
    more = true;
    const auto wanted = std::span(table.wanted).subspan(first, block_size);
    if (table.has.size() >= first + block_size &&
        std::ranges::equal(std::span(table.has).subspan(first, block_size), wanted))
      continue;
    // By name: C++20 takes structured bindings, clang++ 14 does not yet.
    requests.emplace_back([this, guid = guid, first] {
      const NodeIndex node = description_.find_node(guid);
      Table& written = tables_.at(guid);
      mad::LftBlock block;
      for (std::size_t i = 0; i < block_size; ++i) block.ports[i] = PortNum{written.wanted[first + i]};
      mad::Bytes smp{};
      mad::encode(block, mad::smp_data(smp));
      if (!set(node, description_.node(node).first_port, mad::SmAttr::LinearForwardingTable,
               static_cast<std::uint32_t>(first / block_size), smp))
        return false;
      if (written.has.size() < first + block_size) written.has.resize(first + block_size, no_path.raw());
      std::copy_n(written.wanted.begin() + static_cast<std::ptrdiff_t>(first), block_size,
                  written.has.begin() + static_cast<std::ptrdiff_t>(first));
      ++blocks_written_;
      return true;
    });
  }
  if (!more) return written(how);
  send(std::move(requests), [this, number, how] { write_block(number + 1, how); });
}

void ScriptedOpenSm::written(Routing how) {
  engine_->routed(how);
  if (how == Routing::Reroute) return done();
  std::vector<Lid> all;
  for (const auto& [group, members] : groups_) all.push_back(group);
  groups_asked_.clear();
  write_groups(all, [this] { raise(PortState::Armed); });
}

std::vector<std::uint8_t> ScriptedOpenSm::read_table(NodeGuid guid) const {
  const NodeIndex node = description_.find_node(guid);
  std::vector<std::uint8_t> row;
  if (!answers(node)) return row;
  for (const PortNum port : fabric_.forwarding_table(node)) row.push_back(port.raw());
  row.resize((row.size() + block_size - 1) / block_size * block_size, no_path.raw());
  return row;
}

void ScriptedOpenSm::write_groups(const std::vector<Lid>& groups, std::function<void()> then) {
  for (const Lid group : groups) {
    for (auto& [node, table] : group_tables_) table.erase(group);
    for (const PortRef& port : engine_->tree(group, groups_[group])) {
      const NodeIndex node = description_.find_node(port.node);
      if (is_in_sight(port.node)) group_tables_[node][group].set(port.port.raw());
    }
  }
  std::vector<Request> requests;
  for (const auto& [node, way] : ways_) {
    if (!is_switch(node)) continue;
    std::set<provision::MftBlockRef> blocks;
    for (const Lid group : groups) {
      for (unsigned position = 0;
           position * provision::ports_per_position <= description_.node(node).port_count; ++position) {
        blocks.insert({provision::block_number(group), static_cast<std::uint8_t>(position)});
      }
    }
    for (const provision::MftBlockRef& at : blocks) {
      const mad::MftBlock wanted = provision::block_of(group_tables_[node], at);
      const bool known = group_tables_there_.contains(node);
      if (known && provision::block_of(group_tables_there_[node], at).masks == wanted.masks) continue;
      requests.emplace_back([this, node = node, at, wanted] {
        mad::Bytes smp{};
        mad::encode(wanted, mad::smp_data(smp));
        if (!set(node, description_.node(node).first_port, mad::SmAttr::MulticastForwardingTable,
                 at.modifier(), smp))
          return false;
        provision::put_block(group_tables_there_[node], at, wanted);
        return true;
      });
    }
  }
  send(std::move(requests), std::move(then));
}

}  // namespace heddle::test
