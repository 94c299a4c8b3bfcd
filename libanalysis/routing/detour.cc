#include "routing/detour.h"

#include <algorithm>

namespace heddle::routing {

Detour::Detour(const FullTopology& full, const LegalPaths& paths, const LinkSet& active, Plane plane)
    : graph_{full.graph},
      destinations_{full.destinations},
      ranks_{full.ranks},
      full_{full.paths},
      mends_{full.mends},
      paths_{paths},
      active_{active},
      leading_{full.mends.leading(paths, &active)} {
  reached_.reserve(destinations_.all().size());
  for (const Destination& lid : destinations_.all()) {
    const LinkIndex link = graph_.targets()[lid.target].link;
    reached_.push_back(lid.offset % plane.count != plane.number   ? Reached::InOtherPlanes
                       : link == no_link || active.contains(link) ? Reached::Yes
                                                                  : Reached::No);
  }
}

void Detour::enter(SwitchIndex x) {
  if (x_ != no_switch) {
    for (const Hop& hop : graph_.hops(x_)) by_port_[hop.out.raw()] = Way{};
  }
  x_ = x;
  down_ = paths_.down(x).data();
  distance_ = paths_.distance(x).data();
  in_use_.clear();
  for (const Hop& hop : graph_.hops(x)) {
    by_port_[hop.out.raw()] = {hop.peer.raw(),
                               active_.contains(hop.link),
                               ranks_.above(x, hop.peer),
                               false,
                               paths_.down(hop.peer).data(),
                               paths_.distance(hop.peer).data(),
                               full_.distance(hop.peer).data()};
    if (active_.contains(hop.link)) in_use_.push_back(hop.out.raw());
  }
  trunks_in_use_.clear();
  for (const std::uint8_t port : in_use_) trunks_in_use_.push_back(by_port_[port].peer);
  std::sort(trunks_in_use_.begin(), trunks_in_use_.end());
  for (const Hop& hop : graph_.hops(x)) {
    by_port_[hop.out.raw()].has_active_twin =
        std::binary_search(trunks_in_use_.begin(), trunks_in_use_.end(), hop.peer.raw());
  }
}

bool Detour::legal(const Way& way, std::uint32_t d) const {
  if (down_[d] != LegalPaths::far) return way.descends && way.down[d] != LegalPaths::far;
  return !way.descends && way.distance[d] != LegalPaths::far;
}

bool Detour::leads_home(std::uint32_t d, std::uint8_t port) const {
  const Way& way = by_port_[port];
  if (!way.active || !legal(way, d)) return false;
  // A home path that is longer than the shortest by choice is kept as long as it is no longer than at home.
  return way.distance[d] + 1 == distance_[d] || way.distance[d] == way.at_home[d];
}

void Detour::gather(std::uint32_t d) {
  shortest_.clear();
  if (distance_[d] == LegalPaths::far) return;
  for (const std::uint8_t port : in_use_) {
    const Way& way = by_port_[port];
    if (way.distance[d] + 1 == distance_[d] && legal(way, d)) shortest_.push_back(port);
  }
}

std::span<const Detour::Entry> Detour::changes(SwitchIndex d, std::span<const std::uint8_t> home,
                                               std::span<const std::uint8_t> row) {
  changes_.clear();
  lost_.clear();
  if (x_ != d && full_.distance(x_, d) == LegalPaths::far) {
    mend(d, home, row);
    return changes_;
  }
  std::uint8_t seen = no_path.raw();
  bool seen_good = false;
  const Reached* next = &reached_[destinations_.first(d)];
  for (const Destination& lid : destinations_.at(d)) {
    const Reached reached = *next++;
    if (reached == Reached::InOtherPlanes) continue;
    const std::uint8_t at_home = home[lid.lid.raw()];
    if (reached == Reached::No) {
      set(lid.lid, no_path.raw(), row);
    } else if (x_ == d || at_home == no_path.raw()) {
      set(lid.lid, at_home, row);
    } else {
      if (at_home != seen) {
        seen = at_home;
        seen_good = leads_home(d.raw(), at_home);
      }
      if (seen_good) {
        set(lid.lid, at_home, row);
      } else {
        lost_.push_back(lid.lid);
      }
    }
  }
  if (!lost_.empty()) deal(d.raw(), home, row);
  return changes_;
}

void Detour::deal(std::uint32_t d, std::span<const std::uint8_t> home, std::span<const std::uint8_t> row) {
  gather(d);
  if (shortest_.empty()) {
    for (const Lid lid : lost_) set(lid, no_path.raw(), row);
    return;
  }
  // One step more after every round of destinations: the next switch deals what arrives here in turns too,
  // and must not find every third LID, say, on the same ones of its own.
  const auto first = [&](std::size_t choices) { return d * lost_.size() + d / choices; };
  // From elsewhere on by switch: a LID that all send to the same next switch comes down over one link,
  // together with what else does. The cables of one trunk lead to one switch anyway.
  std::size_t next = (first(shortest_.size()) + ranks_.position(x_)) % shortest_.size();
  for (std::size_t i = 0; i < lost_.size(); ++i) {
    const Way& gone = by_port_[home[lost_[i].raw()]];
    same_peer_.clear();
    if (gone.has_active_twin) {
      for (const std::uint8_t port : shortest_) {
        if (by_port_[port].peer == gone.peer) same_peer_.push_back(port);
      }
    }
    const std::size_t twins = same_peer_.size();
    set(lost_[i], twins == 0 ? shortest_[next] : same_peer_[(first(twins) + i) % twins], row);
    if (++next == shortest_.size()) next = 0;
  }
}

void Detour::mend(SwitchIndex d, std::span<const std::uint8_t> home, std::span<const std::uint8_t> row) {
  const std::uint32_t number = mends_.find(x_, d);
  if (number == Mends::none) return;
  const Mends::Mend& mend = mends_.all()[number];
  shortest_.clear();
  for (const Mends::Way& way : mends_.ways(mend)) {
    if (Mends::leads(mend, way, paths_, &active_, leading_)) shortest_.push_back(way.out.raw());
  }
  const Reached* next_reached = &reached_[destinations_.first(d)];
  std::size_t next = d.raw();
  for (const Destination& lid : destinations_.at(d)) {
    const Reached reached = *next_reached++;
    if (reached == Reached::InOtherPlanes) continue;
    std::uint8_t port = no_path.raw();
    if (reached == Reached::Yes && !shortest_.empty()) {
      port = shortest_[next++ % shortest_.size()];
      const std::uint8_t at_home = home[lid.lid.raw()];
      same_peer_.clear();
      for (const std::uint8_t other : shortest_) {
        if (at_home != no_path.raw() && by_port_[other].peer == by_port_[at_home].peer)
          same_peer_.push_back(other);
      }
      // As in deal(): what one trunk keeps does not change what others carry.
      if (std::find(same_peer_.begin(), same_peer_.end(), at_home) != same_peer_.end()) {
        port = at_home;
      } else if (!same_peer_.empty()) {
        port = same_peer_[next % same_peer_.size()];
      }
    }
    set(lid.lid, port, row);
  }
}

namespace {

/// Both ascend.
void merge(std::vector<LegalPaths::Affected>& affected, const std::vector<LegalPaths::Affected>& more) {
  std::vector<LegalPaths::Affected> merged;
  std::size_t next = 0;
  for (const LegalPaths::Affected& entry : more) {
    while (next < affected.size() && affected[next].sw < entry.sw)
      merged.push_back(std::move(affected[next++]));
    merged.push_back(entry);
    if (next == affected.size() || affected[next].sw != entry.sw) continue;
    std::vector<SwitchIndex> both;
    const auto& known = affected[next++].destinations;
    std::set_union(entry.destinations.begin(), entry.destinations.end(), known.begin(), known.end(),
                   std::back_inserter(both));
    merged.back().destinations = std::move(both);
  }
  while (next < affected.size()) merged.push_back(std::move(affected[next++]));
  affected = std::move(merged);
}

}  // namespace

void add_mends(const SwitchGraph& graph, const Mends& mends, std::vector<LegalPaths::Affected>& affected) {
  if (mends.all().empty()) return;
  std::vector<std::vector<SwitchIndex>> by_switch(graph.size());
  for (const Mends::Mend& mend : mends.all()) by_switch[mend.at.raw()].push_back(mend.to);
  std::vector<LegalPaths::Affected> more;
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    if (!by_switch[s].empty()) more.push_back({SwitchIndex{s}, std::move(by_switch[s])});
  }
  merge(affected, more);
}

void add_host_links(const SwitchGraph& graph, std::span<const LinkIndex> changed,
                    std::vector<LegalPaths::Affected>& affected) {
  std::vector<SwitchIndex> at;
  for (const Target& target : graph.targets()) {
    if (target.link != no_link && std::binary_search(changed.begin(), changed.end(), target.link))
      at.push_back(target.at);
  }
  if (at.empty()) return;
  std::sort(at.begin(), at.end());
  at.erase(std::unique(at.begin(), at.end()), at.end());
  std::vector<LegalPaths::Affected> more;
  for (std::uint32_t s = 0; s < graph.size(); ++s) more.push_back({SwitchIndex{s}, at});
  merge(affected, more);
}

void mend_home(const FullTopology& full, const LinkSet& all, ForwardingTables& home) {
  if (full.mends.all().empty()) return;
  Detour detour(full, full.paths, all, {});
  for (const Mends::Mend& mend : full.mends.all()) {
    detour.enter(mend.at);
    const auto row = home.row(mend.at);
    for (const auto& [lid, port] : detour.changes(mend.to, row, row)) row[lid.raw()] = port.raw();
  }
}

}  // namespace heddle::routing
