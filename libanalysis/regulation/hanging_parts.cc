#include "regulation/hanging_parts.h"

#include <algorithm>

namespace heddle::regulation {

using routing::Hop;
using routing::LinkSet;
using routing::SwitchIndex;

HangingParts::HangingParts(const Network& network, const LinkSet& active)
    : network_{network}, place_(network.graph().size(), none) {
  walk(active);
  find_parts(active);
}

/// Depth first, so that every cable that is not of the walk leads back along it. Not by recursion: a ring of
/// switches is as deep as it is long.
void HangingParts::walk(const LinkSet& active) {
  struct Visit {
    std::uint32_t place;
    std::size_t next_hop;
  };
  const routing::SwitchGraph& graph = network_.graph();
  std::vector<Visit> under_way;
  const auto enter = [&](SwitchIndex s, LinkIndex by, std::uint32_t from) {
    const auto place = static_cast<std::uint32_t>(order_.size());
    place_[s.raw()] = place;
    order_.push_back(s);
    came_by_.push_back(by);
    parent_.push_back(from);
    under_way.push_back({place, 0});
  };
  // Who is a manager's is reached whatever is lost.
  for (const SwitchIndex manager : network_.manager_switches()) enter(manager, no_link, none);
  while (!under_way.empty()) {
    Visit& visit = under_way.back();
    const auto hops = graph.hops(order_[visit.place]);
    if (visit.next_hop == hops.size()) {
      under_way.pop_back();
      continue;
    }
    const Hop& hop = hops[visit.next_hop++];
    if (active.contains(hop.link) && place_[hop.peer.raw()] == none) enter(hop.peer, hop.link, visit.place);
  }
}

/// By low-links (Tarjan, 1972): a switch hangs by the one that it was reached from if nothing from it on
/// leads further back, and by that cable alone if no other leads that far.
void HangingParts::find_parts(const LinkSet& active) {
  const routing::SwitchGraph& graph = network_.graph();
  const auto size = static_cast<std::uint32_t>(order_.size());
  std::vector<std::uint32_t> back(size);
  std::vector<std::uint32_t> end(size);
  std::vector<std::size_t> hosts(size);
  for (std::uint32_t place = 0; place < size; ++place) {
    back[place] = place;
    end[place] = place + 1;
    hosts[place] = graph.hosts_at(order_[place]);
  }
  for (std::uint32_t place = size; place-- > 0;) {
    for (const Hop& hop : graph.hops(order_[place])) {
      if (active.contains(hop.link) && hop.link != came_by_[place])
        back[place] = std::min(back[place], place_[hop.peer.raw()]);
    }
    const std::uint32_t parent = parent_[place];
    if (parent == none) continue;
    back[parent] = std::min(back[parent], back[place]);
    end[parent] = std::max(end[parent], end[place]);
    hosts[parent] += hosts[place];
  }
  part_of_.assign(size, none);
  for (std::uint32_t place = 0; place < size; ++place) {
    const std::uint32_t parent = parent_[place];
    if (parent == none) continue;
    part_of_[place] = part_of_[parent];
    if (back[place] < parent) continue;
    parts_.push_back({.first = place,
                      .end = end[place],
                      .outer = part_of_[parent],
                      .by_switch = order_[parent],
                      .is_by_one_cable = back[place] > parent,
                      .may_lose_switch = parent_[parent] != none,
                      .hosts = hosts[place]});
    part_of_[place] = static_cast<std::uint32_t>(parts_.size() - 1);
  }
}

template <class Parts, class F>
void HangingParts::each_bridged(Parts& self, Spare spare, F&& f) {
  if (spare.off_at == routing::no_switch || spare.other == routing::no_switch) return;
  const std::uint32_t place = self.place_[spare.other.raw()];
  if (place == none || self.place_[spare.off_at.raw()] == none) return;
  for (std::uint32_t p = self.part_of_[place]; p != none && !self.is_in(spare.off_at, self.parts_[p]);
       p = self.parts_[p].outer)
    f(self.parts_[p]);
}

void HangingParts::cover(Spare spare) {
  each_bridged(*this, spare, [&](Part& part) {
    ++part.covers;
    if (part.by_switch != spare.off_at) ++part.switch_covers;
  });
}

void HangingParts::uncover(Spare spare) {
  each_bridged(*this, spare, [&](Part& part) {
    --part.covers;
    if (part.by_switch != spare.off_at) --part.switch_covers;
  });
}

HangingParts::Worth HangingParts::worth(Spare spare) const {
  Worth worth;
  each_bridged(*this, spare, [&](const Part& part) {
    const std::size_t switches = part.end - part.first;
    if (part.is_by_one_cable && part.covers == 0) {
      worth.hosts_by_cable += part.hosts;
      worth.switches_by_cable += switches;
    }
    if (part.may_lose_switch && part.switch_covers == 0 && part.by_switch != spare.off_at) {
      worth.hosts_by_switch += part.hosts;
      worth.switches_by_switch += switches;
    }
  });
  return worth;
}

}  // namespace heddle::regulation
