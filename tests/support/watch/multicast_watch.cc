#include "support/watch/multicast_watch.h"

#include <fmt/format.h>

#include <deque>

namespace heddle::test {

/// Switch ports at which the members of each group hang.
std::map<Lid, std::vector<LinkEnd>> MulticastWatch::group_members() const {
  std::map<Lid, std::vector<LinkEnd>> members;
  for (std::uint32_t n = 0; n < watched_.fabric().nodes().size(); ++n) {
    const NodeIndex node{n};
    if (!watched_.is_switch(node) || watched_.faults.is_dead(node)) continue;
    for (const Lid group : watched_.sim().multicast_groups(node)) {
      for (unsigned p = 1; p <= watched_.fabric().node(node).port_count; ++p) {
        const LinkEnd end{node, PortNum{static_cast<std::uint8_t>(p)}};
        const auto peer = watched_.fabric().peer(end);
        const bool member = peer && !watched_.is_switch(peer->node);
        if (member && watched_.sim().multicasts(node, group, end.port)) members[group].push_back(end);
      }
    }
  }
  return members;
}

/// Where a packet comes that this member sends to its group.
std::set<LinkEnd> MulticastWatch::send(Lid group, LinkEnd from, std::vector<std::string>& texts) const {
  std::set<LinkEnd> delivered;
  std::set<NodeIndex> met;
  std::deque<LinkEnd> queue{from};  // by the port at which it comes in
  while (!queue.empty()) {
    const LinkEnd at = queue.front();
    queue.pop_front();
    if (watched_.faults.is_dead(at.node)) continue;
    if (!met.insert(at.node).second) {
      texts.push_back(
          fmt::format("a packet of group {:#x} comes to {} twice", group.raw(), watched_.name(at.node)));
      return delivered;
    }
    for (unsigned p = 1; p <= watched_.fabric().node(at.node).port_count; ++p) {
      const LinkEnd out{at.node, PortNum{static_cast<std::uint8_t>(p)}};
      if (out.port == at.port || !watched_.sim().multicasts(at.node, group, out.port)) continue;
      const auto peer = watched_.fabric().peer(out);
      if (!peer || watched_.faults.has(watched_.fabric().port(out).link)) continue;
      if (const auto wrong = watched_.port_fault(at.node, out.port); !wrong.empty()) {
        texts.push_back(fmt::format("group {:#x}: {}", group.raw(), wrong));
      } else if (watched_.is_switch(peer->node)) {
        queue.push_back(*peer);
      } else {
        delivered.insert(out);
      }
    }
  }
  return delivered;
}

std::vector<std::string> MulticastWatch::check(Everybody everybody) {
  std::vector<std::string> texts;
  const NodeSet& joined = watched_.joined();
  if (!members_) members_ = group_members();
  for (const auto& [group, members] : *members_) {
    for (const LinkEnd from : members) {
      if (!joined.contains(from.node)) continue;
      const std::set<LinkEnd> delivered = send(group, from, texts);
      if (everybody == Everybody::MayMissIt) continue;
      for (const LinkEnd to : members) {
        if (to == from || delivered.contains(to) || !joined.contains(to.node)) continue;
        texts.push_back(fmt::format("group {:#x}: what {} sends does not come to {}", group.raw(),
                                    watched_.name(watched_.fabric().peer(from)->node),
                                    watched_.name(watched_.fabric().peer(to)->node)));
      }
    }
  }
  return texts;
}

}  // namespace heddle::test
