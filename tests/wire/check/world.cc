#include "check/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace wire {
namespace {

// IBA 13.4.5, 14.2.5
constexpr std::uint8_t method_get = 0x01;
constexpr std::uint8_t method_set = 0x02;
constexpr std::uint8_t method_answer = 0x81;
constexpr std::uint8_t class_directed = 0x81;
constexpr std::uint16_t attribute_port_info = 0x0015;
constexpr std::uint16_t attribute_lft = 0x0019;
constexpr std::uint16_t attribute_mft = 0x001b;

// PortInfo, IBA 14.2.5.6
constexpr std::size_t lid_offset = 16;
constexpr std::size_t state_offset = 32;  ///< lower half: PortState
constexpr std::size_t phys_offset = 33;   ///< upper half: PortPhysicalState
constexpr std::size_t lmc_offset = 34;    ///< lowest three bits
constexpr unsigned state_down = 1;
constexpr unsigned state_armed = 3;
constexpr unsigned state_active = 4;
constexpr unsigned phys_sleep = 1;
constexpr unsigned phys_polling = 2;
constexpr unsigned phys_disabled = 3;

// libumad2sim's control messages
constexpr std::uint32_t control_node_info = 7;
constexpr std::size_t control_type_offset = 8;
constexpr std::size_t control_data_offset = 16;

/// A switch without a route for a LID (IBA 18.2.4.3.3).
constexpr std::uint8_t no_port = 0xff;

std::uint64_t u64(const std::uint8_t* at) {
  std::uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value = value << 8 | at[i];
  return value;
}

unsigned state_of(const Mad& mad) { return mad.data[state_offset] & 0x0fU; }
unsigned phys_of(const Mad& mad) { return mad.data[phys_offset] >> 4U; }

int group_of(std::uint32_t modifier, std::size_t entry) {
  return World::lid_limit + static_cast<int>((modifier & 0x1ffU) * 32 + entry);
}

std::string describe(std::uint16_t attribute, std::uint32_t modifier, const Mad& mad) {
  static constexpr const char* states[]{"-", "Down", "Init", "Armed", "Active"};
  switch (attribute) {
    case attribute_lft:
      return fmt::format("LFT block {}", modifier);
    case attribute_mft:
      return fmt::format("MFT block {} position {}", modifier & 0x1ffU, modifier >> 28U);
    case attribute_port_info:
      return fmt::format("PortInfo {} state {} physical {}", modifier & 0xffU,
                         state_of(mad) <= state_active ? states[state_of(mad)] : "?", phys_of(mad));
    default:
      return fmt::format("attribute {:#x} {:#x}", attribute, modifier);
  }
}

}  // namespace

World::World(const Topology& topology, const Timing& timing)
    : topology_{topology},
      timing_{timing},
      links_(topology.cables().size()),
      owners_(lid_limit),
      lfts_(topology.switches().size()) {}

void World::apply(std::size_t index, const Record& record) {
  if (record.kind == Kind::ControlReceived) return control(record);
  if (!is_smp(record)) return;
  const Mad mad = parse(record);
  if (record.kind == Kind::Sent && (mad.method == method_get || mad.method == method_set))
    request(index, record, mad);
  if (record.kind == Kind::Received && (mad.method == method_answer || mad.timed_out))
    answer(index, record, mad);
}

void World::control(const Record& record) {
  if (record.bytes.size() < control_data_offset + block_bytes) return;
  std::uint32_t type = 0;
  std::memcpy(&type, record.bytes.data() + control_type_offset, sizeof type);
  if (type != control_node_info) return;
  // NodeInfo, IBA 14.2.5.3: NodeGUID, LocalPortNum
  const std::uint8_t* const info = record.bytes.data() + control_data_offset;
  const auto node = topology_.by_guid(u64(info + 12));
  if (node) origins_[record.process] = {*node, info[36]};
}

End World::target_of(int process, const Mad& mad) const {
  if (mad.mgmt_class != class_directed) {
    const End owner = mad.dlid < lid_limit ? owners_[mad.dlid] : End{};
    return owner;
  }
  const auto origin = origins_.find(process);
  if (origin == origins_.end() || mad.has_lids) return {};
  End at = origin->second;
  for (std::size_t hop = 0; hop < mad.route.size(); ++hop) {
    // A channel adapter passes nothing on.
    if (hop > 0 && !topology_.is_switch(at.node)) return {};
    const int leave = !topology_.is_switch(at.node) ? at.port : mad.route[hop];
    at = topology_.peer({at.node, leave});
    if (at.node < 0) return {};
  }
  return at;
}

