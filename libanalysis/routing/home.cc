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
};
/// For each switch of a chain: which of the switches below it, of those by which it reaches the LID's own
/// soonest, comes before it, and how many these are. Apart, as it is seldom asked.
struct Places {
  std::array<std::uint8_t, longest_chain> place{};
  std::array<std::uint8_t, longest_chain> places{};
};
struct Chains {
  std::vector<Chain> all;  ///< by position among the destinations
  std::vector<Places> places;
};

/// Deals chains to the LIDs of one kind of target.
class Dealer {
 public:
  Dealer(const SwitchGraph& graph, const Ranks& ranks, const LegalPaths& full)
      : graph_{graph}, ranks_{ranks}, full_{full}, used_(graph.hop_count(), 0) {}

  /// LIDs of one target must come one after the other.
  void deal(SwitchIndex at, const Destination& lid, Chain& chain, Places& places) {
    if (lid.target != target_) {
      for (const std::size_t h : touched_) used_[h] = 0;
      touched_.clear();
      target_ = lid.target;
    }
    while (planes_.size() <= lid.offset) planes_.emplace_back(graph_);
    plane_ = &planes_[lid.offset];
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
      find_place(at, below, s, places.place[level], places.places[level]);
      plane_->last[s.raw()] = ++plane_->now;
      chain.sw[level] = static_cast<std::uint16_t>(s.raw());
      chain.out[level] = hops[best].in.raw();
    }
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
Chains deal_chains(const SwitchGraph& graph, const Destinations& destinations, const Ranks& ranks,
                   const LegalPaths& full, std::span<const std::uint32_t> order) {
  Dealer hosts(graph, ranks, full);
  Dealer others(graph, ranks, full);
  Chains chains{std::vector<Chain>(order.size()), std::vector<Places>(order.size())};
  for (const std::uint32_t i : order) {
    const Destination& d = destinations.all()[i];
    Dealer& dealer = d.kind == TargetKind::Host ? hosts : others;
    dealer.deal(graph.targets()[d.target].at, d, chains.all[i], chains.places[i]);
  }
  return chains;
}

/// Ports by when each was last given a LID.
class Given {
 public:
  explicit Given(std::size_t most_lids) : log_(most_lids + 1) {}

  void give(std::uint8_t port) {
    if (port == last_) return;
    last_ = port;
    at_[port] = ++now_;
    log_[now_] = port;
  }
  /// 0 for one that was given none.
  [[nodiscard]] std::uint32_t at(std::uint8_t port) const { return at_[port]; }
  /// Whether all of them were given any. Asked for the same ones always.
  [[nodiscard]] bool have(std::span<const std::uint8_t> ports) {
    if (have_ < ports.size()) {
      have_ = static_cast<std::size_t>(
          std::count_if(ports.begin(), ports.end(), [&](std::uint8_t port) { return at_[port] != 0; }));
    }
    return have_ >= ports.size();
  }
  /// Of all ports that were given any, the one that waits longest. Precondition: there is one.
  std::uint8_t longest_ago() {
    std::uint32_t oldest = oldest_;
    while (at_[log_[oldest]] != oldest) ++oldest;
    oldest_ = oldest;
    return static_cast<std::uint8_t>(log_[oldest]);
  }
  void clear() {
    at_.fill(0);
    now_ = 0;
    last_ = 0;
    oldest_ = 1;
    have_ = 0;
  }

 private:
  std::array<std::uint32_t, 256> at_{};
  std::vector<std::uint16_t> log_;  ///< ports by time, from 1 on
  std::uint32_t now_ = 0;
  std::uint16_t last_ = 0;
  std::uint32_t oldest_ = 1;  ///< what was written before is no longer a port's last time
  std::size_t have_ = 0;      ///< how many of those that were asked for were given any, then
};

/// Fills the row of one switch. What goes up by several ports takes the one that was given a LID longest ago,
/// so that LIDs that follow one another leave by different ones.
class RowFiller {
 public:
  RowFiller(const SwitchGraph& graph, const Destinations& destinations, const Ranks& ranks,
            const LegalPaths& full, const Chains& chains, std::span<const std::uint32_t> order)
      : graph_{graph},
        destinations_{destinations},
        ranks_{ranks},
        full_{full},
        above_(graph.size()),
        towards_(graph.size()) {
    lids_.reserve(order.size());
    for (const std::uint32_t i : order) {
      const Destination& lid = destinations_.all()[i];
      lids_.push_back({graph.targets()[lid.target].at, lid.lid, lid.offset, lid.out.raw(), chains.all[i]});
      places_.push_back(chains.places[i]);
      const std::size_t offsets = lid.offset + std::size_t{1};
      for (Direction* each : {&up_, &down_}) {
        if (each->given.size() < offsets) each->given.resize(offsets, Given{order.size()});
      }
    }
  }

