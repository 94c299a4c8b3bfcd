#include "routing/stopovers.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <queue>
#include <tuple>

namespace heddle::routing {
namespace {

/// Dependencies that one LID's room may take away.
constexpr std::size_t most_avoided = 32;
/// For one LID.
constexpr std::size_t most_ways_tried = 64;

/// One LID's way, outward; whoever is led there is to be led there by it.
class WaySearch {
 public:
  /// `avoided`: by a way, no packet waits so. `barred`: hops that no new way takes.
  WaySearch(const LidMixtures& mixtures, Lid lid, const ForwardingTables& old, Dependencies& standing,
            const std::set<std::pair<std::uint32_t, std::uint32_t>>& avoided, std::size_t& budget,
            std::set<std::uint32_t> barred = {})
      : mixtures_{mixtures},
        lid_{lid},
        target_{*mixtures.targets()[lid.raw()]},
        standing_{standing},
        avoided_{avoided},
        budget_{budget},
        barred_{std::move(barred)},
        by_(mixtures.graph().size(), HopMap::none) {
    for (std::uint32_t s = 0; s < by_.size(); ++s) old_.push_back(mixtures.hop(old, s, lid));
  }

  /// False: not found. `without`, by switch: who is led by nobody and leads nobody; empty: none.
  bool run(std::span<const char> without) {
    offer(target_.at.raw(), 0);
    while (!offers_.empty()) {
      const auto [far, hop] = offers_.top();
      offers_.pop();
      const std::uint32_t s = map().from(hop);
      // What is added in vain only keeps others from more.
      if (!without.empty() && without[s] != 0) continue;
      if (is_reached(s) || barred_.contains(hop) || !goes_on(hop) || !takes_senders(s, hop)) continue;
      by_[s] = hop;
      offer(s, far);
    }
    return is_whole();
  }
  /// By which those go on to whom somebody without a way could send.
  [[nodiscard]] std::set<std::uint32_t> in_the_way() const {
    std::set<std::uint32_t> result;
    for (std::uint32_t s = 0; s < by_.size(); ++s) {
      const auto hops = graph().hops(SwitchIndex{s});
      for (std::size_t h = 0; h < hops.size() && !is_reached(s); ++h) {
        const std::uint32_t next = by_[hops[h].peer.raw()];
        if (mixtures_.usable()[graph().first_hop(SwitchIndex{s}) + h] != 0 && next != HopMap::none)
          result.insert(next);
      }
    }
    return result;
  }
  void set(ForwardingTables& tables) const {
    for (std::uint32_t s = 0; s < by_.size(); ++s) {
      const SwitchIndex sw{s};
      if (by_[s] != HopMap::none) tables.set(sw, lid_, graph().hops(sw)[by_[s] - graph().first_hop(sw)].out);
    }
  }

 private:
  [[nodiscard]] const SwitchGraph& graph() const { return mixtures_.graph(); }
  [[nodiscard]] const HopMap& map() const { return mixtures_.map(); }
  [[nodiscard]] bool is_reached(std::uint32_t s) const {
    return s == target_.at.raw() || by_[s] != HopMap::none;
  }

  /// Another entry than that of before costs more than a few steps.
  void offer(std::uint32_t to, std::size_t far) {
    constexpr std::size_t other = 4;
    for (const Hop& back : graph().hops(SwitchIndex{to})) {
      if (is_reached(back.peer.raw())) continue;
      const auto hops = graph().hops(back.peer);
      for (std::size_t h = 0; h < hops.size(); ++h) {
        const auto hop = static_cast<std::uint32_t>(graph().first_hop(back.peer) + h);
        if (hops[h].peer.raw() != to || mixtures_.usable()[hop] == 0) continue;
        offers_.emplace(far + 1 + (old_[back.peer.raw()] != hop ? other : 0), hop);
      }
    }
  }
  /// Adds a dependency unless that closes a circle.
  bool take(std::uint32_t held, std::uint32_t wanted) {
    if (standing_.has(held, wanted)) return true;
    if (standing_.leads(wanted, held, budget_)) return false;
    standing_.add(held, wanted, lid_);
    return true;
  }
  bool goes_on(std::uint32_t hop) {
    const std::uint32_t next = map().peer(hop);
    return next == target_.at.raw() || (!avoided_.contains({hop, by_[next]}) && take(hop, by_[next]));
  }
  /// Who sends here by an old entry may still do so.
  bool takes_senders(std::uint32_t s, std::uint32_t hop) {
    for (const Hop& back : graph().hops(SwitchIndex{s})) {
      const std::uint32_t from = back.peer.raw();
      const std::uint32_t held = from == target_.at.raw() ? HopMap::none : old_[from];
      if (held != HopMap::none && map().peer(held) == s && !take(held, hop)) return false;
    }
    return true;
  }
  [[nodiscard]] bool is_whole() const {
    for (std::uint32_t s = 0; s < old_.size(); ++s) {
      std::uint32_t at = s;
      for (std::size_t hops = 0; at != target_.at.raw() && hops <= old_.size(); ++hops) {
        if (old_[at] == HopMap::none) break;
        at = map().peer(old_[at]);
      }
      if (at == target_.at.raw() && !is_reached(s)) return false;
    }
    return true;
  }

