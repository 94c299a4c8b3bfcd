#include "sim/flow/flow_plane.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace heddle::sim {
namespace {

using What = MeterBank::What;
constexpr PortIndex all_flows{0};
/// Of a LinearForwardingTable (IBA 14.2.5.6).
constexpr std::uint32_t lids_of_block = 64;
constexpr MeterBank::Key delivered_key{What::Data, Vl{0}};
constexpr MeterBank::Key lost_key{What::Discard, Vl{0}};

std::uint64_t in_meter_units(BitRate rate) {
  return static_cast<std::uint64_t>(rate.value() * static_cast<double>(MeterBank::rate_unit));
}

BitRate from_meter_units(std::uint64_t rate) {
  return BitRate{static_cast<double>(rate) / static_cast<double>(MeterBank::rate_unit)};
}

std::vector<PortIndex> peers(const Fabric& fabric) {
  std::vector<PortIndex> result(fabric.ports().size(), no_port);
  for (const Link& link : fabric.links()) {
    result[fabric.port_index(link.a).raw()] = fabric.port_index(link.b);
    result[fabric.port_index(link.b).raw()] = fabric.port_index(link.a);
  }
  return result;
}

std::string name(const Fabric& fabric, PortIndex port) {
  return port.raw() < fabric.ports().size() ? to_string(fabric.ref(port))
                                            : fmt::format("number {}", port.raw());
}

}  // namespace

FlowPlane::FlowPlane(const ForwardingView& view, const FlowPlaneOptions& options)
    : view_{view},
      options_{options},
      peer_{peers(view.description())},
      first_channel_(view.description().ports().size(), no_more),
      stage_(view.description().ports().size(), 0),
      shares_{options.arbitration},
      meters_{view.description().ports().size()},
      is_noted_(view.description().ports().size(), 0) {
  by_destination_.resize(peer_.size());
}

Result<TrafficId> FlowPlane::add(const TrafficFlow& spec, Picoseconds at) {
  const Fabric& fabric = view_.description();
  const auto is_end = [&](PortIndex port) {
    return port.raw() < peer_.size() && fabric.node(fabric.port(port).node).type != NodeType::Switch &&
           fabric.port(port).link != no_link;
  };
  const auto is_port0 = [&](PortIndex port) {
    return port.raw() < peer_.size() && fabric.node(fabric.port(port).node).type == NodeType::Switch &&
           fabric.port(port).num == PortNum{0};
  };
  if (!is_end(spec.from)) {
    return fail(ErrorCode::Invalid, fmt::format("traffic cannot start at port {}: it is no port of a channel "
                                                "adapter with a cable",
                                                name(fabric, spec.from)));
  }
  if (!is_end(spec.to) && !is_port0(spec.to)) {
    return fail(ErrorCode::Invalid,
                fmt::format("traffic cannot end at port {}: it is no end port", name(fabric, spec.to)));
  }
  if (spec.from == spec.to) {
    return fail(ErrorCode::Invalid,
                fmt::format("traffic from port {} to itself crosses no link", name(fabric, spec.from)));
  }
  if (!(spec.demand.value() >= 0)) {
    return fail(ErrorCode::Invalid, fmt::format("traffic of {} bit/s: give 0 or more", spec.demand.value()));
  }
  catch_up(at);
  std::uint32_t id = 0;
  if (free_.empty()) {
    id = static_cast<std::uint32_t>(flows_.size());
    flows_.emplace_back();
    hops_.resize(flows_.size());
  } else {
    id = free_.back();
    free_.pop_back();
  }
  Flow& flow = flows_[id];
  flow.spec = spec;
  flow.alive = true;
  flow.to_seat = static_cast<std::uint32_t>(by_destination_[spec.to.raw()].size());
  by_destination_.append(spec.to.raw(), id);
  ++count_;
  flow.path = opens_on_;
  trace(flow);
  enter(id);
  return TrafficId{id};
}

void FlowPlane::remove(TrafficId id, Picoseconds at) {
  catch_up(at);
  Flow& flow = flows_[id.raw()];
  leave(id.raw());
  flow.alive = false;
  const auto others = by_destination_[flow.spec.to.raw()];
  others[flow.to_seat] = others.back();
  flows_[others.back()].to_seat = flow.to_seat;
  by_destination_.drop_last(flow.spec.to.raw());
  free_.push_back(id.raw());
  --count_;
}

void FlowPlane::set_demand(TrafficId id, BitRate demand, Picoseconds at) {
  catch_up(at);
  flows_[id.raw()].spec.demand = demand;
  retrace(id.raw());
}

void FlowPlane::set_path(TrafficId id, std::uint8_t offset, Picoseconds at) {
  catch_up(at);
  flows_[id.raw()].path = offset;
  retrace(id.raw());
}

