#include "routing/home.h"

#include <algorithm>
#include <array>

#include "routing/chains.h"

namespace heddle::routing {
namespace {

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

/// Byte by byte over all destinations and without branches, so that compilers take many at a time.
void count_way(const LegalPaths::Distance* left, const LegalPaths::Distance* before, std::uint8_t port,
               std::uint8_t* count, std::uint8_t* sole, std::size_t n) {
  for (std::size_t d = 0; d < n; ++d) {
    const std::uint8_t leads = left[d] == before[d] ? 0xff : 0;
    count[d] = static_cast<std::uint8_t>(count[d] - leads);
    sole[d] = static_cast<std::uint8_t>(sole[d] | (leads & port));
  }
}

/// Fills the row of one switch. What goes up by several ports takes the one that was given a LID longest ago,
/// so that LIDs that follow one another leave by different ones.
class RowFiller {
 public:
  RowFiller(const SwitchGraph& graph, const Destinations& destinations, const Ranks& ranks,
            const LegalPaths& full, const Chains& chains, std::span<const std::uint32_t> order)
      : graph_{graph},
        ranks_{ranks},
        full_{full},
        up_(graph.size()),
        down_(graph.size()),
        before_(graph.size()),
        above_(graph.size()),
        towards_(graph.size()) {
    lids_.reserve(order.size());
    for (const std::uint32_t i : order) {
      const Destination& lid = destinations.all()[i];
      const SwitchIndex at = graph.targets()[lid.target].at;
      if (groups_.empty() || groups_.back().at != at) groups_.push_back({at, lids_.size(), lids_.size()});
      ++groups_.back().end;
      lids_.push_back({at, lid.lid, lid.offset, lid.out.raw(), chains.all[i]});
      places_.push_back(chains.places[i]);
      const std::size_t offsets = lid.offset + std::size_t{1};
      for (Direction* each : {&up_, &down_}) {
        if (each->given.size() < offsets) each->given.resize(offsets, Given{order.size()});
      }
    }
  }