  void fill(SwitchIndex x, std::span<std::uint8_t> row) {
    prepare(x);
    for (std::size_t i = 0; i < lids_.size();) {
      const SwitchIndex d = lids_[i].at;
      const std::size_t first = i;
      while (i < lids_.size() && lids_[i].at == d) ++i;
      const std::span<const DealtLid> lids = std::span(lids_).subspan(first, i - first);
      if (d == x) {
        for (const DealtLid& lid : lids) row[lid.lid.raw()] = lid.out;
      } else if (full_.distance(x, d) != LegalPaths::far) {
        fill(d, lids, row);
      }
    }
  }

 private:
  /// A LID in the order in which LIDs are dealt.
  struct DealtLid {
    SwitchIndex at;
    Lid lid;
    std::uint16_t offset;
    std::uint8_t out;
    Chain chain;
  };
  /// Hops that begin a shortest way up to a switch, by the switches that they lead to.
  struct Towards {
    std::uint32_t first = 0;
    std::uint16_t count = 0;
    std::uint16_t peers = 0;
  };
  /// The hops of x_ that go up, or those that go down.
  struct Direction {
    std::vector<std::uint8_t> ports;
    std::vector<const LegalPaths::Distance*> left;  ///< behind each of them, by destination
    std::vector<Given> given;                       ///< by offset of the LID
  };

  void prepare(SwitchIndex x) {
    x_ = x;
    for (Direction* each : {&up_, &down_}) {
      each->ports.clear();
      each->left.clear();
      for (Given& given : each->given) given.clear();
    }
    std::vector<Hop> by_peer;
    for (const Hop& hop : graph_.hops(x)) {
      const bool ascends = ranks_.above(hop.peer, x);
      Direction& direction = ascends ? up_ : down_;
      direction.ports.push_back(hop.out.raw());
      direction.left.push_back((ascends ? full_.distance(hop.peer) : full_.down(hop.peer)).data());
      if (ascends) by_peer.push_back(hop);
    }
    std::stable_sort(by_peer.begin(), by_peer.end(),
                     [](const Hop& a, const Hop& b) { return a.peer < b.peer; });
    for (const Hop& hop : by_peer) peer_[hop.out.raw()] = hop.peer;
    ports_.clear();
    for (std::uint32_t c = 0; c < graph_.size(); ++c) {
      above_[c] = c == x.raw() ? LegalPaths::far : full_.down(SwitchIndex{c}, x);
      if (above_[c] == LegalPaths::far) continue;
      Towards& towards = towards_[c];
      towards = Towards{static_cast<std::uint32_t>(ports_.size())};
      const auto down = full_.down(SwitchIndex{c});
      for (const Hop& hop : by_peer) {
        if (down[hop.peer.raw()] + 1 != above_[c]) continue;
        if (ports_.size() == towards.first || peer_[ports_.back()] != hop.peer) ++towards.peers;
        ports_.push_back(hop.out.raw());
      }
      towards.count = static_cast<std::uint16_t>(ports_.size() - towards.first);
    }
  }

  void fill(SwitchIndex d, std::span<const DealtLid> lids, std::span<std::uint8_t> row) {
    choices_.clear();
    const bool goes_down = full_.goes_down(x_, d);
    const unsigned distance = full_.distance(x_, d);
    Direction& direction = goes_down ? down_ : up_;
    for (const DealtLid& lid : lids) {
      Given& given = direction.given[lid.offset];
      std::uint8_t port = goes_down ? down_chain(distance, lid) : up_to_chain(distance, lid, given);
      if (port == no_path.raw()) {
        if (choices_.empty()) choose(direction, d, distance);
        port = give_a_choice(direction, given);
      }
      row[lid.lid.raw()] = port;
    }
  }

  [[nodiscard]] std::uint8_t down_chain(unsigned distance, const DealtLid& lid) const {
    const std::size_t level = distance - 1U;
    const bool is_there = level < longest_chain && lid.chain.sw[level] == x_.raw();
    return is_there ? lid.chain.out[level] : no_path.raw();
  }

