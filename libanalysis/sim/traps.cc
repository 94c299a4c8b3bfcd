#include "sim/traps.h"

#include <algorithm>

#include "base/network_order.h"
#include "mad/header.h"

namespace heddle::sim {
namespace {

constexpr std::uint8_t type_urgent = 1;
constexpr std::uint8_t type_security = 2;
constexpr std::uint8_t type_informational = 4;

std::uint32_t producer(NodeType type) { return static_cast<std::uint32_t>(type); }

}  // namespace

void Traps::link_changed(PortIndex port, Picoseconds now) {
  NodeState& node = model_.node_of(port);
  if (node.type != NodeType::Switch) return;
  node.switch_info.port_state_change = true;
  mad::Notice notice;
  notice.type = type_urgent;
  notice.trap = 128;
  notice.set_data_lid(model_.info(node.first_port).lid);
  raise(node.first_port, notice, now);
}

void Traps::local_change(PortIndex port, std::uint8_t change_flags, Picoseconds now) {
  const PortIndex manager = model_.management_port(port);
  mad::Notice notice;
  notice.type = type_informational;
  notice.trap = 144;
  notice.set_data_lid(model_.info(manager).lid);
  // IBA 14.2.5.1, trap 144: LIDADDR, reserved, OtherLocalChanges, CAPABILITYMASK, ChangeFlags.
  to_network<std::uint32_t>(model_.info(manager).capability_mask, &notice.details[6]);
  if (change_flags != 0) {
    notice.details[5] = 1;
    notice.details[11] = change_flags;
  }
  raise(manager, notice, now);
}

void Traps::threshold(PortIndex port, std::uint16_t number, Picoseconds now) {
  const PortIndex manager = model_.management_port(port);
  mad::Notice notice;
  notice.type = type_urgent;
  notice.trap = number;
  notice.set_data_lid(model_.info(manager).lid);
  notice.details[4] = model_.wires[port.raw()].num.raw();
  raise(manager, notice, now);
}

void Traps::bad_m_key(PortIndex port, const mad::Packet& offender, Picoseconds now) {
  const mad::Header header = mad::read_header(offender.mad);
  mad::Notice notice;
  notice.type = type_security;
  notice.trap = 256;
  notice.set_data_lid(offender.address.slid);
  // IBA 14.2.5.1, trap 256: LIDADDR, DRSLID, METHOD, ATTRIBUTEID, ATTRIBUTEMODIFIER, MKEY.
  notice.details[6] = static_cast<std::uint8_t>(header.method);
  to_network(header.attribute, &notice.details[8]);
  to_network<std::uint32_t>(header.modifier, &notice.details[10]);
  to_network<std::uint64_t>(header.m_key, &notice.details[14]);
  raise(port, notice, now);
}

void Traps::raise(PortIndex port, const mad::Notice& given, Picoseconds now) {
  const NodeState& node = model_.node_of(port);
  const mad::PortInfo& info = model_.info(port);
  const bool able = (info.capability_mask & mad::port_cap::trap) != 0;
  if (!node.alive || !able || info.master_sm_lid == no_lid) return;
  mad::Notice notice = given;
  notice.issuer = info.lid;
  notice.producer = producer(node.type);
  std::uint32_t free = static_cast<std::uint32_t>(pending_.size());
  for (std::uint32_t i = 0; i < pending_.size(); ++i) {
    Pending& pending = pending_[i];
    if (pending.port == no_port) free = std::min(free, i);
    if (pending.port != port || pending.notice.trap != notice.trap ||
        pending.notice.details != notice.details) {
      continue;
    }
    pending.again = true;
    return;
  }
  if (free == pending_.size()) pending_.emplace_back();
  Pending& pending = pending_[free];
  pending.port = port;
  pending.notice = notice;
  pending.tid = model_.node_of(port).next_tid++;
  ++pending.epoch;
  pending.again = false;
  send(free, now);
}

void Traps::send(std::uint32_t index, Picoseconds now) {
  const Pending& pending = pending_[index];
  const mad::PortInfo& info = model_.info(pending.port);
  schedule_.add(now + model_.options.trap_interval, Event::Kind::TrapRepeat, index, pending.epoch);
  mad::Packet packet;
  packet.address = {.dlid = info.master_sm_lid, .slid = info.lid, .sl = info.master_sm_sl};
  mad::Header header;
  header.method = mad::Method::Trap;
  header.attribute = static_cast<std::uint16_t>(mad::SmAttr::Notice);
  header.tid = pending.tid;
  mad::write_header(header, packet.mad);
  mad::encode(pending.notice, mad::smp_data(packet.mad));
  ++sent_;
  emit_(pending.port, packet, now);
}

void Traps::repressed(PortIndex port, const mad::Notice& notice, Picoseconds now) {
  for (std::uint32_t i = 0; i < pending_.size(); ++i) {
    Pending& pending = pending_[i];
    if (pending.port != port || pending.notice.trap != notice.trap ||
        pending.notice.details != notice.details) {
      continue;
    }
    ++pending.epoch;
    if (pending.again) {
      pending.again = false;
      pending.tid = model_.node_of(port).next_tid++;
      send(i, now);
    } else {
      pending.port = no_port;
    }
    return;
  }
}

void Traps::repeat(std::uint32_t index, std::uint32_t epoch, Picoseconds now) {
  Pending& pending = pending_[index];
  if (pending.port == no_port || pending.epoch != epoch) return;
  const NodeState& node = model_.node_of(pending.port);
  if (!node.alive || model_.info(pending.port).master_sm_lid == no_lid) {
    pending.port = no_port;
    return;
  }
  pending.again = false;
  ++pending.notice.count;
  send(index, now);
}

void Traps::forget(NodeIndex node) {
  for (Pending& pending : pending_) {
    if (pending.port != no_port && model_.wires[pending.port.raw()].node == node) pending.port = no_port;
  }
}

}  // namespace heddle::sim
