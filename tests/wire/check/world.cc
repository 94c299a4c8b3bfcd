#include "check/world.h"

#include <algorithm>
#include <stdexcept>

namespace wire {
namespace {

/// A switch without a route for a LID (IBA 18.2.4.3.3).
constexpr std::uint8_t no_port = 0xff;

int group_of(std::uint32_t modifier, std::size_t entry) {
  return World::lid_limit + static_cast<int>((modifier & 0x1ffU) * 32 + entry);
}

}  // namespace

World::World(const Topology& topology, const Timing& timing)
    : topology_{topology},
      timing_{timing},
      links_(topology.cables().size()),
      owners_(lid_limit),
      lfts_(topology.switches().size()) {}

void World::learn_lid(End port, int lid, int lmc, Time asked) {
  if (lid >= lid_limit) lid = 0;
  PortLids& known = port_lids_[port];
  const int count = lid == 0 ? 0 : 1 << lmc;
  if (asked < known.asked) return;
  known.asked = asked;
  if (known.base == lid && known.count == count) return;
  const auto change = [&](int from, int number, End now, End before) {
    for (int each = from; each < from + number && each < lid_limit; ++each) {
      if (!(owner(each) == before) && before.node >= 0) continue;  // another port has it meanwhile
      owners_[static_cast<std::size_t>(each)] = now;
      if (now.node >= 0)
        lids_.insert(each);
      else
        lids_.erase(each);
      changes_.lids.insert(each);
    }
  };
  change(known.base, known.count, End{}, port);
  known.base = lid;
  known.count = count;
  change(lid, count, port, End{});
}

int World::base_lid(int lid) const {
  const auto found = port_lids_.find(owner(lid));
  return found == port_lids_.end() ? lid : found->second.base;
}

TableBlock& World::block(const BlockAt& at) {
  if (at.is_multicast) {
    auto& place = mfts_[at];
    if (!place) place = std::make_unique<TableBlock>(TableBlock::Width::Mft, timing_, handed_on_);
    return *place;
  }
  auto& table = lfts_[static_cast<std::size_t>(at.switch_number)];
  if (table.size() <= at.number) table.resize(at.number + 1);
  auto& place = table[at.number];
  if (!place) place = std::make_unique<TableBlock>(TableBlock::Width::Lft, timing_, handed_on_);
  return *place;
}

void World::update(const BlockAt& at, Time now) {
  TableBlock& changed = block(at);
  for (const std::size_t entry : changed.update(now)) {
    if (at.is_multicast)
      changes_.groups.insert(group_of(at.number, entry));
    else
      changes_.lids.insert(static_cast<int>(at.number * block_bytes + entry));
  }
  if (const Time next = changed.next_expiry()) expiries_.emplace(next, at);
}

void World::expire(Time now) {
  while (!expiries_.empty() && std::get<0>(expiries_.top()) <= now) {
    const BlockAt at = std::get<1>(expiries_.top());
    expiries_.pop();
    update(at, now);
  }
}

void World::link_changed(int cable) {
  changes_.links = true;
  const Cable& ends = topology_.cable(cable);
  for (const End end : {ends.a, ends.b}) {
    if (!topology_.is_switch(end.node)) {
      changes_.hosts = true;
      const auto lids = port_lids_.find(end);
      if (lids == port_lids_.end()) continue;
      for (int lid = lids->second.base; lid < lids->second.base + lids->second.count; ++lid)
        changes_.lids.insert(lid);
    }
    const int number = topology_.node(end.node).switch_number;
    if (number < 0) continue;
    const auto leads_there = [&](const Candidate& each) { return each.value == end.port; };
    for (const int lid : lids_) {
      const auto* const entries = entry(number, lid);
      if (entries != nullptr && std::any_of(entries->begin(), entries->end(), leads_there))
        changes_.lids.insert(lid);
    }
    for (const auto& [at, block] : mfts_) {
      if (at.switch_number != number || static_cast<int>(at.number >> 28U) != end.port / 16) continue;
      for (std::size_t i = 0; i < block_bytes / 2; ++i)
        for (const Candidate& each : block->entry(i))
          if ((each.value >> (end.port % 16) & 1) != 0) changes_.groups.insert(group_of(at.number, i));
    }
  }
}

void World::cut_node(int node, bool dead, Time now) {
  for (int p = 1; p <= topology_.node(node).ports; ++p) {
    const int cable = topology_.cable_at({node, p});
    if (cable < 0) continue;
    Link& link = links_[static_cast<std::size_t>(cable)];
    dead ? link.cut(now) : link.mended(now);
    link_changed(cable);
  }
}

/// A switch starts with all ports enabled.
void World::forget_disabled(int node) {
  std::erase_if(disabled_, [&](End port) { return port.node == node; });
}

void World::forget_tables(int node, Time now) {
  const int number = topology_.node(node).switch_number;
  if (number < 0) return;
  for (std::uint32_t i = 0; i < lfts_[static_cast<std::size_t>(number)].size(); ++i) {
    const BlockAt at{number, false, i};
    block(at).forget(no_port, now);
    update(at, now);
  }
  for (auto& [at, block] : mfts_) {
    if (at.switch_number != number) continue;
    block->forget(0, now);
    update(at, now);
  }
}

void World::begin(const Command& command) {
  const auto node = topology_.by_name(command.node);
  if (!node) throw std::runtime_error("a command names " + command.node + ", which is not in the fabric");
  const Time now = command.begin;
  changes_.faults = true;
  if (command.what == "kill" || command.what == "lose") {
    cut_node(*node, true, now);
    changes_.dead.insert(*node);
    dead_.insert(topology_.node(*node).switch_number);
    if (command.what == "kill") {
      forget_tables(*node, now);
      forget_disabled(*node);
    }
  } else if (command.what == "revive") {
    cut_node(*node, false, now);
    dead_.erase(topology_.node(*node).switch_number);
    forget_tables(*node, now);  // what was sent to it meanwhile, too
    forget_disabled(*node);
  } else {
    const int cable = topology_.cable_at({*node, command.port});
    if (cable < 0) throw std::runtime_error("a command names a port without a cable");
    Link& link = links_[static_cast<std::size_t>(cable)];
    if (command.what == "cut") link.cut(now);
    if (command.what == "mend") link.mended(now);
    if (command.what == "forced") link.force(true);
    if (command.what == "unforced") link.force(false);
    link_changed(cable);
  }
}

const std::vector<Candidate>* World::entry(int switch_number, int lid) const {
  const auto& table = lfts_[static_cast<std::size_t>(switch_number)];
  const std::size_t number = static_cast<std::size_t>(lid) / block_bytes;
  if (number >= table.size() || !table[number]) return nullptr;
  return &table[number]->entry(static_cast<std::size_t>(lid) % block_bytes);
}

bool World::is_unknown(int switch_number, int lid) const {
  const auto& table = lfts_[static_cast<std::size_t>(switch_number)];
  const std::size_t number = static_cast<std::size_t>(lid) / block_bytes;
  return number >= table.size() || !table[number] || table[number]->is_unknown();
}

const std::vector<Candidate>* World::mask(int switch_number, int group, int position) const {
  const std::uint32_t offset = static_cast<std::uint32_t>(group - lid_limit);
  const auto found =
      mfts_.find({switch_number, true, static_cast<std::uint32_t>(position) << 28U | offset / 32});
  return found == mfts_.end() ? nullptr : &found->second->entry(offset % 32);
}

bool World::has_ends(int switch_number, Ends which) const {
  const int node = topology_.switches()[static_cast<std::size_t>(switch_number)];
  for (int p = 1; p <= topology_.node(node).ports; ++p) {
    const End peer = topology_.peer({node, p});
    if (peer.node < 0 || topology_.is_switch(peer.node)) continue;
    if (which == Ends::Hosts && topology_.is_aggregation(peer.node)) continue;
    if (link(topology_.cable_at({node, p})).is_usable()) return true;
  }
  return false;
}

}  // namespace wire