std::vector<TrafficId> FlowPlane::ids() const {
  std::vector<TrafficId> ids;
  for (std::uint32_t i = 0; i < flows_.size(); ++i) {
    if (flows_[i].alive) ids.emplace_back(i);
  }
  return ids;
}

std::optional<Picoseconds> FlowPlane::next_event() const {
  return schedule_ == nullptr || schedule_runs_ ? std::nullopt : schedule_->next();
}

void FlowPlane::postpone(Picoseconds by) {
  if (schedule_ == nullptr) return;
  schedule_->postpone(by);
  stood_still_ += by;
}

/// Goes to `at`; what changed before counts from when it changed.
void FlowPlane::catch_up(Picoseconds at) {
  for (auto next = next_event(); next && *next <= at; next = next_event()) {
    const Picoseconds due = std::max(*next, now_);
    if (now_ < due) flush();
    now_ = due;
    schedule_runs_ = true;  // what it changes does not call it again
    schedule_->run(*this, due);
    schedule_runs_ = false;
  }
  if (now_ < at) {
    flush();
    now_ = at;
  }
}

/// Makes the rates right for the present routes and demands, from now_ on.
void FlowPlane::flush() {
  if (std::exchange(net_is_stale_, false)) solve();
  for (const PortIndex port : noted_) {
    is_noted_[port.raw()] = 0;
    refresh_waits(port);
  }
  noted_.clear();
}

std::uint64_t FlowPlane::wanted(const TrafficFlow& flow) const {
  return in_meter_units(std::min(flow.demand, view_.rate(flow.from)));
}

Lid FlowPlane::destination(const Flow& flow) const {
  const Lid base = view_.lid(flow.spec.to);
  const unsigned offset = flow.spec.path_offset.value_or(flow.path);
  return base == no_lid ? no_lid : Lid{static_cast<std::uint16_t>(base.raw() + offset)};
}

void FlowPlane::trace(Flow& flow) {
  flow.to_lid = destination(flow);
  trace_route(view_, flow.spec.from, flow.to_lid, flow.spec.sl, trace_);
}

void FlowPlane::retrace(std::uint32_t id) {
  Flow& flow = flows_[id];
  trace(flow);
  const auto hops = hops_[id];
  const bool same = flow.end == trace_.end && flow.wanted == wanted(flow.spec) &&
                    std::equal(hops.begin(), hops.end(), trace_.hops.begin(), trace_.hops.end());
  if (same) return;
  leave(id);
  enter(id);
}

/// Puts the flow on the route in trace_.
void FlowPlane::enter(std::uint32_t id) {
  Flow& flow = flows_[id];
  flow.end = trace_.end;
  flow.wanted = wanted(flow.spec);
  hops_.clear(id);
  path_.clear();
  for (const RouteHop& hop : trace_.hops) {
    hops_.append(id, hop);
    path_.emplace_back(channel_of(hop, path_.size()));
  }
  // A flow that is lost stays on its way in the solver, wanting nothing, so that it is found by what it
  // meets.
  const bool arrives = flow.end == RouteEnd::Delivered;
  flow.in_net = net_.add(path_, arrives ? from_meter_units(flow.wanted) : BitRate{0});
  if (of_net_.size() <= flow.in_net.raw()) of_net_.resize(flow.in_net.raw() + 1);
  of_net_[flow.in_net.raw()] = id;
  net_is_stale_ = true;
  wanted_ += flow.wanted;
  if (!arrives) account_loss(flow, static_cast<std::int64_t>(flow.wanted));
  unroutable_ += flow.end == RouteEnd::NoRoute ? 1 : 0;
  into_off_link_ += flow.end == RouteEnd::LinkOff ? 1 : 0;
}

void FlowPlane::leave(std::uint32_t id) {
  Flow& flow = flows_[id];
  account(id, 0, 0, {no_port, Vl{0}});
  net_.remove(flow.in_net);
  net_is_stale_ = true;
  wanted_ -= flow.wanted;
  if (flow.end != RouteEnd::Delivered) account_loss(flow, -static_cast<std::int64_t>(flow.wanted));
  unroutable_ -= flow.end == RouteEnd::NoRoute ? 1 : 0;
  into_off_link_ -= flow.end == RouteEnd::LinkOff ? 1 : 0;
}

void FlowPlane::account_net(std::uint32_t id) {
  const Flow& flow = flows_[id];
  const ChannelId bottleneck = net_.bottleneck(flow.in_net);
  if (flow.end != RouteEnd::Delivered) return;
  if (bottleneck == no_channel) {
    account(id, flow.wanted, 0, {no_port, Vl{0}});
    return;
  }
  const std::uint64_t rate = std::min(flow.wanted, in_meter_units(net_.rate(flow.in_net)));
  const auto hops = hops_[id];
  const PortIndex port = channels_[bottleneck.raw()].port;
  const auto at =
      std::find_if(hops.begin(), hops.end(), [port](const RouteHop& hop) { return hop.port == port; });
  account(id, rate, flow.wanted - rate, *at);
}

