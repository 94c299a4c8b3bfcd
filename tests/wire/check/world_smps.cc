// What SMPs say of the fabric: who asked whom for what, and what came of it.

#include <fmt/format.h>

#include <cstring>

#include "check/world.h"

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
constexpr unsigned phys_unchanged = 0;
constexpr unsigned phys_sleep = 1;
constexpr unsigned phys_polling = 2;
constexpr unsigned phys_disabled = 3;

// libumad2sim's control messages
constexpr std::uint32_t control_node_info = 7;
constexpr std::size_t control_type_offset = 8;
constexpr std::size_t control_data_offset = 16;

std::uint64_t u64(const std::uint8_t* at) {
  std::uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value = value << 8 | at[i];
  return value;
}

unsigned state_of(const Mad& mad) { return mad.data[state_offset] & 0x0fU; }
unsigned phys_of(const Bytes& data) { return data[phys_offset] >> 4U; }
unsigned phys_of(const Mad& mad) { return phys_of(mad.data); }

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
  // Whether this one comes too is known when it is answered.
  if (phys_of(mad) != phys_unchanged && phys_of(mad) != phys_disabled) disabled_.erase(request.target);
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
  if (request.is_set && phys_of(request.content) == phys_disabled) disabled_.insert(port);
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

void World::remark(std::size_t index, const Request& request, const char* what, const Mad& mad) {
  remarks_.push_back({index, request.target.node,
                      fmt::format("{} {} at {}", what, describe(mad.attribute, mad.modifier, mad),
                                  topology_.node(request.target.node).name)});
}

}  // namespace wire