void World::request(std::size_t index, const Record& record, const Mad& mad) {
  ++smps_;
  if (mad.attribute != attribute_port_info && mad.attribute != attribute_lft &&
      mad.attribute != attribute_mft)
    return;
  const RequestKey key{record.process, mad.tid, mad.attribute, mad.modifier};
  const auto known = requests_.find(key);
  Request& request = requests_[key];
  const End target = target_of(record.process, mad);
  // Numbers are used over and over: what has the number of one that nobody answered may be another.
  const bool again = known != requests_.end() && !request.is_answered &&
                     request.is_set == (mad.method == method_set) && request.target.node == target.node &&
                     request.content == mad.data;
  if (!again) {
    request = {next_request_++, record.time, target,  mad.method == method_set, mad.attribute, mad.modifier,
               false,           false,       mad.data};
  }
  if (request.target.node < 0) {
    ++not_understood_;
    return;
  }
  if (mad.attribute == attribute_port_info) {
    const int port = static_cast<int>(mad.modifier & 0xffU);
    // Port 0 of the attribute modifier is, at a channel adapter, the port that is asked (IBA 14.2.5.6).
    if (topology_.is_switch(request.target.node) || port != 0) request.target.port = port;
  }
  if (!request.is_set) return;
  remark(index, request, again ? "Set again" : "Set", mad);
  if (mad.attribute == attribute_port_info) return port_set(request, mad, record.time);
  const int number = topology_.node(request.target.node).switch_number;
  if (number < 0) return;
  const BlockAt at{number, mad.attribute == attribute_mft, mad.modifier};
  if (!at.is_multicast && mad.modifier >= static_cast<std::uint32_t>(most_blocks)) return;
  block(at).sent(request.number, record.process, mad.data, record.time);
  if (!at.is_multicast) batch_.sent(request.number, {number, at.number}, record.time);
  if (managers_.insert(origins_[record.process]).second) changes_.hosts = true;
  update(at, record.time);
}

void World::answer(std::size_t index, const Record& record, const Mad& mad) {
  const auto found = requests_.find({record.process, mad.tid, mad.attribute, mad.modifier});
  if (found == requests_.end() || found->second.target.node < 0) return;
  Request& request = found->second;
  const Time now = record.time;
  const bool late_copy = request.is_answered;
  request.is_answered = true;
  batch_.ended(request.number, now);
  if (!mad.timed_out) handed_on_.answered(record.process, request.asked, now);
  const int number = topology_.node(request.target.node).switch_number;
  const BlockAt at{number, mad.attribute == attribute_mft, mad.modifier};
  if (mad.timed_out) {
    if (request.is_set) remark(index, request, "no answer to Set", mad);
    if (request.takes_link)
      links_[static_cast<std::size_t>(topology_.cable_at(request.target))].taking_ended(now);
    if (request.is_set && mad.attribute != attribute_port_info && number >= 0)
      block(at).timed_out(request.number, now);
    return;
  }
  if (request.is_set || mad.attribute == attribute_port_info)
    remark(index, request,
           late_copy        ? "late answer to"
           : request.is_set ? "answer to Set"
                            : "answer to Get",
           mad);
  if (mad.attribute == attribute_port_info) return port_answer(record.process, request, mad, now);
  if (number < 0) return;
  if (!at.is_multicast && mad.modifier >= static_cast<std::uint32_t>(most_blocks)) return;
  if (mad.status != 0) {
    // Refused: nobody knows what it holds but who reads it.
    if (request.is_set) block(at).timed_out(request.number, now);
    return;
  }
  if (request.is_set)
    block(at).answered(request.number, record.process, request.asked, mad.data, now);
  else
    block(at).read(request.asked, mad.data);
  update(at, now);
}

void World::port_set(Request& request, const Mad& mad, Time now) {
  const int cable = topology_.cable_at(request.target);
  const bool away =
      phys_of(mad) == phys_disabled || phys_of(mad) == phys_sleep || state_of(mad) == state_down;
  if (cable < 0 || (!away && phys_of(mad) != phys_polling)) return;
  request.takes_link = true;
  links_[static_cast<std::size_t>(cable)].taken(away ? Link::Taken::Away : Link::Taken::Training, now);
  link_changed(cable);
}

void World::port_answer(int process, const Request& request, const Mad& mad, Time now) {
  const End port = request.target;
  if (mad.status != 0) {
    // Refused, it repeats what was asked.
    const int cable = topology_.cable_at(port);
    if (cable >= 0 && request.takes_link) links_[static_cast<std::size_t>(cable)].taking_ended(now);
    return;
  }
  const bool has_lid = port.port == 0 || !topology_.is_switch(port.node);
  if (has_lid) {
    const int lid = mad.data[lid_offset] << 8 | mad.data[lid_offset + 1];
    learn_lid(port, lid, mad.data[lmc_offset] & 7, request.asked);
  }
  const int cable = topology_.cable_at(port);
  if (cable < 0) return;
  Link& link = links_[static_cast<std::size_t>(cable)];
  if (request.takes_link) link.taking_ended(now);
  if (state_of(mad) == 0) return;
  const bool was_usable = link.is_usable();
  const bool was_unknown = link.is_unknown();
  const std::size_t end = topology_.cable(cable).a == port ? 0 : 1;
  const auto state = state_of(mad) == state_active  ? Link::State::Active
                     : state_of(mad) == state_armed ? Link::State::Armed
                                                    : Link::State::Other;
  link.heard(process, end, state, request.asked, now);
  if (was_usable != link.is_usable() || was_unknown != link.is_unknown()) link_changed(cable);
}

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
    if (command.what == "kill") forget_tables(*node, now);
  } else if (command.what == "revive") {
    cut_node(*node, false, now);
    dead_.erase(topology_.node(*node).switch_number);
    forget_tables(*node, now);  // what was sent to it meanwhile, too
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

void World::remark(std::size_t index, const Request& request, const char* what, const Mad& mad) {
  remarks_.push_back({index, request.target.node,
                      fmt::format("{} {} at {}", what, describe(mad.attribute, mad.modifier, mad),
                                  topology_.node(request.target.node).name)});
}

}  // namespace wire
