#include "check/multicast.h"

#include <fmt/format.h>

#include <algorithm>

namespace wire {
namespace {

constexpr int ports_of_mask = 16;

}  // namespace

void Multicast::check(const Changes& changes, Time now) {
  for (const int group : changes.groups) check_group(group, now);
}

std::vector<Multicast::Out> Multicast::ports(int switch_number, int group) const {
  std::vector<Out> result;
  const Topology& topology = world_.topology();
  const int last = topology.node(topology.switches()[static_cast<std::size_t>(switch_number)]).ports;
  for (int position = 0; position * ports_of_mask <= last; ++position) {
    const auto* const masks = world_.mask(switch_number, group, position);
    if (masks == nullptr) continue;
    for (int bit = 0; bit < ports_of_mask; ++bit) {
      const Candidate* first = nullptr;
      for (const Candidate& each : *masks) {
        if ((each.value >> bit & 1) != 0 && (first == nullptr || each.since < first->since)) first = &each;
      }
      if (first != nullptr && position + bit > 0)
        result.push_back({position * ports_of_mask + bit, first->written});
    }
  }
  return result;
}

void Multicast::send(int from, int group, Finding& into) const {
  struct Arrival {
    int switch_number;
    int by;
  };
  const Topology& topology = world_.topology();
  std::vector<std::uint8_t> visited(topology.switches().size());
  std::vector<Arrival> queue{{from, 0}};
  visited[static_cast<std::size_t>(from)] = 1;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const Arrival at = queue[i];
    const int node = topology.switches()[static_cast<std::size_t>(at.switch_number)];
    for (const Out& out : ports(at.switch_number, group)) {
      if (out.port == at.by) continue;
      const int cable = topology.cable_at({node, out.port});
      if (cable < 0) continue;
      const Link& link = world_.link(cable);
      if (!link.is_usable()) {
        if (link.is_unknown() || link.excuses(out.written, rules_.grace))
          into.excused = true;
        else if (into.off.empty())
          into.off = fmt::format("group {:#x}, from {}: {} sends into a link that is off", group,
                                 topology.node(topology.switches()[static_cast<std::size_t>(from)]).name,
                                 topology.show({node, out.port}));
        into.nodes.push_back(node);
        continue;
      }
      const End in = topology.peer({node, out.port});
      const int next = topology.node(in.node).switch_number;
      if (next < 0) continue;
      if (visited[static_cast<std::size_t>(next)] != 0) {
        if (into.twice.empty())
          into.twice = fmt::format("group {:#x}, from {}: {} gets a packet twice, the second by {}", group,
                                   topology.node(topology.switches()[static_cast<std::size_t>(from)]).name,
                                   topology.node(in.node).name, topology.show(in));
        into.nodes.push_back(node);
        into.nodes.push_back(in.node);
        continue;
      }
      visited[static_cast<std::size_t>(next)] = 1;
      queue.push_back({next, in.port});
    }
  }
}

void Multicast::check_group(int group, Time now) {
  const Topology& topology = world_.topology();
  Finding finding;
  for (int s = 0; s < topology.switch_count(); ++s) {
    const int node = topology.switches()[static_cast<std::size_t>(s)];
    const auto outs = ports(s, group);
    const bool has_member = std::any_of(outs.begin(), outs.end(), [&](const Out& out) {
      const End peer = topology.peer({node, out.port});
      return peer.node >= 0 && !topology.is_switch(peer.node);
    });
    if (!has_member) continue;
    finding.has_sender = true;
    send(s, group, finding);
  }
  Group& known = groups_[group];
  const bool is_well = finding.twice.empty() && finding.off.empty() && !finding.excused;
  if (is_well && finding.has_sender) known.standing = Standing::Established;
  if (known.standing == Standing::Established && finding.excused) known.standing = Standing::Broken;
  const bool is_judged = known.standing == Standing::Established;
  const bool twice = !finding.twice.empty() && known.standing != Standing::Never;
  const bool off = is_judged && !finding.off.empty();
  if (twice && !known.twice) report_.found(Wrong::MulticastTwice, finding.twice, finding.nodes);
  if (off && !known.off) report_.found(Wrong::MulticastOff, finding.off, finding.nodes);
  if (known.twice && !twice) report_.ended(Wrong::MulticastTwice, known.since);
  if (known.off && !off) report_.ended(Wrong::MulticastOff, known.since);
  if ((twice || off) && !known.twice && !known.off) known.since = now;
  known.twice = twice;
  known.off = off;
}

}  // namespace wire