  std::uint8_t up_to_chain(unsigned distance, const DealtLid& lid, Given& given) const {
    const Chain& chain = lid.chain;
    for (std::size_t level = 0; level < longest_chain && chain.sw[level] != end_of_chain; ++level) {
      if (above_[chain.sw[level]] + level + 1 == distance) return give(ways(lid, level), given);
    }
    return no_path.raw();
  }

  /// Where a LID comes down to its switch by one of several, it goes up by the one of the same place: what
  /// turns at one switch above and does not meet going down does not meet going up either.
  [[nodiscard]] std::span<const std::uint8_t> ways(const DealtLid& lid, std::size_t level) const {
    const SwitchIndex turn{lid.chain.sw[level]};
    const Towards& towards = towards_[turn.raw()];
    const std::span<const std::uint8_t> all(&ports_[towards.first], towards.count);
    if (towards.peers < 2 || above_[turn.raw()] != 2) return all;
    const Places& places = places_[static_cast<std::size_t>(&lid - lids_.data())];
    if (places.places[level] != towards.peers) return all;
    std::size_t begin = 0;
    for (std::size_t place = 0; place < places.place[level]; ++place) {
      const SwitchIndex peer = peer_[all[begin]];
      while (peer_[all[begin]] == peer) ++begin;
    }
    std::size_t end = begin;
    while (end < all.size() && peer_[all[end]] == peer_[all[begin]]) ++end;
    return all.subspan(begin, end - begin);
  }

  std::uint8_t give_a_choice(const Direction& direction, Given& given) const {
    // In a tree most switches may send upwards by any port.
    if (choices_.size() < direction.ports.size() || !given.have(direction.ports))
      return give(choices_, given);
    const std::uint8_t port = given.longest_ago();
    given.give(port);
    return port;
  }

  /// All ports on a shortest path.
  void choose(const Direction& direction, SwitchIndex d, unsigned distance) {
    const std::size_t hops = direction.ports.size();
    choices_.resize(hops);
    // Bytes that are written may be anything's, as the compiler sees it: it would read the vectors anew.
    const std::uint8_t* const ports = direction.ports.data();
    const LegalPaths::Distance* const* const left = direction.left.data();
    std::uint8_t* const choices = choices_.data();
    std::size_t found = 0;
    for (std::size_t h = 0; h < hops; ++h) {
      choices[found] = ports[h];
      found += left[h][d.raw()] + 1U == distance ? 1 : 0;
    }
    choices_.resize(found);
  }

  /// Two switches with the same choices do not begin with the same one.
  std::uint8_t give(std::span<const std::uint8_t> ports, Given& given) const {
    if (ports.size() == 1) {
      given.give(ports[0]);
      return ports[0];
    }
    const std::size_t first = ranks_.position(x_) % ports.size();
    std::uint8_t best = ports[first];
    const auto consider = [&](std::uint8_t port) {
      if (given.at(port) < given.at(best)) best = port;
    };
    for (const std::uint8_t port : ports.subspan(first + 1)) consider(port);
    for (const std::uint8_t port : ports.first(first)) consider(port);
    given.give(best);
    return best;
  }

  const SwitchGraph& graph_;
  const Destinations& destinations_;
  const Ranks& ranks_;
  const LegalPaths& full_;
  std::vector<DealtLid> lids_;
  std::vector<Places> places_;  ///< of lids_
  SwitchIndex x_ = no_switch;   ///< whose row it is
  Direction up_;
  Direction down_;
  std::vector<LegalPaths::Distance> above_;  ///< hops down to x_, by switch
  std::vector<Towards> towards_;             ///< by switch above x_
  std::vector<std::uint8_t> ports_;
  std::array<SwitchIndex, 256> peer_{};  ///< by port, of those that lead up
  std::vector<std::uint8_t> choices_;    ///< to the destination at hand; empty where nobody has asked
};

}  // namespace

ForwardingTables home_by_chains(const SwitchGraph& graph, const Destinations& destinations,
                                const Ranks& ranks, const LegalPaths& full) {
  const std::vector<std::uint32_t> order = in_order_found(graph, destinations);
  const Chains chains = deal_chains(graph, destinations, ranks, full, order);
  ForwardingTables tables(graph);
  RowFiller filler(graph, destinations, ranks, full, chains, order);
  for (std::uint32_t s = 0; s < graph.size(); ++s) filler.fill(SwitchIndex{s}, tables.row(SwitchIndex{s}));
  return tables;
}

}  // namespace heddle::routing
