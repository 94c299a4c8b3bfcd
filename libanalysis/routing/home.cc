#include "routing/home.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace heddle::routing {
namespace {

constexpr std::size_t longest_chain = 6;
constexpr std::uint16_t end_of_chain = 0xffff;

/// Switches above the LID's own, and the ports by which each of them sends it down.
struct Chain {
  std::array<std::uint16_t, longest_chain> sw;
  std::array<std::uint8_t, longest_chain> out;
  /// Which of the switches below that one, of those by which it reaches the LID's own soonest, comes before
  /// it in the chain, and how many these are.
  std::array<std::uint8_t, longest_chain> place{};
  std::array<std::uint8_t, longest_chain> places{};
};

/// Deals chains to the LIDs of one kind of target.
class Dealer {
 public:
  Dealer(const SwitchGraph& graph, const Ranks& ranks, const LegalPaths& full)
      : graph_{graph}, ranks_{ranks}, full_{full}, used_(graph.hop_count(), 0) {}

  /// LIDs of one target must come one after the other.
  Chain deal(SwitchIndex at, const Destination& lid) {
    if (lid.target != target_) {
      for (const std::size_t h : touched_) used_[h] = 0;
      touched_.clear();
      target_ = lid.target;
    }
    while (planes_.size() <= lid.offset) planes_.emplace_back(graph_);
    plane_ = &planes_[lid.offset];
    Chain chain;
    chain.sw.fill(end_of_chain);
    chain.out.fill(no_path.raw());
    SwitchIndex s = at;
    for (std::size_t level = 0; level < longest_chain; ++level) {
      const auto hops = graph_.hops(s);
      const std::size_t best = level == 0 ? first_step(s, lid.offset) : next_step(s, level);
      if (best == hops.size()) break;
      const std::size_t hop = graph_.first_hop(s) + best;
      ++plane_->dealt[hop];
      ++used_[hop];
      touched_.push_back(hop);
      const SwitchIndex below = s;
      s = hops[best].peer;
      find_place(at, below, s, chain.place[level], chain.places[level]);
      plane_->last[s.raw()] = ++plane_->now;
      chain.sw[level] = static_cast<std::uint16_t>(s.raw());
      chain.out[level] = hops[best].in.raw();
    }
    return chain;
  }

 private:
  /// LIDs of the same offset are those that are in use together.
  struct Plane {
    explicit Plane(const SwitchGraph& graph) : dealt(graph.hop_count(), 0), last(graph.size(), 0) {}
    std::vector<std::uint32_t> dealt;  ///< LIDs that come down the link, by the hop that goes up it
    std::vector<std::uint32_t> last;   ///< when the switch was last given a LID
    std::uint32_t now = 0;
  };

  /// On the way up from its own switch a port's LIDs do not meet while there is another way; further up,
  /// evenness comes first.
  [[nodiscard]] std::array<std::uint32_t, 3> key(SwitchIndex s, std::size_t h, std::size_t level) const {
    const std::size_t hop = graph_.first_hop(s) + h;
    const std::uint32_t last = plane_->last[graph_.hops(s)[h].peer.raw()];
    if (level == 0) return {used_[hop], plane_->dealt[hop], last};
    return {plane_->dealt[hop], used_[hop], last};
  }

  /// The hop up that was given the fewest LIDs; of equals, to the switch that was given one longest ago.
  [[nodiscard]] std::size_t next_step(SwitchIndex s, std::size_t level) const {
    const auto hops = graph_.hops(s);
    std::size_t best = hops.size();
    for (std::size_t h = 0; h < hops.size(); ++h) {
      if (!ranks_.above(hops[h].peer, s)) continue;
      if (best == hops.size() || key(s, h, level) < key(s, best, level)) best = h;
    }
    return best;
  }

  /// What the LIDs of offset 0 get, those of other offsets get too, so many hops further on that those of all
  /// offsets together are even and no port's meet.
  std::size_t first_step(SwitchIndex s, std::size_t offset) {
    const auto hops = graph_.hops(s);
    if (s != steps_of_) find_steps(s);
    if (steps_.empty()) return hops.size();
    if (offset == 0) {
      const std::size_t step = next_step(s, 0);
      first_step_ = static_cast<std::size_t>(std::find(steps_.begin(), steps_.end(), step) - steps_.begin());
      return step;
    }
    const std::size_t before = offset * std::max(1U, graph_.hosts_at(s));
    const std::size_t step = steps_[(first_step_ + before + before / steps_.size()) % steps_.size()];
    const std::size_t other = next_step(s, 0);
    return used_[graph_.first_hop(s) + step] <= used_[graph_.first_hop(s) + other] ? step : other;
  }
  /// Hops up, the first cables of all trunks before the second ones.
  void find_steps(SwitchIndex s) {
    const auto hops = graph_.hops(s);
    std::vector<std::pair<std::size_t, std::size_t>> steps;
    for (std::size_t h = 0; h < hops.size(); ++h) {
      if (!ranks_.above(hops[h].peer, s)) continue;
      const auto before = std::count_if(hops.begin(), hops.begin() + static_cast<std::ptrdiff_t>(h),
                                        [&](const Hop& hop) { return hop.peer == hops[h].peer; });
      steps.emplace_back(before, h);
    }
    std::sort(steps.begin(), steps.end());
    steps_.clear();
    for (const auto& step : steps) steps_.push_back(step.second);
    steps_of_ = s;
  }

