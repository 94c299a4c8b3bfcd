#include "health/drop_watch.h"

#include <algorithm>

namespace heddle::health {
namespace {

/// A port that is down is read rarely: its counter may tell of an order long after it was carried out.
constexpr FabricClock::duration late_readings = std::chrono::minutes{2};

enum class Fate { Up, Fell, Willed };

bool is_held(const Fabric& fabric, const PortRef& ref) {
  const PortIndex port = fabric.find_port(ref);
  if (port == no_port) return false;
  const PhysState physical = fabric.port(port).physical;
  return physical == PhysState::Disabled || physical == PhysState::Sleep;
}

/// A switch that is gone took all its links with it. A host may be gone because its link is.
bool is_switched_off(const Fabric& before, const Fabric& after, LinkEnd end) {
  const Node& node = before.node(end.node);
  return node.type == NodeType::Switch && after.find_node(node.guid) == no_node;
}

Fate fate_of(const Fabric& before, const Link& link, const LinkRef& ref, const Fabric& after) {
  const PortIndex a = after.find_port(ref.a);
  const PortIndex b = after.find_port(ref.b);
  if (a != no_port && b != no_port && after.port(a).link != no_link &&
      after.port(a).link == after.port(b).link) {
    return Fate::Up;
  }
  const bool willed = is_held(after, ref.a) || is_held(after, ref.b) ||
                      is_switched_off(before, after, link.a) || is_switched_off(before, after, link.b);
  return willed ? Fate::Willed : Fate::Fell;
}

}  // namespace

void DropWatch::excuse(const LinkRef& link, Instant until) {
  for (const PortRef& port : {link.a, link.b}) {
    Instant& now_until = excused_[port];
    now_until = std::max(now_until, until);
  }
}

void DropWatch::on_fabric(const Fabric& before, const Fabric& after, Instant now) {
  for (const Link& link : before.links()) {
    const LinkRef ref = link_ref(before, link);
    const Fate fate = fate_of(before, link, ref, after);
    if (fate == Fate::Up) continue;
    if (fate == Fate::Willed || willed_.contains(ref)) {
      held_.insert(ref);
    } else {
      drops_[ref].push_back(now);
    }
  }
  for (auto it = held_.begin(); it != held_.end();) {
    const PortIndex a = after.find_port(it->a);
    const bool back = a != no_port && after.port(a).link != no_link;
    if (back) excuse(*it, now + late_readings);
    it = back ? held_.erase(it) : std::next(it);
  }
}

void DropWatch::settle(Growth& growth, Instant now) {
  for (const std::set<LinkRef>* links : {&willed_, &held_}) {
    for (const LinkRef& link : *links) excuse(link, now + late_readings);
  }
  for (auto it = excused_.begin(); it != excused_.end();) {
    growth.forgive(it->first, load::Counter::LinkDowned);
    // What was led to it meanwhile is no fault of the end across.
    growth.forgive(it->first, load::Counter::XmitDiscards);
    it = it->second <= now ? excused_.erase(it) : std::next(it);
  }
  for (auto& [link, times] : drops_) {
    while (!times.empty() && times.front() + window_ < now) times.pop_front();
  }
  std::erase_if(drops_, [](const auto& each) { return each.second.empty(); });
}

std::size_t DropWatch::count(const LinkRef& link) const {
  const auto it = drops_.find(link);
  return it == drops_.end() ? 0 : it->second.size();
}

}  // namespace heddle::health
