// How the virtual lanes of a port share its link in the flow plane.

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/flow/flow_plane.h"

namespace heddle::sim {
namespace {

/// Where VLs meet at one port, or at several in a row, shares and rates agree after two. In a web of ports
/// that limit each other they may never: then the last shares stand, which no link exceeds.
constexpr int most_rounds = 4;
constexpr int free_rounds = 2;  ///< after them, half of the way at a time
/// Part of the link's rate by which shares may differ from those of the round before.
constexpr double agreement = 1e-9;

}  // namespace

/// The channel of this VL of this port, which some flow crosses after `position` others.
std::uint32_t FlowPlane::channel_of(RouteHop hop, std::size_t position) {
  std::uint8_t& stage = stage_[hop.port.raw()];
  stage = std::max(stage, static_cast<std::uint8_t>(std::min<std::size_t>(position, 255)));
  std::uint32_t& first = first_channel_[hop.port.raw()];
  for (std::uint32_t c = first; c != no_more; c = channels_[c].next) {
    if (channels_[c].vl == hop.vl) return c;
  }
  const bool second = first != no_more && channels_[first].next == no_more;
  if (second) mixed_.push_back(hop.port);
  const std::uint32_t made = net_.add_channel(BitRate{room(hop.port, hop.vl)}).raw();
  channels_.push_back({hop.port, hop.vl, first});
  first = made;
  return made;
}

/// What the VL may have while nobody else wants anything.
double FlowPlane::room(PortIndex port, Vl vl) const {
  if (peer_[port.raw()] == no_port || !view_.forwards(port)) return 0;
  const double taken = view_.rate(port).value() * view_.intake(peer_[port.raw()]).value();
  return serves(view_.arbitration(port), vl) ? taken : 0;
}

bool FlowPlane::give(std::uint32_t channel, double capacity) {
  if (net_.capacity(ChannelId{channel}).value() == capacity) return false;
  net_.set_capacity(ChannelId{channel}, BitRate{capacity});
  return true;
}

void FlowPlane::update_net() {
  net_.update();
  for (const FlowId id : net_.changed()) {
    const std::uint32_t flow = of_net_[id.raw()];
    if (!std::exchange(flows_[flow].rate_is_stale, true)) changed_.push_back(flow);
  }
}

void FlowPlane::solve() {
  // From what each VL may have alone: shares that only limit each other do not stay.
  for (const PortIndex port : mixed_) {
    for (std::uint32_t c = first_channel_[port.raw()]; c != no_more; c = channels_[c].next) {
      give(c, room(port, channels_[c].vl));
    }
  }
  update_net();
  // What arrives at a port is what the ports before it let through.
  std::stable_sort(mixed_.begin(), mixed_.end(),
                   [this](PortIndex a, PortIndex b) { return stage_[a.raw()] < stage_[b.raw()]; });
  bool agreed = false;
  for (int round = 0; !agreed && round < most_rounds; ++round) {
    agreed = !share_between_vls(round < free_rounds ? Step::Full : Step::Half);
  }
  for (const std::uint32_t flow : changed_) {
    flows_[flow].rate_is_stale = false;
    if (flows_[flow].alive) account_net(flow);
  }
  changed_.clear();
}

/// True if a VL's share changed.
bool FlowPlane::share_between_vls(Step step) {
  bool any = false;
  for (auto port = mixed_.begin(); port != mixed_.end();) {
    const std::uint8_t stage = stage_[port->raw()];
    bool changed = false;
    for (; port != mixed_.end() && stage_[port->raw()] == stage; ++port)
      changed = divide(*port, step) || changed;
    if (changed) update_net();
    any = any || changed;
  }
  return any;
}

bool FlowPlane::divide(PortIndex port, Step step) {
  const double link = view_.forwards(port) ? view_.rate(port).value() : 0;
  const qos::VlArbitration tables = view_.arbitration(port);
  VlRates wanted{};
  double all = 0;
  std::uint16_t crossed = 0;
  for (std::uint32_t c = first_channel_[port.raw()]; c != no_more; c = channels_[c].next) {
    if (!net_.is_crossed(ChannelId{c}) || !serves(tables, channels_[c].vl)) continue;
    const double pressure = net_.pressure(ChannelId{c}).value();
    wanted.at(channels_[c].vl.raw()) = pressure;
    crossed = static_cast<std::uint16_t>(crossed | 1U << channels_[c].vl.raw());
    all += pressure;
  }
  VlRates given = all > link ? shares_.divide(tables, link, wanted) : wanted;
  if (all < link) {
    // What is left is theirs too: a VL whose way becomes free elsewhere finds room here in the next round.
    const VlRates& parts = shares_.of(tables, crossed);
    for (std::size_t vl = 0; vl < vl_count; ++vl) given[vl] += parts[vl] * (link - all);
  }
  bool changed = false;
  for (std::uint32_t c = first_channel_[port.raw()]; c != no_more; c = channels_[c].next) {
    const double target = given[channels_[c].vl.raw()];
    const double present = net_.capacity(ChannelId{c}).value();
    if (std::abs(target - present) <= agreement * link) continue;
    changed = give(c, step == Step::Full ? target : (target + present) / 2) || changed;
  }
  return changed;
}

}  // namespace heddle::sim