  void find_place(SwitchIndex at, SwitchIndex below, SwitchIndex s, std::uint8_t& place,
                  std::uint8_t& places) {
    const auto down = full_.down(s);
    beside_.clear();
    for (const Hop& hop : graph_.hops(s)) {
      if (ranks_.above(s, hop.peer) && full_.down(hop.peer, at) + 1 == down[at.raw()])
        beside_.push_back(hop.peer);
    }
    std::sort(beside_.begin(), beside_.end());
    beside_.erase(std::unique(beside_.begin(), beside_.end()), beside_.end());
    const auto own = std::find(beside_.begin(), beside_.end(), below);
    if (own == beside_.end()) return;
    place = static_cast<std::uint8_t>(own - beside_.begin());
    places = static_cast<std::uint8_t>(beside_.size());
  }

  const SwitchGraph& graph_;
  const Ranks& ranks_;
  const LegalPaths& full_;
  std::vector<SwitchIndex> beside_;
  std::vector<std::size_t> steps_;  ///< of steps_of_
  SwitchIndex steps_of_ = no_switch;
  std::size_t first_step_ = 0;  ///< of the target's first LID, position in steps_
  std::vector<Plane> planes_;
  Plane* plane_ = nullptr;
  std::vector<std::uint32_t> used_;  ///< by LIDs of target_
  std::vector<std::size_t> touched_;
  std::uint32_t target_ = 0xffffffffU;
};

/// Positions among the destinations in the order in which their ports were found, which is near to that in
/// which collectives number them.
std::vector<std::uint32_t> in_order_found(const SwitchGraph& graph, const Destinations& destinations) {
  std::vector<std::uint32_t> order(destinations.all().size());
  std::iota(order.begin(), order.end(), 0U);
  const auto found = [&](std::uint32_t i) {
    const Destination& d = destinations.all()[i];
    return std::pair(graph.targets()[d.target].port, d.offset);
  };
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t x, std::uint32_t y) { return found(x) < found(y); });
  return order;
}

/// LIDs that follow one another come down over different switches.
std::vector<Chain> deal_chains(const SwitchGraph& graph, const Destinations& destinations, const Ranks& ranks,
                               const LegalPaths& full, std::span<const std::uint32_t> order) {
  Dealer hosts(graph, ranks, full);
  Dealer others(graph, ranks, full);
  std::vector<Chain> chains(order.size());
  for (const std::uint32_t i : order) {
    const Destination& d = destinations.all()[i];
    chains[i] = (d.kind == TargetKind::Host ? hosts : others).deal(graph.targets()[d.target].at, d);
  }
  return chains;
}

/// Fills the row of one switch. What goes up by several ports takes the one that was given a LID longest ago,
/// so that LIDs that follow one another leave by different ones.
class RowFiller {
 public:
  RowFiller(const SwitchGraph& graph, const Destinations& destinations, const Ranks& ranks,
            const LegalPaths& full, const std::vector<Chain>& chains, std::span<const std::uint32_t> order)
      : graph_{graph},
        destinations_{destinations},
        ranks_{ranks},
        full_{full},
        chains_{chains},
        order_{order},
        towards_(graph.size()) {}

  void fill(SwitchIndex x, std::span<std::uint8_t> row) {
    prepare(x);
    for (const std::uint32_t i : order_) {
      const Destination& lid = destinations_.all()[i];
      const SwitchIndex d = graph_.targets()[lid.target].at;
      if (d == x) {
        row[lid.lid.raw()] = lid.out.raw();
        continue;
      }
      const unsigned distance = full_.distance(x, d);
      if (distance == LegalPaths::far) continue;
      while (given_.size() <= lid.offset) given_.emplace_back();
      given_at_ = &given_[lid.offset];
      row[lid.lid.raw()] =
          full_.goes_down(x, d) ? port_down(x, d, chains_[i]) : port_up(x, d, chains_[i], distance);
    }
  }

 private:
  /// Hops that begin a shortest way up to a switch, by the switches that they lead to.
  struct Towards {
    std::uint32_t first = 0;
    std::uint16_t count = 0;
    std::uint16_t peers = 0;
    LegalPaths::Distance distance = LegalPaths::far;
  };

