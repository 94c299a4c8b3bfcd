#include "sim/packet_plane.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fabric/generators.h"
#include "fabric/link_rate.h"
#include "sim/flow/route_trace.h"

namespace heddle::sim {
namespace {

constexpr std::int64_t flit_bytes = 64;
constexpr std::uint8_t internal_lmc = 3;
constexpr unsigned paths_per_host = 1U << internal_lmc;
constexpr Picoseconds millisecond{1'000'000'000};
/// Between two looks at how many events were carried out.
constexpr Picoseconds slice = millisecond / 64;

BitRate fastest_link(const Fabric& fabric) {
  BitRate fastest;
  for (const Link& link : fabric.links()) fastest = std::max(fastest, data_rate(link.width, link.speed));
  return fastest;
}

int cycles(double nanoseconds, Picoseconds cycle) {
  return static_cast<int>(std::lround(nanoseconds * 1000 / static_cast<double>(cycle.count())));
}

/// 100 ns a switch (regulation paper, 4.3) and two metres of cable.
packet::StageDelays stage_delays(Picoseconds cycle) {
  packet::StageDelays delays;
  delays.input = cycles(20, cycle);
  delays.routing = cycles(30, cycle);
  delays.allocation = std::max(1, cycles(20, cycle));
  delays.crossbar = cycles(10, cycle);
  delays.output = cycles(20, cycle);
  delays.flight = std::max(1, cycles(10, cycle));
  delays.credit = std::max(1, cycles(10, cycle));
  return delays;
}

packet::DataPlane data_plane(const PacketPlaneOptions& options, Picoseconds cycle) {
  packet::DataPlane plane;
  plane.cycle = cycle;
  plane.flit_bytes = static_cast<int>(flit_bytes);
  plane.vls = options.data_vls;
  plane.delays = stage_delays(cycle);
  plane.max_packet = static_cast<std::int32_t>((options.packet_bytes + flit_bytes - 1) / flit_bytes);
  const std::int32_t room = plane.max_packet * options.packets_per_vl * options.data_vls;
  plane.input_flits = plane.output_flits = plane.host_flits = room;
  plane.allocation_passes = 2;
  plane.count_lanes = true;
  plane.head_lifetime = options.head_lifetime.count() / cycle.count();
  for (packet::SchedulerConfig* scheduler : {&plane.switch_scheduler, &plane.host_scheduler}) {
    scheduler->discipline = packet::Discipline::InfiniBand;
    scheduler->low = {{0, 1}};  // until tables are read
    scheduler->rounding = qos::Rounding::Up;
  }
  return plane;
}

std::vector<NodeGuid> switches_of(const Fabric& fabric) {
  std::vector<NodeGuid> guids;
  for (const Node& node : fabric.nodes()) {
    if (node.type == NodeType::Switch) guids.push_back(node.guid);
  }
  return guids;
}

}  // namespace

Result<std::unique_ptr<PacketPlane>> PacketPlane::make(const ForwardingView& view,
                                                       const PacketPlaneOptions& options) {
  const Fabric& description = view.description();
  const BitRate fastest = fastest_link(description);
  if (fastest.value() <= 0)
    return fail(ErrorCode::Invalid, "packet level: the fabric has no link with a rate");
  const Picoseconds cycle{std::max<std::int64_t>(1, std::llround(flit_bytes * 8 / fastest.value() * 1e12))};
  // LIDs of the simulator's own, that no subnet manager can change.
  auto with_lids = assign_lids(description, internal_lmc);
  if (!with_lids) return fail("packet level", with_lids.error());
  packet::Programming programming;
  std::uint16_t top = 0;
  for (const Port& port : (*with_lids)->ports()) top = std::max(top, port.lid.raw());
  programming.forwarding = routing::ForwardingTables{switches_of(description),
                                                     Lid{static_cast<std::uint16_t>(top + paths_per_host)}};
  programming.sl2vl.resize(description.nodes().size());
  auto network =
      packet::build_network(std::move(*with_lids), std::move(programming), data_plane(options, cycle));
  if (!network) return fail("packet level", network.error());
  auto sim = packet::PacketSim::make(std::move(*network));
  if (!sim) return fail("packet level", sim.error());
  return std::unique_ptr<PacketPlane>{new PacketPlane{view, options, std::move(*sim)}};
}

PacketPlane::PacketPlane(const ForwardingView& view, const PacketPlaneOptions& options, packet::PacketSim sim)
    : view_{view}, options_{options}, sim_{std::move(sim)}, cycle_{sim_.network().plane.cycle} {
  const Fabric& fabric = view.description();
  const packet::Network& network = sim_.network();
  host_of_port_.assign(fabric.ports().size(), packet::nothing);
  element_of_node_.assign(fabric.nodes().size(), packet::nothing);
  for (std::uint32_t i = 0; i < network.hosts.size(); ++i) host_of_port_[network.hosts[i].slot.raw()] = i;
  for (std::uint32_t i = 0; i < network.switches.size(); ++i) {
    element_of_node_[network.switches[i].node.raw()] = i;
  }
  for (const Link& link : fabric.links()) set_state(fabric.port_index(link.a));
  for (std::uint32_t i = 0; i < fabric.nodes().size(); ++i) stale_lanes_.emplace_back(i);
  for (std::uint32_t i = 0; i < fabric.ports().size(); ++i) {
    if (fabric.port(PortIndex{i}).link != no_link) stale_arbitration_.emplace_back(i);
  }
}

// --- traffic ---

Result<std::uint32_t> PacketPlane::host(PortIndex port) const {
  if (port.raw() < host_of_port_.size() && host_of_port_[port.raw()] != packet::nothing) {
    return host_of_port_[port.raw()];
  }
  const Fabric& fabric = view_.description();
  const std::string name =
      port.raw() < fabric.ports().size() ? to_string(fabric.ref(port)) : fmt::format("number {}", port.raw());
  return fail(
      ErrorCode::Unsupported,
      fmt::format("port {} takes no part in traffic at packet level: it is no cabled port of a host", name));
}

double PacketPlane::interval(const Flow& of) const {
  const TrafficFlow& flow = of.spec;
  const packet::Network& network = sim_.network();
  const packet::Port& port = network.ports[network.port_of_slot[flow.from.raw()]];
  const double least = static_cast<double>(network.plane.max_packet) * port.flit_cycles;
  if (!(flow.demand.value() > 0) || path(of) >= paths_per_host)
    return std::numeric_limits<double>::infinity();
  const double bits = static_cast<double>(network.plane.max_packet) * flit_bytes * 8;
  return std::max(least, bits / flow.demand.value() * 1e12 / static_cast<double>(cycle_.count()));
}

Result<TrafficId> PacketPlane::add(const TrafficFlow& spec, Picoseconds at) {
  const auto from = host(spec.from);
  const auto to = host(spec.to);
  if (!from) return fail(from.error());
  if (!to) return fail(to.error());
  if (*from == *to) {
    return fail(ErrorCode::Invalid, fmt::format("traffic from port {} to itself crosses no link",
                                                to_string(view_.description().ref(spec.from))));
  }
  if (!(spec.demand.value() >= 0)) {
    return fail(ErrorCode::Invalid, fmt::format("traffic of {} bit/s: give 0 or more", spec.demand.value()));
  }
  catch_up(at);
  std::uint32_t id = 0;
  if (free_.empty()) {
    id = static_cast<std::uint32_t>(flows_.size());
    flows_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  flows_[id] = {.spec = spec, .stream = {}, .flits_before = 0, .rate = {}, .path = opens_on_, .alive = true};
  const double every = interval(flows_[id]);
  // Flows that begin together do not send in step: the golden section spreads them over the interval.
  const double part = static_cast<double>(++added_) * 0.6180339887498949;
  const double wait = std::isfinite(every) ? (part - std::floor(part)) * every : 0;
  flows_[id].stream = sim_.add_stream({.source = *from,
                                       .target = *to,
                                       .sl = spec.sl.raw(),
                                       .path = path(flows_[id]),
                                       .flits = sim_.network().plane.max_packet,
                                       .window = options_.window,
                                       .interval = every},
                                      sim_.now() + static_cast<packet::Cycle>(std::min(wait, 1e15)));
  ++count_;
  return TrafficId{id};
}

void PacketPlane::remove(TrafficId id, Picoseconds at) {
  catch_up(at);
  sim_.remove_stream(flows_[id.raw()].stream);
  flows_[id.raw()].alive = false;
  free_.push_back(id.raw());
  --count_;
}

void PacketPlane::set_demand(TrafficId id, BitRate demand, Picoseconds at) {
  catch_up(at);
  Flow& flow = flows_[id.raw()];
  flow.spec.demand = demand;
  sim_.set_interval(flow.stream, interval(flow));
}

void PacketPlane::set_path(TrafficId id, std::uint8_t offset, Picoseconds at) {
  catch_up(at);
  Flow& flow = flows_[id.raw()];
  flow.path = offset;
  sim_.set_path(flow.stream, path(flow));
  sim_.set_interval(flow.stream, interval(flow));
}

std::vector<TrafficId> PacketPlane::ids() const {
  std::vector<TrafficId> ids;
  for (std::uint32_t i = 0; i < flows_.size(); ++i) {
    if (flows_[i].alive) ids.emplace_back(i);
  }
  return ids;
}

BitRate PacketPlane::rate(TrafficId id, Picoseconds at) {
  catch_up(at);
  return flows_[id.raw()].rate;
}

FlowFigures PacketPlane::figures(Picoseconds at) {
  catch_up(at);
  FlowFigures figures;
  figures.flows = count_;
  figures.stood_still = stood_still_;
  RouteTrace trace;
  double wanted = 0;
  double delivered = 0;
  for (const Flow& flow : flows_) {
    if (!flow.alive) continue;
    wanted += std::min(flow.spec.demand, view_.rate(flow.spec.from)).value();
    delivered += flow.rate.value();
    const Lid base = view_.lid(flow.spec.to);
    const Lid lid = base == no_lid ? no_lid : Lid{static_cast<std::uint16_t>(base.raw() + path(flow))};
    trace_route(view_, flow.spec.from, lid, flow.spec.sl, trace);
    figures.unroutable += trace.end == RouteEnd::NoRoute ? 1 : 0;
    figures.into_off_link += trace.end == RouteEnd::LinkOff ? 1 : 0;
  }
  figures.wanted = BitRate{wanted};
  figures.delivered = BitRate{delivered};
  for (const packet::Flow& flow : sim_.measurements().by_sl)
    figures.delivered_bytes += flow.flits * flit_bytes;
  figures.lost_bytes = sim_.totals().lost_flits * flit_bytes;
  return figures;
}

// --- time ---

bool PacketPlane::active() const { return count_ > 0 || sim_.messages_in_flight() > 0; }

/// Active traffic is simulated millisecond by millisecond, so that no reader has to wait for much of it.
std::optional<Picoseconds> PacketPlane::next_event() const {
  if (schedule_runs_) return std::nullopt;
  auto next = schedule_ == nullptr ? std::nullopt : schedule_->next();
  if (!active()) return next;
  const Picoseconds due = (now_ / millisecond + 1) * millisecond;
  return next && *next < due ? next : due;
}

void PacketPlane::catch_up(Picoseconds at) {
  if (schedule_runs_) return;
  while (schedule_ != nullptr) {
    const auto next = schedule_->next();
    if (!next || *next > at) break;
    run_to(std::max(*next, now_));
    schedule_runs_ = true;  // what it changes does not call it again
    schedule_->run(*this, now_);
    schedule_runs_ = false;
  }
  run_to(at);
}

void PacketPlane::run_to(Picoseconds at) {
  if (at <= now_) return;
  program();
  while (now_ < at) {
    if (!active()) {  // only the calendar moves on
      const Picoseconds boundary = at / millisecond * millisecond;
      if (now_ < boundary) {
        end_millisecond();
        run_slice(boundary);
        continue;
      }
    }
    run_slice(std::min(at, (now_ / slice + 1) * slice));
    if (now_ % millisecond == Picoseconds{0}) end_millisecond();
  }
}

void PacketPlane::run_slice(Picoseconds to) {
  if (now_ % slice == Picoseconds{0}) {
    stands_still_ =
        options_.events_per_ms > 0 && sim_.totals().events - events_before_ > options_.events_per_ms;
  }
  if (stands_still_) {
    stood_still_ += to - now_;
  } else {
    sim_.run_until((to - stood_still_) / cycle_);
  }
  now_ = to;
}

void PacketPlane::end_millisecond() {
  events_before_ = sim_.totals().events;
  for (Flow& flow : flows_) {
    if (!flow.alive) continue;
    const std::uint64_t flits = sim_.delivered_flits(flow.stream);
    flow.rate = BitRate{static_cast<double>(flits - flow.flits_before) * flit_bytes * 8 * 1000};
    flow.flits_before = flits;
  }
}

}  // namespace heddle::sim
