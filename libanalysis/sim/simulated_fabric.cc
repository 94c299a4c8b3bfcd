#include "sim/simulated_fabric.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mad/header.h"
#include "sim/parts.h"

namespace heddle::sim {

SimulatedFabric::Parts::Parts(std::shared_ptr<const Fabric> description, const Options& options)
    : model{std::move(description), options},
      counters{model.wires.size(), options},
      carrier{model, counters},
      links{model, schedule, [this](PortIndex port, Picoseconds at) { traps.link_changed(port, at); },
            [this](PortIndex port) { counters.add_errors(port, ErrorCounter::LinkDowned, 1); }},
      traps{model, schedule,
            [this](PortIndex from, const mad::Packet& packet, Picoseconds at) {
              mad::Packet copy = packet;
              transmit(from, copy, at);
            }},
      sma{model, schedule, traps},
      pma{model, counters, schedule},
      random{options.seed} {}

SimulatedFabric::Parts::Client* SimulatedFabric::Parts::find(ClientId id) {
  const std::size_t slot = id.raw() & 0xffffU;
  if (slot >= clients.size() || clients[slot].port == no_port) return nullptr;
  return clients[slot].generation == id.raw() >> 16U ? &clients[slot] : nullptr;
}

SimulatedFabric::SimulatedFabric(std::shared_ptr<const Fabric> description, const Options& options)
    : parts_{std::make_unique<Parts>(std::move(description), options)} {}
SimulatedFabric::~SimulatedFabric() = default;

const Fabric& SimulatedFabric::description() const { return *parts_->model.fabric; }

// --- time ---

void SimulatedFabric::advance(Picoseconds now) {
  Parts& parts = *parts_;
  parts.run(now);
  // What receivers send while this goes on is for the next call.
  std::swap(parts.ready, parts.delivering);
  for (const Parts::Delivery& delivery : parts.delivering) {
    const Parts::Client* client = parts.find(delivery.client);
    if (client == nullptr) continue;
    // The receiver may attach clients and so move this one.
    const Receiver receiver = client->receiver;
    receiver(delivery.packet, delivery.at);
  }
  parts.delivering.clear();
}

std::optional<Picoseconds> SimulatedFabric::next_event() const {
  if (!parts_->ready.empty()) return parts_->now;
  return parts_->schedule.next();
}

Picoseconds SimulatedFabric::now() const { return parts_->now; }

// --- clients ---

Result<ClientId> SimulatedFabric::attach(PortIndex port, Receiver receiver) {
  Parts& parts = *parts_;
  if (port.raw() >= parts.model.wires.size()) {
    return fail(ErrorCode::Invalid, fmt::format("no port at position {}", port.raw()));
  }
  const bool port0 = parts.model.wires[port.raw()].num == PortNum{0};
  const bool is_switch = parts.model.node_of(port).type == NodeType::Switch;
  if (port0 != is_switch) {
    return fail(
        ErrorCode::Invalid,
        fmt::format("port {} cannot be opened: use port 0 of a switch, or a port of a channel adapter",
                    to_string(parts.model.fabric->ref(port))));
  }
  const auto free = std::find_if(parts.clients.begin(), parts.clients.end(),
                                 [](const Parts::Client& client) { return client.port == no_port; });
  const auto slot = static_cast<std::size_t>(free - parts.clients.begin());
  if (slot >= 0xfffe) return fail(ErrorCode::Conflict, "too many clients: 65534 is the most");
  if (free == parts.clients.end()) parts.clients.emplace_back();
  Parts::Client& client = parts.clients[slot];
  client.port = port;
  ++client.generation;
  client.informed = false;
  client.takes_others = false;
  client.receiver = std::move(receiver);
  return ClientId{static_cast<std::uint32_t>(client.generation << 16U) | static_cast<std::uint32_t>(slot)};
}

void SimulatedFabric::detach(ClientId id) {
  Parts::Client* client = parts_->find(id);
  if (client == nullptr) return;
  static_cast<void>(set_is_sm(id, IsSm::No, parts_->now));
  client->port = no_port;
  client->receiver = nullptr;
}

void SimulatedFabric::take_other_classes(ClientId id) {
  if (Parts::Client* client = parts_->find(id)) client->takes_others = true;
}

Result<void> SimulatedFabric::set_is_sm(ClientId id, IsSm is_sm, Picoseconds now) {
  Parts& parts = *parts_;
  const Parts::Client* client = parts.find(id);
  if (client == nullptr) return fail(ErrorCode::NotFound, "this client is not attached");
  const PortIndex port = client->port;
  const std::size_t slot = id.raw() & 0xffffU;
  const auto holder = parts.sm_at.find(port);
  if (is_sm == IsSm::Yes && holder != parts.sm_at.end() && holder->second != slot) {
    return fail(ErrorCode::Conflict, fmt::format("another client of {} is its subnet manager",
                                                 to_string(parts.model.fabric->ref(port))));
  }
  if (is_sm == IsSm::No && (holder == parts.sm_at.end() || holder->second != slot)) return {};
  std::uint32_t& mask = parts.model.info(port).capability_mask;
  const std::uint32_t before = mask;
  if (is_sm == IsSm::Yes) {
    parts.sm_at[port] = slot;
    mask |= mad::port_cap::is_sm;
  } else {
    parts.sm_at.erase(port);
    mask &= ~mad::port_cap::is_sm;
  }
  if (mask != before) parts.traps.local_change(port, 0, now);
  return {};
}

void SimulatedFabric::send(Picoseconds now, ClientId from, const mad::Packet& packet) {
  Parts& parts = *parts_;
  parts.run(now);
  Parts::Client* client = parts.find(from);
  if (client == nullptr) return;
  ++parts.statistics.sent;
  mad::Packet work = packet;
  const auto method = static_cast<mad::Method>(work.mad[3]);
  if (!mad::is_response(method) && method != mad::Method::TrapRepress) {
    const std::size_t tag = (from.raw() & 0xffffU) + 1U;
    work.mad[8] = static_cast<std::uint8_t>(tag >> 8U);
    work.mad[9] = static_cast<std::uint8_t>(tag);
    // InformInfo: from here on reports of the subnet administrator are for this client.
    const bool subnet_administration = work.mad[1] == static_cast<std::uint8_t>(mad::MgmtClass::SubnAdm);
    if (subnet_administration && method == mad::Method::Set && work.mad[17] == 3) client->informed = true;
  }
  const bool directed = work.mad[1] == static_cast<std::uint8_t>(mad::MgmtClass::SubnDirected);
  const Lid own = parts.model.info(client->port).lid;
  if (!directed && !parts.model.answers_to(client->port, work.address.slid)) work.address.slid = own;
  if (directed && work.address.slid != permissive_lid) work.address.slid = own;
  parts.transmit(client->port, work, parts.now);
}

bool SimulatedFabric::ask(PortIndex port, mad::Bytes& request, Picoseconds now) {
  Parts& parts = *parts_;
  parts.run(now);
  mad::Header header = mad::read_header(request);
  if (header.mgmt_class == mad::MgmtClass::Perf) {
    header.status = parts.pma.answer(header, port, mad::gsi_qp, request, parts.now);
    header.method = mad::Method::GetResp;
    mad::write_header(header, request);
    return true;
  }
  mad::Packet packet;
  packet.mad = request;
  LinkOrder order;
  const Arrival here{port, parts.model.wires[port.raw()].num};
  const bool answered = parts.sma.answer(here, packet, order, parts.now);
  request = packet.mad;
  parts.apply(order, parts.now);
  return answered;
}

// --- state ---

const mad::PortInfo& SimulatedFabric::port_info(PortIndex port) const { return parts_->model.info(port); }
PortGuid SimulatedFabric::port_guid(PortIndex port) const { return parts_->model.port_guid(port); }
bool SimulatedFabric::alive(NodeIndex node) const { return parts_->model.nodes[node.raw()].alive; }

bool SimulatedFabric::forwards(PortIndex port) const {
  const Wire& wire = parts_->model.wires[port.raw()];
  return wire.active && wire.peer != no_port && parts_->model.wires[wire.peer.raw()].active;
}

LinkWidth SimulatedFabric::active_width(PortIndex port) const {
  return mad::active_width(parts_->model.info(port));
}

Ratio SimulatedFabric::intake(PortIndex port) const {
  const auto found = parts_->intakes.find(port);
  return found == parts_->intakes.end() ? Ratio{1} : found->second;
}

LinkSpeed SimulatedFabric::active_speed(PortIndex port) const {
  const mad::PortInfo& info = parts_->model.info(port);
  const mad::MlnxExtPortInfo fdr10{.link_speed_active = 1};
  const bool is_fdr10 = parts_->model.fabric->port(port).speed == LinkSpeed::Fdr10;
  return mad::active_speed(info, is_fdr10 ? &fdr10 : nullptr);
}

std::span<const PortNum> SimulatedFabric::forwarding_table(NodeIndex node) const {
  return parts_->model.nodes[node.raw()].lft;
}

bool SimulatedFabric::multicasts(NodeIndex node, Lid group, PortNum port) const {
  const auto& mft = parts_->model.nodes[node.raw()].mft;
  const std::size_t entry = std::size_t{port.raw() / 16U} * mft_lids + (group.raw() - 0xc000U);
  return entry < mft.size() && (mft[entry] >> (port.raw() % 16U) & 1U) != 0;
}

std::vector<Lid> SimulatedFabric::multicast_groups(NodeIndex node) const {
  const auto& mft = parts_->model.nodes[node.raw()].mft;
  std::vector<Lid> groups;
  for (std::size_t group = 0; group < mft_lids; ++group) {
    for (std::size_t entry = group; entry < mft.size(); entry += mft_lids) {
      if (mft[entry] == 0) continue;
      groups.push_back(Lid{static_cast<std::uint16_t>(0xc000U + group)});
      break;
    }
  }
  return groups;
}

PortIndex SimulatedFabric::port_of(Lid lid) const {
  const auto& by_lid = parts_->model.by_lid;
  return lid.raw() < by_lid.size() ? by_lid[lid.raw()] : no_port;
}

Vl SimulatedFabric::vl(NodeIndex node, PortNum in, PortNum out, Sl sl) const {
  return parts_->model.vl(parts_->model.nodes[node.raw()], in, out, sl);
}

VlArbitration SimulatedFabric::arbitration(PortIndex port) const {
  const auto found = parts_->model.arbitrations.find(port);
  return found != parts_->model.arbitrations.end() ? found->second
                                                   : default_arbitration(parts_->model.info(port));
}

PortTotals SimulatedFabric::counters(PortIndex port, Picoseconds now) const {
  return parts_->counters.read(port, Counters::Set::Wide, std::max(now, parts_->now));
}

std::uint64_t SimulatedFabric::generation() const { return parts_->model.generation; }

void SimulatedFabric::set_counter_source(CounterSource* source) { parts_->counters.set_source(source); }
void SimulatedFabric::set_change_listener(ChangeListener* listener) { parts_->model.listener = listener; }

const SimulatedFabric::Statistics& SimulatedFabric::statistics() const {
  parts_->statistics.traps = parts_->traps.sent();
  return parts_->statistics;
}
const DeadEnds& SimulatedFabric::dead_ends() const { return parts_->model.dead_ends; }

}  // namespace heddle::sim
