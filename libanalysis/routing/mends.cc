#include "routing/mends.h"

#include <algorithm>

#include "routing/turns.h"

namespace heddle::routing {
namespace {

/// Switches that a mend may pass before it meets one with a legal path.
constexpr std::size_t longest_detour = 6;
/// A share of the pairs of host switches without a path above which the order does not suit the fabric, and
/// is not worth the time of mending it.
constexpr std::size_t most_missing_percent = 5;
/// So many are always worth it.
constexpr std::size_t few_missing = 1000;
/// Pairs of a switch and one with hosts that are worth the time of mending, too.
constexpr std::size_t most_other_pairs = 20'000;

class Mender {
 public:
  Mender(const SwitchGraph& graph, const Ranks& ranks, const LegalPaths& full, std::span<const Turn> kept)
      : graph_{graph},
        ranks_{ranks},
        full_{full},
        turns_{graph, ranks, full},
        by_to_(graph.size()),
        turned_over_(graph.size(), 0) {
    turns_.keep(kept);
  }

  struct Draft {
    SwitchIndex at;
    std::vector<SwitchIndex> peers;
    std::size_t depth = 0;  ///< one more than that of any peer; those with a legal path have 0
  };

  [[nodiscard]] const std::unordered_set<std::uint64_t>& turns() const { return turns_.exceptions(); }
  /// What lies towards one destination.
  const std::vector<Draft>& drafts(SwitchIndex d) const { return by_to_[d.raw()]; }

  void mend(SwitchIndex from, SwitchIndex to) {
    enter(to);
    if (depth_[from.raw()] == unmended) search(from);
  }

  /// More ways that cost no more turns, for when links of the first are off.
  void add_spare_ways(SwitchIndex to) {
    if (by_to_[to.raw()].empty()) return;
    enter(to);
    for (Draft& draft : by_to_[to.raw()]) {
      for (const SwitchIndex peer : neighbours(draft.at)) {
        const bool known = std::find(draft.peers.begin(), draft.peers.end(), peer) != draft.peers.end();
        if (known || depth_[peer.raw()] >= draft.depth) continue;
        needed_.clear();
        need(draft.at, peer);
        // Those that lead here must be able to go on by it.
        for (const Draft& other : by_to_[to.raw()]) {
          if (std::find(other.peers.begin(), other.peers.end(), draft.at) != other.peers.end())
            needed_.push_back({other.at, draft.at, peer});
        }
        if (std::all_of(needed_.begin(), needed_.end(), [&](const Turn& t) { return turns_.allowed(t); }))
          draft.peers.push_back(peer);
      }
    }
  }

 private:
  static constexpr std::size_t unmended = static_cast<std::size_t>(-1);

  void enter(SwitchIndex to) {
    if (to == to_) return;
    to_ = to;
    depth_.assign(graph_.size(), unmended);
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      if (full_.distance(SwitchIndex{s}, to) != LegalPaths::far) depth_[s] = 0;
    }
    for (const Draft& draft : by_to_[to.raw()]) depth_[draft.at.raw()] = draft.depth;
  }

  [[nodiscard]] std::vector<SwitchIndex> neighbours(SwitchIndex s) const {
    std::vector<SwitchIndex> result;
    for (const Hop& hop : graph_.hops(s)) result.push_back(hop.peer);
    std::sort(result.begin(), result.end(), [&](SwitchIndex x, SwitchIndex y) { return ranks_.above(x, y); });
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
  }

  /// Where `s`, which has a path, may send what is for to_.
  template <class F>
  void for_each_onward(SwitchIndex s, F&& f) const {
    if (s == to_) return;
    if (depth_[s.raw()] == 0) {
      SwitchIndex last = no_switch;
      for (const Hop& hop : graph_.hops(s)) {
        if (hop.peer != last && full_.shortest(s, hop, to_)) f(hop.peer);
        last = hop.peer;
      }
      return;
    }
    for (const Draft& draft : by_to_[to_.raw()]) {
      if (draft.at != s) continue;
      for (const SwitchIndex peer : draft.peers) f(peer);
    }
  }

  /// The turns that packets make which come from `s` to `peer`.
  void need(SwitchIndex s, SwitchIndex peer) {
    for_each_onward(peer, [&](SwitchIndex next) { needed_.push_back({s, peer, next}); });
  }

  /// Breadth first over switches without a path, until turns are found that may be allowed.
  void search(SwitchIndex from) {
    struct Visit {
      SwitchIndex at;
      std::size_t before;
      std::size_t length;
    };
    std::vector<Visit> visits{{from, unmended, 1}};
    std::vector<std::uint8_t> seen(graph_.size(), 0);
    seen[from.raw()] = 1;
    for (std::size_t v = 0; v < visits.size(); ++v) {
      const Visit visit = visits[v];
      std::vector<std::pair<std::size_t, SwitchIndex>> ends;  // by the turns that are to be allowed for them
      for (const SwitchIndex peer : neighbours(visit.at)) {
        const bool goes_on =
            visit.before == unmended || turns_.possible({visits[visit.before].at, visit.at, peer});
        if (!goes_on) continue;
        if (depth_[peer.raw()] != unmended) {
          needed_.clear();
          need(visit.at, peer);
          if (!std::all_of(needed_.begin(), needed_.end(), [&](const Turn& t) { return turns_.possible(t); }))
            continue;
          const auto fresh = std::count_if(needed_.begin(), needed_.end(),
                                           [&](const Turn& t) { return !turns_.allowed(t); });
          ends.emplace_back(static_cast<std::size_t>(fresh), peer);
        } else if (seen[peer.raw()] == 0 && visit.length < longest_detour) {
          seen[peer.raw()] = 1;
          visits.push_back({peer, v, visit.length + 1});
        }
      }
      // Turns over one switch make fewer circles with one another.
      std::stable_sort(ends.begin(), ends.end(), [&](const auto& x, const auto& y) {
        return x.first != y.first ? x.first < y.first
                                  : turned_over_[x.second.raw()] > turned_over_[y.second.raw()];
      });
      for (const auto& [fresh, peer] : ends) {
        needed_.clear();
        need(visit.at, peer);
        std::vector<SwitchIndex> way{peer};
        for (std::size_t at = v; at != unmended; at = visits[at].before) {
          if (visits[at].before != unmended)
            needed_.push_back({visits[visits[at].before].at, visits[at].at, way.back()});
          way.push_back(visits[at].at);
        }
        if (!turns_.allow(needed_)) continue;
        for (const Turn& turn : needed_) ++turned_over_[turn.over.raw()];
        for (std::size_t i = 1; i < way.size(); ++i) {
          const std::size_t depth = depth_[way[i - 1].raw()] + 1;
          depth_[way[i].raw()] = depth;
          by_to_[to_.raw()].push_back({way[i], {way[i - 1]}, depth});
        }
        return;
      }
    }
  }