/// Replaces what the flow adds to the meters.
void FlowPlane::account(std::uint32_t id, std::uint64_t rate, std::uint64_t held, RouteHop held_at) {
  Flow& flow = flows_[id];
  if (rate != flow.rate) {
    const auto more = static_cast<std::int64_t>(rate - flow.rate);
    for (const RouteHop& hop : hops_[id]) {
      meters_.add(hop.port, {What::Data, hop.vl}, more, now_);
      note_port(hop.port);
    }
    totals_.add(all_flows, delivered_key, more, now_);
    flow.rate = rate;
  }
  if (held == flow.held && held_at == flow.held_at) return;
  if (flow.held != 0) {
    meters_.add(flow.held_at.port, {What::Held, flow.held_at.vl}, -static_cast<std::int64_t>(flow.held),
                now_);
    note_port(flow.held_at.port);
  }
  if (held != 0) {
    meters_.add(held_at.port, {What::Held, held_at.vl}, static_cast<std::int64_t>(held), now_);
    note_port(held_at.port);
  }
  flow.held = held;
  flow.held_at = held_at;
}

void FlowPlane::account_loss(const Flow& flow, std::int64_t rate) {
  totals_.add(all_flows, lost_key, rate, now_);
  const auto hops = hops_[static_cast<std::uint32_t>(&flow - flows_.data())];
  // A channel adapter whose own link is off sends nothing that could be discarded.
  if (flow.end != RouteEnd::LinkOff || hops.size() < 2) return;
  meters_.add(hops.back().port, {What::Discard, Vl{0}}, rate, now_);
}

void FlowPlane::note_port(PortIndex port) {
  if (std::exchange(is_noted_[port.raw()], 1) == 0) noted_.push_back(port);
}

void FlowPlane::gather(PortIndex port) {
  for (std::uint32_t c = first_channel_[port.raw()]; c != no_more; c = channels_[c].next) {
    net_.for_each_on(ChannelId{c}, [this](FlowId flow) { gathered_.push_back(of_net_[flow.raw()]); });
  }
}

/// Flows that the node forwards, receives, or begins.
void FlowPlane::gather_into(NodeIndex index) {
  const Node& node = view_.description().node(index);
  for (std::uint32_t p = node.first_port.raw(); p <= node.first_port.raw() + node.port_count; ++p) {
    if (peer_[p] == no_port) continue;
    gather(peer_[p]);
    if (node.type != NodeType::Switch) gather(PortIndex{p});
  }
}

/// A table is written block by block, and most flows of a switch are to LIDs of others: to follow each of
/// them anew for every block takes longer than whoever writes waits for the answer.
void FlowPlane::keep_gathered_of(std::uint32_t block) {
  if (block == Change::every_block) return;
  std::erase_if(gathered_,
                [&](std::uint32_t id) { return flows_[id].to_lid.raw() / lids_of_block != block; });
}

void FlowPlane::retrace_gathered() {
  for (const std::uint32_t flow : gathered_) retrace(flow);
  gathered_.clear();
}

void FlowPlane::refresh_port(PortIndex port) {
  for (const PortIndex end : {port, peer_[port.raw()]}) {
    if (end == no_port) continue;
    for (std::uint32_t c = first_channel_[end.raw()]; c != no_more; c = channels_[c].next) {
      if (give(c, room(end, channels_[c].vl))) net_is_stale_ = true;
    }
    gather(end);
  }
}

void FlowPlane::changed(const Change& change, Picoseconds at) {
  catch_up(at);
  const Fabric& fabric = view_.description();
  const auto each_port = [&](auto f) {
    if (change.port != no_port) {
      f(change.port);
    } else if (change.node != no_node) {
      const Node& node = fabric.node(change.node);
      for (std::uint32_t p = 0; p <= node.port_count; ++p) f(PortIndex{node.first_port.raw() + p});
    }
  };
  switch (change.kind) {
    case Change::Kind::ForwardingTable:
      gather_into(change.node);
      keep_gathered_of(change.block);
      break;
    case Change::Kind::SlToVl:
      gather_into(change.node != no_node ? change.node : fabric.port(change.port).node);
      break;
    case Change::Kind::MulticastTable:  // flows are unicast
      break;
    case Change::Kind::PortState:
      each_port([this](PortIndex port) { refresh_port(port); });
      break;
    case Change::Kind::Lid:
      each_port([this](PortIndex port) {
        const auto flows = by_destination_[port.raw()];
        gathered_.insert(gathered_.end(), flows.begin(), flows.end());
      });
      break;
    case Change::Kind::VlArbitration:  // or its number of VLs, which routes depend on
      each_port([this](PortIndex port) { refresh_port(port); });
      break;
  }
  retrace_gathered();
}

}  // namespace heddle::sim