  void prepare(SwitchIndex x) {
    ports_.clear();
    given_.clear();
    choices_for_ = no_switch;
    std::vector<Hop> hops;
    for (const Hop& hop : graph_.hops(x)) {
      if (ranks_.above(hop.peer, x)) hops.push_back(hop);
    }
    std::stable_sort(hops.begin(), hops.end(), [](const Hop& a, const Hop& b) { return a.peer < b.peer; });
    for (const Hop& hop : hops) peer_[hop.out.raw()] = hop.peer;
    for (std::uint32_t c = 0; c < graph_.size(); ++c) {
      Towards& towards = towards_[c];
      towards = Towards{};
      if (c != x.raw()) towards.distance = full_.down(SwitchIndex{c}, x);
      if (towards.distance == LegalPaths::far) continue;
      towards.first = static_cast<std::uint32_t>(ports_.size());
      const auto down = full_.down(SwitchIndex{c});
      for (const Hop& hop : hops) {
        if (down[hop.peer.raw()] + 1 != towards.distance) continue;
        if (ports_.size() == towards.first || peer_[ports_.back()] != hop.peer) ++towards.peers;
        ports_.push_back(hop.out.raw());
      }
      towards.count = static_cast<std::uint16_t>(ports_.size() - towards.first);
    }
  }

  std::uint8_t port_down(SwitchIndex x, SwitchIndex d, const Chain& chain) {
    const std::size_t level = full_.down(x, d) - 1U;
    if (level < longest_chain && chain.sw[level] == x.raw()) return chain.out[level];
    return give(choices(x, d), x);
  }

  std::uint8_t port_up(SwitchIndex x, SwitchIndex d, const Chain& chain, unsigned distance) {
    for (std::size_t level = 0; level < longest_chain && chain.sw[level] != end_of_chain; ++level) {
      const Towards& towards = towards_[chain.sw[level]];
      if (towards.distance + level + 1 == distance) return give(ways(towards, chain, level), x);
    }
    return give(choices(x, d), x);
  }

  /// Where a LID comes down to its switch by one of several, it goes up by the one of the same place: what
  /// turns at one switch above and does not meet going down does not meet going up either.
  [[nodiscard]] std::span<const std::uint8_t> ways(const Towards& towards, const Chain& chain,
                                                   std::size_t level) const {
    const std::span<const std::uint8_t> all = std::span(ports_).subspan(towards.first, towards.count);
    if (towards.peers < 2 || towards.distance != 2 || chain.places[level] != towards.peers) return all;
    std::size_t begin = 0;
    for (std::size_t place = 0; place < chain.place[level]; ++place) {
      const SwitchIndex peer = peer_[all[begin]];
      while (peer_[all[begin]] == peer) ++begin;
    }
    std::size_t end = begin;
    while (end < all.size() && peer_[all[end]] == peer_[all[begin]]) ++end;
    return all.subspan(begin, end - begin);
  }

  std::span<const std::uint8_t> choices(SwitchIndex x, SwitchIndex d) {
    if (choices_for_ == d) return choices_;
    choices_for_ = d;
    choices_.clear();
    for (const Hop& hop : graph_.hops(x)) {
      if (full_.shortest(x, hop, d)) choices_.push_back(hop.out.raw());
    }
    return choices_;
  }

  /// Two switches with the same choices do not begin with the same one.
  std::uint8_t give(std::span<const std::uint8_t> ports, SwitchIndex x) {
    std::size_t best = ranks_.position(x) % ports.size();
    for (std::size_t i = 1; i < ports.size(); ++i) {
      const std::size_t other = (ranks_.position(x) + i) % ports.size();
      if (given_at_->at[ports[other]] < given_at_->at[ports[best]]) best = other;
    }
    given_at_->at[ports[best]] = ++given_at_->now;
    return ports[best];
  }

  /// When each port was last given a LID of one offset.
  struct Given {
    std::array<std::uint32_t, 256> at{};
    std::uint32_t now = 0;
  };

  const SwitchGraph& graph_;
  const Destinations& destinations_;
  const Ranks& ranks_;
  const LegalPaths& full_;
  const std::vector<Chain>& chains_;
  std::span<const std::uint32_t> order_;
  std::vector<Towards> towards_;
  std::vector<std::uint8_t> ports_;
  std::array<SwitchIndex, 256> peer_{};  ///< by port, of those that lead up
  std::vector<std::uint8_t> choices_;
  SwitchIndex choices_for_ = no_switch;
  std::vector<Given> given_;
  Given* given_at_ = nullptr;
};

}  // namespace

ForwardingTables home_by_chains(const SwitchGraph& graph, const Destinations& destinations,
                                const Ranks& ranks, const LegalPaths& full) {
  const std::vector<std::uint32_t> order = in_order_found(graph, destinations);
  const std::vector<Chain> chains = deal_chains(graph, destinations, ranks, full, order);
  ForwardingTables tables(graph);
  RowFiller filler(graph, destinations, ranks, full, chains, order);
  for (std::uint32_t s = 0; s < graph.size(); ++s) filler.fill(SwitchIndex{s}, tables.row(SwitchIndex{s}));
  return tables;
}

}  // namespace heddle::routing
