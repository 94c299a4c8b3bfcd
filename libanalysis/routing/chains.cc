#include "routing/chains.h"

#include <algorithm>
#include <numeric>

namespace heddle::routing {
namespace {

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

}  // namespace

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

}  // namespace heddle::routing
