#include "core/group_stages.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "fabric/links.h"

namespace heddle::plugin {

GroupStages::Leads GroupStages::where_leads(const PortRef& ref, const Fabric& fabric,
                                            const routing::LinkSet& usable) {
  if (ref.port == PortNum{0}) return Leads::ToHost;
  const PortIndex port = fabric.find_port(ref);
  const LinkIndex link = port == no_port ? no_link : fabric.port(port).link;
  if (link == no_link) return Leads::Nowhere;
  if (!joins_switches(fabric, fabric.link(link))) return Leads::ToHost;
  return usable.contains(link) ? Leads::ToSwitch : Leads::Nowhere;
}

const GroupStages::Tree& GroupStages::next(Mlid group_number, Tree wanted, const Ports& ports, Time now) {
  Group& group = groups_[group_number];
  // What forwards and could close a circle with what is wanted.
  Tree stands;
  Tree out_of_sight;
  for (const PortRef& port : group.in_force) {
    const Leads leads = ports(port);
    if (leads == Leads::ToSwitch) stands.insert(port);
    if (leads == Leads::Unknown) out_of_sight.insert(port);
  }
  Tree trunk;
  for (const PortRef& port : wanted) {
    if (ports(port) != Leads::ToHost) trunk.insert(port);
  }
  const bool loses = !std::ranges::includes(trunk, stands);
  const bool gains = !std::ranges::includes(stands, trunk);
  Tree write = wanted;
  if (gains && (loses || now < group.packets_gone)) {
    std::erase_if(write, [&](const PortRef& port) { return trunk.contains(port) && !stands.contains(port); });
  }
  group.loses = loses;
  group.confirmed = group.asked = false;
  group.in_force.insert(write.begin(), write.end());
  group.out_of_sight = std::move(out_of_sight);
  group.wanted = std::move(wanted);
  group.written = std::move(write);
  return group.written;
}

void GroupStages::confirm(Time now, std::chrono::nanoseconds packet_life) {
  for (auto& [number, group] : groups_) {
    if (std::exchange(group.confirmed, true)) continue;
    group.in_force = group.written;
    group.in_force.insert(group.out_of_sight.begin(), group.out_of_sight.end());
    if (group.loses) group.packets_gone = now + packet_life;
  }
}

bool GroupStages::settled(Mlid group) const {
  const auto found = groups_.find(group);
  return found == groups_.end() || (found->second.confirmed && found->second.written == found->second.wanted);
}

bool GroupStages::settled() const {
  return std::ranges::all_of(groups_, [this](const auto& each) { return settled(each.first); });
}

std::vector<GroupStages::Mlid> GroupStages::due_by(Time now) const {
  std::vector<Mlid> result;
  for (const auto& [number, group] : groups_) {
    const bool is_behind = group.confirmed && group.written != group.wanted;
    if (is_behind && !group.asked && group.packets_gone <= now) result.push_back(number);
  }
  return result;
}

}  // namespace heddle::plugin