  void fill(SwitchIndex x, std::span<std::uint8_t> row) {
    prepare(x);
    const auto distance = full_.distance(x);
    for (const Group& group : groups_) {
      const LegalPaths::Distance hops = distance[group.at.raw()];
      if (group.at == x) {
        for (std::size_t i = group.begin; i < group.end; ++i) row[lids_[i].lid.raw()] = lids_[i].out;
      } else if (hops == LegalPaths::far) {
        continue;
      } else if (full_.goes_down(x, group.at)) {
        fill_down(group, hops, row);
      } else {
        for (std::size_t i = group.begin; i < group.end; ++i) row[lids_[i].lid.raw()] = way_up(i, hops, row);
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
  /// LIDs of one switch that follow one another, by position in lids_.
  struct Group {
    SwitchIndex at;
    std::size_t begin;
    std::size_t end;
  };
  /// What a switch is to x_.
  struct Above {
    LegalPaths::Distance hops = LegalPaths::far;  ///< down to x_
    std::uint8_t only = 0;                        ///< the port that leads there soonest, if there is just one
  };
  /// Hops that begin a shortest way up to a switch, by the switches that they lead to.
  struct Towards {
    std::uint32_t first = 0;
    std::uint16_t count = 0;
    std::uint16_t peers = 0;
  };
  /// The hops of x_ that go up, or those that go down.
  struct Direction {
    explicit Direction(std::size_t switches) : count(switches), sole(switches) {}
    std::vector<std::uint8_t> ports;
    std::vector<const LegalPaths::Distance*> left;  ///< behind each of them, by destination
    std::vector<std::uint8_t> count;  ///< by destination: how many of the ports are on a shortest path
    std::vector<std::uint8_t> sole;   ///< and which one, if it is just one
    std::vector<Given> given;         ///< by offset of the LID
    bool is_noted = false;            ///< given is what it says; most rows never ask
  };

  void prepare(SwitchIndex x) {
    x_ = x;
    choices_of_ = no_switch;
    for (Direction* each : {&up_, &down_}) {
      each->ports.clear();
      each->left.clear();
      each->is_noted = false;
    }
    std::vector<Hop> by_peer;
    for (const Hop& hop : graph_.hops(x)) {
      const bool ascends = ranks_.above(hop.peer, x);
      Direction& direction = ascends ? up_ : down_;
      direction.ports.push_back(hop.out.raw());
      direction.left.push_back((ascends ? full_.distance(hop.peer) : full_.down(hop.peer)).data());
      if (ascends) by_peer.push_back(hop);
    }
    const auto distance = full_.distance(x);
    for (std::size_t d = 0; d < before_.size(); ++d)
      before_[d] = static_cast<LegalPaths::Distance>(distance[d] - 1U);
    count_ways(up_);
    count_ways(down_);
    std::stable_sort(by_peer.begin(), by_peer.end(),
                     [](const Hop& a, const Hop& b) { return a.peer < b.peer; });
    for (const Hop& hop : by_peer) peer_[hop.out.raw()] = hop.peer;
    ports_.clear();
    for (std::uint32_t c = 0; c < graph_.size(); ++c) {
      Above& above = above_[c];
      above.hops = c == x.raw() ? LegalPaths::far : full_.down(SwitchIndex{c}, x);
      if (above.hops == LegalPaths::far) continue;
      Towards& towards = towards_[c];
      towards = Towards{static_cast<std::uint32_t>(ports_.size())};
      const auto down = full_.down(SwitchIndex{c});
      for (const Hop& hop : by_peer) {
        if (down[hop.peer.raw()] + 1 != above.hops) continue;
        if (ports_.size() == towards.first || peer_[ports_.back()] != hop.peer) ++towards.peers;
        ports_.push_back(hop.out.raw());
      }
      towards.count = static_cast<std::uint16_t>(ports_.size() - towards.first);
      above.only = towards.count == 1 ? ports_.back() : no_path.raw();
    }
  }

  void count_ways(Direction& direction) {
    std::fill(direction.count.begin(), direction.count.end(), std::uint8_t{0});
    std::fill(direction.sole.begin(), direction.sole.end(), std::uint8_t{0});
    for (std::size_t h = 0; h < direction.ports.size(); ++h) {
      count_way(direction.left[h], before_.data(), direction.ports[h], direction.count.data(),
                direction.sole.data(), graph_.size());
    }
  }

  void fill_down(const Group& group, unsigned distance, std::span<std::uint8_t> row) {
    if (!down_.is_noted && down_.count[group.at.raw()] == 1) {
      const std::uint8_t port = down_.sole[group.at.raw()];
      for (std::size_t i = group.begin; i < group.end; ++i) row[lids_[i].lid.raw()] = port;
      return;
    }
    for (std::size_t i = group.begin; i < group.end; ++i) {
      const std::uint8_t port = down_chain(distance, lids_[i]);
      row[lids_[i].lid.raw()] = port != no_path.raw() ? port : give_a_choice(down_, i, row);
    }
  }

  [[nodiscard]] std::uint8_t down_chain(unsigned distance, const DealtLid& lid) const {
    const std::size_t level = distance - 1U;
    const bool is_there = level < longest_chain && lid.chain.sw[level] == x_.raw();
    return is_there ? lid.chain.out[level] : no_path.raw();
  }

  std::uint8_t way_up(std::size_t i, unsigned distance, std::span<const std::uint8_t> row) {
    const DealtLid& lid = lids_[i];
    for (std::size_t level = 0; level < longest_chain && lid.chain.sw[level] != end_of_chain; ++level) {
      const Above& above = above_[lid.chain.sw[level]];
      if (above.hops + level + 1 != distance) continue;
      if (above.only != no_path.raw()) return give_sole(up_, lid, above.only);
      const auto among = ways(lid, level);
      if (among.size() == 1) return give_sole(up_, lid, among.front());
      note(up_, i, row);
      return give(among, up_.given[lid.offset]);
    }
    return give_a_choice(up_, i, row);
  }

  /// Where a LID comes down to its switch by one of several, it goes up by the one of the same place: what
  /// turns at one switch above and does not meet going down does not meet going up either.
  [[nodiscard]] std::span<const std::uint8_t> ways(const DealtLid& lid, std::size_t level) const {
    const SwitchIndex turn{lid.chain.sw[level]};
    const Towards& towards = towards_[turn.raw()];
    const std::span<const std::uint8_t> all(&ports_[towards.first], towards.count);
    if (towards.peers < 2 || above_[turn.raw()].hops != 2) return all;
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

  static std::uint8_t give_sole(Direction& direction, const DealtLid& lid, std::uint8_t port) {
    if (direction.is_noted) direction.given[lid.offset].give(port);
    return port;
  }

  /// Of all ports on a shortest path.
  std::uint8_t give_a_choice(Direction& direction, std::size_t i, std::span<const std::uint8_t> row) {
    const DealtLid& lid = lids_[i];
    const std::size_t count = direction.count[lid.at.raw()];
    if (count == 1) return give_sole(direction, lid, direction.sole[lid.at.raw()]);
    note(direction, i, row);
    Given& given = direction.given[lid.offset];
    // In a tree most switches may send upwards by any port.
    if (count == direction.ports.size() && given.have(direction.ports)) {
      const std::uint8_t port = given.longest_ago();
      given.give(port);
      return port;
    }
    if (choices_of_ != lid.at) choose(direction, lid.at);
    return give(choices_, given);
  }

  /// Who was given the LIDs before `end`, once somebody asks.
  void note(Direction& direction, std::size_t end, std::span<const std::uint8_t> row) {
    if (direction.is_noted) return;
    direction.is_noted = true;
    for (Given& given : direction.given) given.clear();
    for (std::size_t i = 0; i < end; ++i) {
      const DealtLid& lid = lids_[i];
      const unsigned distance = full_.distance(x_, lid.at);
      const bool goes_down = full_.goes_down(x_, lid.at);
      if (lid.at == x_ || distance == LegalPaths::far || goes_down != (&direction == &down_)) continue;
      if (goes_down && down_chain(distance, lid) != no_path.raw()) continue;
      direction.given[lid.offset].give(row[lid.lid.raw()]);
    }
  }

  void choose(const Direction& direction, SwitchIndex d) {
    choices_of_ = d;
    choices_.clear();
    for (std::size_t h = 0; h < direction.ports.size(); ++h) {
      if (direction.left[h][d.raw()] + 1 == full_.distance(x_, d)) choices_.push_back(direction.ports[h]);
    }
  }

  /// Two switches with the same choices do not begin with the same one.
  std::uint8_t give(std::span<const std::uint8_t> ports, Given& given) const {
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
  const Ranks& ranks_;
  const LegalPaths& full_;
  std::vector<DealtLid> lids_;
  std::vector<Places> places_;  ///< of lids_
  std::vector<Group> groups_;
  SwitchIndex x_ = no_switch;  ///< whose row it is
  Direction up_;
  Direction down_;
  std::vector<LegalPaths::Distance> before_;  ///< one hop nearer than x_, by destination
  std::vector<Above> above_;                  ///< by switch
  std::vector<Towards> towards_;              ///< by switch above x_
  std::vector<std::uint8_t> ports_;
  std::array<SwitchIndex, 256> peer_{};  ///< by port, of those that lead up
  std::vector<std::uint8_t> choices_;    ///< to choices_of_
  SwitchIndex choices_of_ = no_switch;
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