  const SwitchGraph& graph_;
  const Ranks& ranks_;
  const LegalPaths& full_;
  Turns turns_;
  std::vector<std::vector<Draft>> by_to_;
  SwitchIndex to_ = no_switch;
  std::vector<std::size_t> depth_;  ///< towards to_
  std::vector<Turn> needed_;
  std::vector<std::size_t> turned_over_;  ///< by switch: turns of mends
};

}  // namespace

Mends::Mends(const SwitchGraph& graph, const Ranks& ranks, const LegalPaths& full,
             std::span<const Turn> kept) {
  std::vector<std::pair<SwitchIndex, SwitchIndex>> hosts;
  std::vector<std::pair<SwitchIndex, SwitchIndex>> others;
  std::size_t host_switches = 0;
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    const SwitchIndex s{i};
    if (graph.hosts_at(s) == 0) continue;
    ++host_switches;
    const auto row = full.distance(s);
    for (std::uint32_t k = 0; k < graph.size(); ++k) {
      const SwitchIndex d{k};
      if (row[k] != LegalPaths::far) continue;
      if (graph.hosts_at(d) != 0) {
        hosts.emplace_back(s, d);
      } else {
        others.emplace_back(s, d);
        others.emplace_back(d, s);
      }
    }
  }
  if (hosts.empty() && others.empty() && kept.empty()) return;
  const bool suits = hosts.size() <= few_missing ||
                     hosts.size() * 100 <= most_missing_percent * host_switches * host_switches;
  Mender mender(graph, ranks, full, kept);
  for (auto* pairs : {&hosts, &others}) {
    if (!suits || (pairs == &others && others.size() > most_other_pairs)) break;
    std::sort(pairs->begin(), pairs->end(), [](const auto& x, const auto& y) {
      return std::pair(x.second, x.first) < std::pair(y.second, y.first);
    });
    for (const auto& [from, to] : *pairs) mender.mend(from, to);
  }
  first_.assign(graph.size() + 1, 0);
  std::vector<std::uint32_t> mend_of(graph.size(), none);
  for (std::uint32_t d = 0; d < graph.size(); ++d) {
    const SwitchIndex to{d};
    mender.add_spare_ways(to);
    std::vector<Mender::Draft> drafts = mender.drafts(to);
    std::stable_sort(drafts.begin(), drafts.end(),
                     [](const auto& x, const auto& y) { return x.depth < y.depth; });
    for (const Mender::Draft& draft : drafts) {
      Mend mend{draft.at, to, static_cast<std::uint32_t>(ways_.size()), 0};
      for (const Hop& hop : graph.hops(draft.at)) {
        if (std::find(draft.peers.begin(), draft.peers.end(), hop.peer) == draft.peers.end()) continue;
        ways_.push_back({hop.out, hop.peer, hop.link, mend_of[hop.peer.raw()], full.distance(hop.peer, to)});
        ++mend.ways;
      }
      mend_of[draft.at.raw()] = static_cast<std::uint32_t>(mends_.size());
      mends_.push_back(mend);
    }
    for (const Mender::Draft& draft : drafts) mend_of[draft.at.raw()] = none;
    first_[d + 1] = static_cast<std::uint32_t>(mends_.size());
  }
  turns_ = mender.turns();
  switches_ = graph.size();
  for (const auto* pairs : {&hosts, &others}) {
    for (const auto& [from, to] : *pairs) {
      if (find(from, to) == none) left_.emplace_back(from, to);
    }
  }
}

bool Mends::turns(SwitchIndex from, SwitchIndex over, SwitchIndex to) const {
  return turns_.contains(Turns::number({from, over, to}, switches_));
}

std::uint32_t Mends::find(SwitchIndex at, SwitchIndex to) const {
  for (const Mend& mend : this->to(to)) {
    if (mend.at == at) return static_cast<std::uint32_t>(&mend - mends_.data());
  }
  return none;
}

std::vector<std::uint8_t> Mends::leading(const LegalPaths& paths, const LinkSet* active) const {
  std::vector<std::uint8_t> result(mends_.size(), 0);
  for (std::size_t i = 0; i < mends_.size(); ++i) {
    for (const Way& way : ways(mends_[i])) {
      if (!leads(mends_[i], way, paths, active, result)) continue;
      result[i] = 1;
      break;
    }
  }
  return result;
}

}  // namespace heddle::routing
