#include "routing/detour.h"

#include <algorithm>

namespace heddle::routing {

Detour::Detour(const SwitchGraph& graph, const Destinations& destinations, const LegalPaths& full,
               const LegalPaths& paths, const LinkSet& active, Plane plane)
    : graph_{graph},
      destinations_{destinations},
      full_{full},
      paths_{paths},
      active_{active},
      plane_{plane} {}

const Hop* Detour::hop_at(SwitchIndex x, std::uint8_t port) {
  const auto hops = graph_.hops(x);
  const auto it = std::lower_bound(hops.begin(), hops.end(), PortNum{port},
                                   [](const Hop& hop, PortNum out) { return hop.out < out; });
  return it != hops.end() && it->out == PortNum{port} ? &*it : nullptr;
}

void Detour::gather(SwitchIndex x, SwitchIndex d) {
  shortest_.clear();
  if (paths_.distance(x, d) == LegalPaths::far) return;
  for (const Hop& hop : graph_.hops(x)) {
    if (active_.contains(hop.link) && paths_.shortest(x, hop, d)) shortest_.push_back(&hop);
  }
}

bool Detour::leads_home(SwitchIndex x, SwitchIndex d, std::uint8_t port) {
  const Hop* hop = hop_at(x, port);
  if (hop == nullptr || !active_.contains(hop->link) || !paths_.legal(x, *hop, d)) return false;
  // A home path that is longer than the shortest by choice is kept as long as it is no longer than at home.
  return paths_.distance(hop->peer, d) + 1 == paths_.distance(x, d) ||
         paths_.distance(hop->peer, d) == full_.distance(hop->peer, d);
}

std::span<const Detour::Entry> Detour::changes(SwitchIndex x, SwitchIndex d,
                                               std::span<const std::uint8_t> home,
                                               std::span<const std::uint8_t> row) {
  changes_.clear();
  lost_.clear();
  const auto set = [&](Lid lid, std::uint8_t port) {
    if (row[lid.raw()] != port) changes_.push_back({lid, PortNum{port}});
  };
  std::uint8_t seen = no_path.raw();
  bool seen_good = false;
  for (const Destination& lid : destinations_.at(d)) {
    if (lid.offset % plane_.count != plane_.number) continue;
    const std::uint8_t at_home = home[lid.lid.raw()];
    const LinkIndex host_link = graph_.targets()[lid.target].link;
    if (host_link != no_link && !active_.contains(host_link)) {
      set(lid.lid, no_path.raw());
    } else if (x == d || at_home == no_path.raw()) {
      set(lid.lid, at_home);
    } else {
      if (at_home != seen) {
        seen = at_home;
        seen_good = leads_home(x, d, at_home);
      }
      if (seen_good) {
        set(lid.lid, at_home);
      } else {
        lost_.push_back(&lid);
      }
    }
  }
  if (lost_.empty()) return changes_;
  gather(x, d);
  const std::size_t turn = std::size_t{d.raw()} * lost_.size();
  for (std::size_t i = 0; i < lost_.size(); ++i) {
    const Lid lid = lost_[i]->lid;
    if (shortest_.empty()) {
      set(lid, no_path.raw());
      continue;
    }
    const Hop* gone = hop_at(x, home[lid.raw()]);
    same_peer_.clear();
    for (const Hop* hop : shortest_) {
      if (hop->peer == gone->peer) same_peer_.push_back(hop);
    }
    const auto& choices = same_peer_.empty() ? shortest_ : same_peer_;
    // One step more after every round of destinations: the next switch deals what arrives here in turns too,
    // and must not find every third LID, say, on the same ones of its own.
    const std::size_t skip = d.raw() / choices.size();
    set(lid, choices[(turn + skip + i) % choices.size()]->out.raw());
  }
  return changes_;
}

void add_host_links(const SwitchGraph& graph, std::span<const LinkIndex> changed,
                    std::vector<LegalPaths::Affected>& affected) {
  std::vector<SwitchIndex> at;
  for (const Target& target : graph.targets()) {
    if (target.link != no_link && std::find(changed.begin(), changed.end(), target.link) != changed.end()) {
      at.push_back(target.at);
    }
  }
  if (at.empty()) return;
  std::sort(at.begin(), at.end());
  at.erase(std::unique(at.begin(), at.end()), at.end());
  std::vector<LegalPaths::Affected> merged;
  std::size_t next = 0;
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    LegalPaths::Affected entry{SwitchIndex{i}, at};
    if (next < affected.size() && affected[next].sw == entry.sw) {
      std::vector<SwitchIndex> both;
      const auto& more = affected[next++].destinations;
      std::set_union(at.begin(), at.end(), more.begin(), more.end(), std::back_inserter(both));
      entry.destinations = std::move(both);
    }
    merged.push_back(std::move(entry));
  }
  affected = std::move(merged);
}

}  // namespace heddle::routing
