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

/// Deals chains to the LIDs of one kind of target.
class Dealer {
 public:
  Dealer(const SwitchGraph& graph, const Ranks& ranks)
      : graph_{graph},
        ranks_{ranks},
        dealt_(graph.hop_count(), 0),
        through_(graph.size(), 0),
        used_(graph.hop_count(), 0) {}

  /// `port`: which target the LID belongs to; its LIDs must come one after the other.
  Chain deal(SwitchIndex at, std::uint32_t port) {
    if (port != port_) {
      for (const std::size_t h : touched_) used_[h] = 0;
      touched_.clear();
      port_ = port;
    }
    Chain chain;
    chain.sw.fill(end_of_chain);
    chain.out.fill(no_path.raw());
    SwitchIndex s = at;
    for (std::size_t level = 0; level < longest_chain; ++level) {
      const auto hops = graph_.hops(s);
      std::size_t best = hops.size();
      for (std::size_t h = 0; h < hops.size(); ++h) {
        if (!ranks_.above(hops[h].peer, s)) continue;
        if (best == hops.size() || key(s, h) < key(s, best)) best = h;
      }
      if (best == hops.size()) break;
      const std::size_t hop = graph_.first_hop(s) + best;
      ++dealt_[hop];
      ++used_[hop];
      touched_.push_back(hop);
      s = hops[best].peer;
      ++through_[s.raw()];
      chain.sw[level] = static_cast<std::uint16_t>(s.raw());
      chain.out[level] = hops[best].in.raw();
    }
    return chain;
  }

 private:
  [[nodiscard]] std::array<std::uint32_t, 3> key(SwitchIndex s, std::size_t h) const {
    const std::size_t hop = graph_.first_hop(s) + h;
    return {used_[hop], dealt_[hop], through_[graph_.hops(s)[h].peer.raw()]};
  }

  const SwitchGraph& graph_;
  const Ranks& ranks_;
  std::vector<std::uint32_t> dealt_;    ///< LIDs that come down the link, by the hop that goes up it
  std::vector<std::uint32_t> through_;  ///< LIDs whose chain has the switch
  std::vector<std::uint32_t> used_;     ///< by LIDs of port_
  std::vector<std::size_t> touched_;
  std::uint32_t port_ = 0xffffffffU;
};

std::vector<Chain> deal_chains(const SwitchGraph& graph, const Destinations& destinations,
                               const Ranks& ranks) {
  Dealer hosts(graph, ranks);
  Dealer others(graph, ranks);
  // In the order in which ports were found, which is near to that in which collectives number them: so those
  // that follow one another are met by different switches above.
  std::vector<std::uint32_t> order(destinations.all().size());
  std::iota(order.begin(), order.end(), 0U);
  const auto found = [&](std::uint32_t i) {
    const Destination& d = destinations.all()[i];
    return std::pair(graph.targets()[d.target].port, d.offset);
  };
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t x, std::uint32_t y) { return found(x) < found(y); });
  std::vector<Chain> chains(order.size());
  for (const std::uint32_t i : order) {
    const Destination& d = destinations.all()[i];
    chains[i] = (d.kind == TargetKind::Host ? hosts : others).deal(graph.targets()[d.target].at, d.target);
  }
  return chains;
}

/// Fills the row of one switch.
class RowFiller {
 public:
  RowFiller(const SwitchGraph& graph, const Destinations& destinations, const Ranks& ranks,
            const LegalPaths& full, const std::vector<Chain>& chains)
      : graph_{graph},
        destinations_{destinations},
        ranks_{ranks},
        full_{full},
        chains_{chains},
        towards_(graph.size()) {}

  void fill(SwitchIndex x, std::span<std::uint8_t> row) {
    prepare(x);
    for (std::uint32_t i = 0; i < graph_.size(); ++i) {
      const SwitchIndex d{i};
      const auto lids = destinations_.at(d);
      if (lids.empty()) continue;
      if (d == x) {
        for (const Destination& lid : lids) row[lid.lid.raw()] = lid.out.raw();
      } else if (full_.distance(x, d) == LegalPaths::far) {
        continue;
      } else if (full_.goes_down(x, d)) {
        fill_down(x, d, lids, row);
      } else {
        fill_up(x, d, lids, row);
      }
    }
  }

 private:
  /// Hops that begin a shortest way up to a switch.
  struct Towards {
    std::uint32_t first = 0;
    std::uint16_t count = 0;
    LegalPaths::Distance distance = LegalPaths::far;
    std::uint8_t only = 0;  ///< the port of the first
    std::uint32_t dealt = 0;
  };