  const LidMixtures& mixtures_;
  Lid lid_;
  const Target& target_;
  Dependencies& standing_;
  const std::set<std::pair<std::uint32_t, std::uint32_t>>& avoided_;
  std::size_t& budget_;
  std::set<std::uint32_t> barred_;
  std::vector<std::uint32_t> old_;  ///< by switch, its hop
  std::vector<std::uint32_t> by_;   ///< likewise; HopMap::none: its entry stays
  using Offer = std::pair<std::size_t, std::uint32_t>;
  std::priority_queue<Offer, std::vector<Offer>, std::greater<>> offers_;
};

}  // namespace

RoomMaker::RoomMaker(const LidMixtures& mixtures, std::span<const Lid> left, std::span<const Led> led)
    : mixtures_{mixtures}, left_{left}, others_{mixtures.graph()} {
  const std::set<Lid> waiting(left.begin(), left.end());
  for (std::size_t i = 0; i < led.size(); ++i) {
    const Lid lid{static_cast<std::uint16_t>(i)};
    if (!waiting.contains(lid)) mixtures.add(lid, led[i], others_);
  }
}

/// While `lid` changes, outward, and all others that are left are on their ways.
Dependencies RoomMaker::then(Lid lid, const Attempt& attempt) const {
  Dependencies result = others_;
  for (const Lid each : left_) {
    const Target& target = *mixtures_.targets()[each.raw()];
    for (std::uint32_t s = 0; s < mixtures_.graph().size(); ++s) {
      if (s == target.at.raw()) continue;
      const std::uint32_t by = mixtures_.hop(attempt.tables, s, each);
      mixtures_.follow(target, each, attempt.tables, by, result);
      if (each != lid) continue;
      mixtures_.follow(target, each, mixtures_.after(), by, result);
      mixtures_.follow(target, each, mixtures_.after(), mixtures_.hop(mixtures_.after(), s, each), result);
    }
  }
  return result;
}

bool RoomMaker::makes(Lid lid, const Wait& wait, const ForwardingTables& tables) const {
  const auto& [held, wanted] = wait;
  const std::uint32_t at = mixtures_.targets()[lid.raw()]->at.raw();
  const std::uint32_t from = mixtures_.map().from(held);
  const std::uint32_t over = mixtures_.map().peer(held);
  return from != at && over != at && mixtures_.hop(tables, from, lid) == held &&
         mixtures_.hop(tables, over, lid) == wanted;
}

bool RoomMaker::move(Lid lid, std::span<const char> without, Attempt& attempt) {
  // It goes from where it is to its last way at once.
  WaySearch search(mixtures_, lid, mixtures_.before(), attempt.standing, attempt.avoided, budget_);
  if (!search.run(without)) return false;
  search.set(attempt.tables);
  attempt.moved.insert(lid);
  return true;
}

/// By switch: its packets lead nowhere, and will not. What it were given for a while would be taken away.
std::vector<char> RoomMaker::without_way(Lid lid) const {
  std::vector<char> result(mixtures_.graph().size(), 0);
  for (std::uint32_t s = 0; s < result.size(); ++s) {
    const bool will = mixtures_.hop(mixtures_.after(), s, lid) != HopMap::none;
    result[s] = !will && !mixtures_.leads_there(mixtures_.before(), lid, s) ? 1 : 0;
  }
  return result;
}

/// Whoever makes it goes another way.
std::optional<RoomMaker::Attempt> RoomMaker::without(const Wait& wait, const Attempt& attempt) {
  if (others_.has(wait.first, wait.second)) return std::nullopt;
  Attempt next = attempt;
  next.avoided.insert(wait);
  bool moves = false;
  for (const Lid lid : left_) {
    if (!makes(lid, wait, attempt.tables)) continue;
    if (!move(lid, without_way(lid), next)) return std::nullopt;
    moves = true;
  }
  if (!moves) return std::nullopt;
  return next;
}

/// Those that are left, and make it while `lid` changes; nobody where it stays even so.
std::vector<Lid> RoomMaker::makers(const Wait& wait, Lid lid, const ForwardingTables& tables) const {
  if (others_.has(wait.first, wait.second) || makes(lid, wait, mixtures_.after())) return {};
  std::vector<Lid> result;
  for (const Lid each : left_) {
    const bool holds = mixtures_.hop(tables, mixtures_.map().from(wait.first), each) == wait.first;
    if (makes(each, wait, tables) || (each == lid && holds)) result.push_back(each);
  }
  return result;
}

/// Those that make one wait of the circle lose the entry by which they hold its first hop.
std::optional<RoomMaker::Attempt> RoomMaker::pause(Lid lid, std::span<const Dependencies::Edge> circle,
                                                   const Attempt& attempt) const {
  std::vector<Lid> pausing;
  std::uint32_t at = 0;
  std::size_t fewest = static_cast<std::size_t>(-1);
  for (std::size_t i = 0; i < circle.size(); ++i) {
    const Wait wait{circle[i].hop, circle[(i + 1) % circle.size()].hop};
    std::vector<Lid> found = makers(wait, lid, attempt.tables);
    const std::uint32_t from = mixtures_.map().from(wait.first);
    std::size_t count = 0;
    for (const Lid each : found) count += led_over(from, each, attempt.tables);
    if (found.empty() || count >= fewest) continue;
    pausing = std::move(found);
    at = from;
    fewest = count;
  }
  if (pausing.empty()) return std::nullopt;
  Attempt next = attempt;
  next.paused += fewest;
  next.moved.insert(pausing.begin(), pausing.end());
  for (const Lid each : pausing) next.tables.set(SwitchIndex{at}, each, no_path);
  return next;
}

/// How many switches' packets pass this one, and arrive.
std::size_t RoomMaker::led_over(std::uint32_t s, Lid lid, const ForwardingTables& tables) const {
  if (!mixtures_.leads_there(tables, lid, s)) return 0;
  std::size_t count = 0;
  for (std::uint32_t from = 0; from < mixtures_.graph().size(); ++from) {
    std::uint32_t at = from;
    for (std::size_t hops = 0; at != s && hops <= mixtures_.graph().size(); ++hops) {
      const std::uint32_t by = mixtures_.hop(tables, at, lid);
      if (by == HopMap::none) break;
      at = mixtures_.map().peer(by);
    }
    count += at == s ? 1 : 0;
  }
  return count;
}

std::optional<RoomMaker::Moved> RoomMaker::make_for(Lid lid, const Dependencies& standing, Pauses pauses) {
  Attempt attempt{mixtures_.before(), standing, {}, {}, 0};
  // Others are not to pause in vain: it changes outward, as then() counts on.
  if (pauses == Pauses::Yes) attempt.moved.insert(lid);
  while (attempt.avoided.size() < most_avoided && attempts_ > 0) {
    --attempts_;
    const auto circle = then(lid, attempt).find_cycle();
    if (circle.empty()) {
      if (attempt.moved.empty()) return std::nullopt;
      return Moved{{attempt.moved.begin(), attempt.moved.end()}, std::move(attempt.tables), attempt.paused};
    }
    std::optional<Attempt> next;
    for (std::size_t i = 0; i < circle.size() && !next; ++i)
      next = without({circle[i].hop, circle[(i + 1) % circle.size()].hop}, attempt);
    if (!next && pauses == Pauses::Yes) next = pause(lid, circle, attempt);
    if (!next) return std::nullopt;
    attempt = *std::move(next);
  }
  return std::nullopt;
}

/// Where somebody is left without a way, others go on by other entries: fewer of these first.
std::optional<RoomMaker::Moved> RoomMaker::make_whole(Lid lid, Over over, Dependencies& standing) {
  const SwitchIndex end = mixtures_.targets()[lid.raw()]->at;
  std::set<std::set<std::uint32_t>> seen{{}};
  std::deque<std::set<std::uint32_t>> open{{}};
  const std::set<Wait> nothing;
  for (std::size_t tried = 0; tried < most_ways_tried && !open.empty(); ++tried) {
    const std::set<std::uint32_t> barred = std::move(open.front());
    open.pop_front();
    Dependencies with = standing;
    ForwardingTables tables = mixtures_.before();
    WaySearch search(mixtures_, lid, mixtures_.before(), with, nothing, budget_, barred);
    const bool leads_all = search.run({}) || over == Over::Open;
    search.set(tables);
    tables.set(end, lid, mixtures_.after().port(end, lid));
    if (leads_all && mixtures_.is_whole(lid, over, tables)) {
      standing = std::move(with);
      return Moved{{lid}, std::move(tables), 0};
    }
    for (const std::uint32_t hop : search.in_the_way()) {
      std::set<std::uint32_t> more = barred;
      more.insert(hop);
      if (seen.insert(more).second) open.push_back(std::move(more));
    }
  }
  return std::nullopt;
}

}  // namespace heddle::routing
