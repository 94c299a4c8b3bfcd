#include "authority/own/multicast_groups.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "routing/multicast.h"

namespace heddle::provision {
namespace {

using routing::Hop;
using routing::SwitchGraph;
using routing::SwitchIndex;

/// Stands for a switch of which nobody is a member: no switch has a port with this number.
constexpr PortNum nobody{255};

const Hop* hop_by(const SwitchGraph& graph, SwitchIndex sw, std::size_t port) {
  const auto hops = graph.hops(sw);
  const auto it =
      std::find_if(hops.begin(), hops.end(), [&](const Hop& hop) { return hop.out.raw() == port; });
  return it == hops.end() ? nullptr : &*it;
}

/// One group's ports, by SwitchIndex.
using Tree = std::vector<PortBits>;

/// Whether the links of the tree are permitted, lead both ways, form no circle, and join all of these.
bool is_whole(const SwitchGraph& graph, const routing::LinkSet& permitted, const Tree& tree,
              std::span<const routing::MulticastMember> members) {
  std::size_t ends = 0;
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    if (tree[s].none()) continue;
    for (const Hop& hop : graph.hops(SwitchIndex{s})) {
      if (!tree[s][hop.out.raw()]) continue;
      if (!permitted.contains(hop.link) || !tree[hop.peer.raw()][hop.in.raw()]) return false;
      ++ends;
    }
  }
  std::vector<bool> met(graph.size(), false);
  std::vector<SwitchIndex> queue{members.front().at};
  met[queue.front().raw()] = true;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const Hop& hop : graph.hops(queue[i])) {
      if (!tree[queue[i].raw()][hop.out.raw()] || met[hop.peer.raw()]) continue;
      met[hop.peer.raw()] = true;
      queue.push_back(hop.peer);
    }
  }
  const bool all = std::all_of(members.begin(), members.end(), [&](const routing::MulticastMember& member) {
    return met[member.at.raw()] && (member.out == nobody || tree[member.at.raw()][member.out.raw()]);
  });
  return all && ends == 2 * (queue.size() - 1);
}

/// Takes away ports of those that have left, and branches that lead to nobody else: what then stands is part
/// of what stood before. Whether anything was taken.
bool prune(const SwitchGraph& graph, Tree& tree, std::span<const routing::MulticastMember> members) {
  std::vector<PortBits> used(graph.size());
  std::vector<char> is_end(graph.size(), 0);  // has a member, or who only sends
  for (const routing::MulticastMember& member : members) {
    is_end[member.at.raw()] = 1;
    if (member.out != nobody) used[member.at.raw()].set(member.out.raw());
  }
  bool taken = false;
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    PortBits branches;
    for (const Hop& hop : graph.hops(SwitchIndex{s})) branches.set(hop.out.raw());
    const PortBits kept = tree[s] & (branches | used[s]);
    taken = taken || kept != tree[s];
    tree[s] = kept;
  }
  if (!taken) return false;
  for (bool again = true; std::exchange(again, false);) {
    for (std::uint32_t s = 0; s < graph.size(); ++s) {
      if (is_end[s] != 0 || tree[s].count() != 1) continue;
      for (const Hop& hop : graph.hops(SwitchIndex{s})) {
        if (!tree[s][hop.out.raw()]) continue;
        tree[hop.peer.raw()].reset(hop.in.raw());
        tree[s].reset();
        again = true;
        break;
      }
    }
  }
  return true;
}

}  // namespace

void MulticastGroups::learn(const SwitchGraph& graph, SwitchIndex sw, const MulticastTable& found) {
  for (const auto& [lid, ports] : found) {
    Group& group = groups_[lid];
    group.is_settled = false;
    bool has_members = false;
    for (std::size_t port = 0; port < ports.size(); ++port) {
      if (!ports[port] || hop_by(graph, sw, port) != nullptr) continue;
      group.found.members.insert({graph.guid(sw), PortNum{static_cast<std::uint8_t>(port)}});
      has_members = true;
    }
    if (!has_members && graph.hosts_at(sw) > 0) group.found.senders.insert(graph.guid(sw));
  }
}