  void prepare(SwitchIndex x) {
    ports_.clear();
    given_.fill(0);
    const auto hops = graph_.hops(x);
    for (std::uint32_t c = 0; c < graph_.size(); ++c) {
      Towards& towards = towards_[c];
      towards = Towards{};
      towards.distance = c == x.raw() ? LegalPaths::far : full_.down(SwitchIndex{c}, x);
    }
    // Grouped by destination without a scan of all pairs: each hop up lists what is straight above it.
    for (std::uint32_t c = 0; c < graph_.size(); ++c) {
      Towards& towards = towards_[c];
      if (towards.distance == LegalPaths::far) continue;
      towards.first = static_cast<std::uint32_t>(ports_.size());
      const auto down = full_.down(SwitchIndex{c});
      for (const Hop& hop : hops) {
        if (ranks_.above(hop.peer, x) && down[hop.peer.raw()] + 1 == towards.distance)
          ports_.push_back(hop.out.raw());
      }
      towards.count = static_cast<std::uint16_t>(ports_.size() - towards.first);
      towards.only = ports_[towards.first];
      // Two switches with the same choices must not begin with the same one.
      towards.dealt = ranks_.position(x);
    }
  }

  void choose_among(SwitchIndex x, SwitchIndex d) {
    choices_.clear();
    for (const Hop& hop : graph_.hops(x)) {
      if (full_.shortest(x, hop, d)) choices_.push_back(hop.out.raw());
    }
  }

  /// Of choices_, from the one whose turn it is.
  [[nodiscard]] std::uint8_t least_given(std::size_t turn) const {
    std::uint8_t best = choices_[turn % choices_.size()];
    for (std::size_t i = 1; i < choices_.size(); ++i) {
      const std::uint8_t other = choices_[(turn + i) % choices_.size()];
      if (given_[other] < given_[best]) best = other;
    }
    return best;
  }

  void fill_down(SwitchIndex x, SwitchIndex d, std::span<const Destination> lids,
                 std::span<std::uint8_t> row) {
    choose_among(x, d);
    const Chain* chain = &chains_[destinations_.first(d)];
    std::size_t turn = std::size_t{ranks_.position(d)} * lids.size() + ranks_.position(x);
    const std::size_t level = full_.down(x, d) - 1U;
    for (std::size_t i = 0; i < lids.size(); ++i) {
      const bool on_chain = level < longest_chain && chain[i].sw[level] == x.raw();
      row[lids[i].lid.raw()] = on_chain ? chain[i].out[level] : choices_[turn++ % choices_.size()];
    }
  }

  void fill_up(SwitchIndex x, SwitchIndex d, std::span<const Destination> lids, std::span<std::uint8_t> row) {
    const unsigned distance = full_.distance(x, d);
    const Chain* chain = &chains_[destinations_.first(d)];
    std::size_t turn = 0;
    choices_.clear();
    for (std::size_t i = 0; i < lids.size(); ++i) {
      std::uint8_t out = no_path.raw();
      for (std::size_t level = 0; level < longest_chain && chain[i].sw[level] != end_of_chain; ++level) {
        Towards& towards = towards_[chain[i].sw[level]];
        if (towards.distance + level + 1 != distance) continue;
        out = towards.count == 1 ? towards.only : ports_[towards.first + towards.dealt++ % towards.count];
        break;
      }
      if (out == no_path.raw()) {
        if (choices_.empty()) {
          choose_among(x, d);
          turn = std::size_t{ranks_.position(d)} * lids.size();
        }
        out = least_given(turn++);
      }
      ++given_[out];
      row[lids[i].lid.raw()] = out;
    }
  }

  const SwitchGraph& graph_;
  const Destinations& destinations_;
  const Ranks& ranks_;
  const LegalPaths& full_;
  const std::vector<Chain>& chains_;
  std::vector<Towards> towards_;
  std::vector<std::uint8_t> ports_;
  std::vector<std::uint8_t> choices_;
  std::array<std::uint32_t, 256> given_{};  ///< LIDs that leave the switch going up, by port
};

}  // namespace

ForwardingTables home_by_chains(const SwitchGraph& graph, const Destinations& destinations,
                                const Ranks& ranks, const LegalPaths& full) {
  const std::vector<Chain> chains = deal_chains(graph, destinations, ranks);
  ForwardingTables tables(graph);
  RowFiller filler(graph, destinations, ranks, full, chains);
  for (std::uint32_t s = 0; s < graph.size(); ++s) filler.fill(SwitchIndex{s}, tables.row(SwitchIndex{s}));
  return tables;
}

}  // namespace heddle::routing