void MulticastGroups::set_joined(std::map<Lid, Joined> joined) {
  for (auto& [lid, group] : groups_) {
    const Joined& now = joined[lid];
    for (const PortRef& port : group.joined.members) {
      if (!now.members.contains(port)) group.found.members.erase(port);
    }
    for (const NodeGuid sw : group.joined.senders) {
      if (!now.senders.contains(sw)) group.found.senders.erase(sw);
    }
  }
  for (auto& [lid, now] : joined) {
    // A group that nobody was ever in needs no entry taken away.
    if (now == Joined{} && !groups_.contains(lid)) continue;
    Group& group = groups_[lid];
    if (group.joined != now) group.is_settled = false;
    group.joined = std::move(now);
  }
}

void MulticastGroups::settle(const std::function<bool(Lid)>& leave) {
  for (auto& [lid, group] : groups_) group.is_settled = !leave(lid);
}

void MulticastGroups::keep_only(const std::unordered_set<NodeGuid>& switches) {
  for (auto& [lid, group] : groups_) {
    std::erase_if(group.found.members, [&](const PortRef& port) { return !switches.contains(port.node); });
    std::erase_if(group.found.senders, [&](NodeGuid sw) { return !switches.contains(sw); });
  }
}

void MulticastGroups::unsettle() {
  for (auto& [lid, group] : groups_) group.is_settled = false;
}

std::size_t MulticastGroups::size() const {
  return static_cast<std::size_t>(std::count_if(
      groups_.begin(), groups_.end(), [](const auto& entry) { return entry.second.has_anybody(); }));
}

Lid MulticastGroups::top() const {
  for (auto it = groups_.rbegin(); it != groups_.rend(); ++it) {
    if (it->second.has_anybody()) return it->first;
  }
  return no_lid;
}

MulticastGroups::Wanted MulticastGroups::trees(const Routes& routes,
                                               std::span<const MulticastTable* const> held,
                                               const std::function<bool(Lid)>& leave) const {
  const SwitchGraph& graph = routes.order->graph();
  Wanted wanted;
  for (const MulticastTable* table : held) {
    wanted.tables.push_back(table == nullptr ? MulticastTable{} : *table);
  }
  std::unordered_map<NodeGuid, SwitchIndex> present;
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    if (held[s] != nullptr) present.emplace(graph.guid(SwitchIndex{s}), SwitchIndex{s});
  }
  for (const auto& [lid, group] : groups_) {
    if (group.is_settled || leave(lid)) continue;
    if (!group.has_anybody()) {
      for (MulticastTable& table : wanted.tables) table.erase(lid);
      continue;
    }
    std::set<PortRef> ports = group.found.members;
    ports.insert(group.joined.members.begin(), group.joined.members.end());
    std::set<NodeGuid> senders = group.found.senders;
    senders.insert(group.joined.senders.begin(), group.joined.senders.end());
    std::vector<routing::MulticastMember> members;
    for (const PortRef& port : ports) {
      if (const auto at = present.find(port.node); at != present.end()) {
        members.push_back({at->second, port.port});
      }
    }
    for (const NodeGuid guid : senders) {
      if (const auto at = present.find(guid); at != present.end()) members.push_back({at->second, nobody});
    }
    Tree tree(graph.size());
    for (std::uint32_t s = 0; s < graph.size(); ++s) {
      if (held[s] == nullptr) continue;
      if (const auto found = held[s]->find(lid); found != held[s]->end()) tree[s] = found->second;
    }
    const bool pruned = prune(graph, tree, members);
    if (!members.empty() && is_whole(graph, routes.in_all_planes, tree, members)) {
      for (std::uint32_t s = 0; pruned && s < graph.size(); ++s) {
        wanted.tables[s].erase(lid);
        if (tree[s].any()) wanted.tables[s][lid] = tree[s];
      }
      continue;
    }

    const auto grow = [&, turn = lid.raw()](const routing::LinkSet& permitted) {
      return routing::grow_tree(graph, routes.order->ranks(), permitted, members, turn);
    };
    auto grown = grow(routes.in_all_planes);
    if (grown.unreached > 0) {
      auto other = grow(routes.may_be_used);
      if (other.unreached < grown.unreached) grown = std::move(other);
    }
    wanted.unreached += grown.unreached;
    for (MulticastTable& table : wanted.tables) table.erase(lid);
    for (const auto& port : grown.ports) {
      if (port.port != nobody) wanted.tables[port.sw.raw()][lid].set(port.port.raw());
    }
    // Members that are out of reach too: they hear each other, and a restart finds them.
    for (const auto& member : members) {
      if (member.out != nobody) wanted.tables[member.at.raw()][lid].set(member.out.raw());
    }
  }
  return wanted;
}

}  // namespace heddle::provision
