#include "routing/quality.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "base/random.h"
#include "routing/hop_map.h"

namespace heddle::routing {

double Loads::largest() const { return hop.empty() ? 0 : *std::max_element(hop.begin(), hop.end()); }

double Loads::mean(const SwitchGraph& graph, const LinkSet& active) const {
  double sum = 0;
  std::size_t n = 0;
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    const auto hops = graph.hops(SwitchIndex{s});
    for (std::size_t h = 0; h < hops.size(); ++h) {
      if (!active.contains(hops[h].link)) continue;
      sum += hop[graph.first_hop(SwitchIndex{s}) + h];
      ++n;
    }
  }
  return n == 0 ? 0 : sum / static_cast<double>(n);
}

namespace {

/// What all hosts send to one LID after the other, summed up on the way. Only switches that it passes are
/// looked at.
class Sums {
 public:
  Sums(const SwitchGraph& graph, std::vector<double>& loads)
      : map_{graph}, loads_{loads}, met_(graph.size()) {
    for (std::uint32_t s = 0; s < graph.size(); ++s) {
      own_.push_back(graph.hosts_at(SwitchIndex{s}));
      if (own_.back() > 0) sources_.push_back(s);
    }
  }

  /// What of it arrives.
  double send(const Target& target, const std::uint8_t* column, double part) {
    passed_.clear();
    for (const std::uint32_t source : sources_) pass(source, target.at.raw(), column, part);
    ready_.clear();
    for (const std::uint32_t s : passed_) {
      if (met_[s].incoming == 0) ready_.push_back(s);
    }
    for (std::size_t r = 0; r < ready_.size(); ++r) {
      const Met& here = met_[ready_[r]];
      if (here.hop == HopMap::none) continue;
      loads_[here.hop] += here.flow;
      Met& peer = met_[here.peer];
      peer.flow += here.flow;
      if (--peer.incoming == 0) ready_.push_back(here.peer);
    }
    const bool delivers = column[target.at.raw()] == target.out.raw();
    const Met& end = met_[target.at.raw()];
    const double arrives = delivers && end.seen && end.incoming == 0 ? end.flow : 0;
    for (const std::uint32_t s : passed_) met_[s] = {};
    return arrives;
  }

 private:
  /// A switch that is passed: in one place, for a LID passes many, and each in another order.
  struct Met {
    double flow = 0;
    std::uint32_t hop = HopMap::none;
    std::uint32_t peer = 0;  ///< behind it
    std::uint32_t incoming = 0;
    bool seen = false;
  };

  void pass(std::uint32_t s, std::uint32_t end, const std::uint8_t* column, double part) {
    while (!met_[s].seen) {
      const HopMap::Way way = s == end ? HopMap::Way{} : map_.way(s, column[s]);
      Met& here = met_[s];
      here.seen = true;
      here.flow = part * own_[s];
      here.hop = way.hop;
      here.peer = way.peer;
      passed_.push_back(s);
      if (way.hop == HopMap::none) return;
      s = way.peer;
      ++met_[s].incoming;
    }
  }

  const HopMap map_;
  std::vector<double>& loads_;
  std::vector<double> own_;  ///< hosts of each switch
  std::vector<std::uint32_t> sources_;
  std::vector<Met> met_;
  std::vector<std::uint32_t> passed_;
  std::vector<std::uint32_t> ready_;
};

}  // namespace

Loads all_to_all(const SwitchGraph& graph, const ForwardingTables& tables) {
  Loads loads;
  loads.hop.assign(graph.hop_count(), 0);
  Sums sums{graph, loads.hop};
  Columns columns(graph.size());
  std::size_t loaded = static_cast<std::size_t>(-1);
  const double hosts = static_cast<double>(graph.host_count());
  for (const Target& target : graph.targets()) {
    if (target.kind != TargetKind::Host) continue;
    const double part = 1.0 / target.lid_count();
    for (unsigned i = 0; i < target.lid_count(); ++i) {
      const Lid lid{static_cast<std::uint16_t>(target.base.raw() + i)};
      if (lid.raw() / lids_per_block != loaded) {
        loaded = lid.raw() / lids_per_block;
        columns.load(tables, loaded);
      }
      loads.lost += part * hosts - sums.send(target, columns.column(lid), part);
    }
  }
  if (loads.lost < 1e-6 * hosts) loads.lost = 0;
  return loads;
}

std::vector<std::uint32_t> host_targets(const SwitchGraph& graph) {
  std::vector<std::uint32_t> result;
  for (std::uint32_t t = 0; t < graph.targets().size(); ++t) {
    if (graph.targets()[t].kind == TargetKind::Host) result.push_back(t);
  }
  return result;
}

Lid pick_lid(const Target& to, std::uint32_t from_number, std::uint32_t to_number) {
  return Lid{static_cast<std::uint16_t>(to.base.raw() + (from_number + to_number) % to.lid_count())};
}

std::vector<Flow> shift_pattern(std::size_t hosts, std::size_t shift) {
  std::vector<Flow> flows;
  for (std::size_t i = 0; i < hosts; ++i) {
    flows.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>((i + shift) % hosts), 1});
  }
  return flows;
}

namespace {

/// Calls `f(hop)` along the way of a flow; false when it does not arrive.
template <class F>
bool follow(const SwitchGraph& graph, const HopMap& map, const ForwardingTables& tables, const Target& from,
            const Target& to, Lid lid, F&& f) {
  std::uint32_t s = from.at.raw();
  for (std::size_t steps = 0; steps <= graph.size(); ++steps) {
    const std::uint8_t port = tables.port(SwitchIndex{s}, lid).raw();
    if (s == to.at.raw()) return port == to.out.raw();
    const std::uint32_t hop = map.hop(s, port);
    if (hop == HopMap::none) return false;
    f(hop);
    s = map.peer(hop);
  }
  return false;
}

}  // namespace

Loads load_of(const SwitchGraph& graph, const ForwardingTables& tables, std::span<const Flow> flows) {
  const HopMap map(graph);
  const auto hosts = host_targets(graph);
  Loads loads;
  loads.hop.assign(graph.hop_count(), 0);
  for (const Flow& flow : flows) {
    const Target& from = graph.targets()[hosts[flow.from]];
    const Target& to = graph.targets()[hosts[flow.to]];
    const Lid lid = pick_lid(to, flow.from, flow.to);
    if (!follow(graph, map, tables, from, to, lid,
                [&](std::uint32_t hop) { loads.hop[hop] += flow.amount; })) {
      loads.lost += flow.amount;
    }
  }
  return loads;
}

namespace {

/// Sets of switches grown from one, each time by the switch that has the most cables into the set.
class Growth {
 public:
  Growth(const SwitchGraph& graph, const LinkSet& active)
      : graph_{graph}, active_{active}, inside_(graph.size()), pull_(graph.size()) {
    Random random(1);
    for (std::size_t s = 0; s < graph.size(); ++s) mark_.push_back(random());
  }

  /// The largest bound by a set around `seed`, as long as the set has not half of the hosts.
  double from(std::uint32_t seed) {
    std::fill(inside_.begin(), inside_.end(), std::uint8_t{0});
    std::fill(pull_.begin(), pull_.end(), std::uint8_t{0});
    const auto hosts = static_cast<double>(graph_.host_count());
    double bound = 0;
    double held = 0;
    std::int64_t cut = 0;
    std::uint64_t set = 0;
    for (std::uint32_t next = seed; next != none; next = strongest()) {
      cut += take(next);
      held += graph_.hosts_at(SwitchIndex{next});
      if (held > 0 && held < hosts && cut > 0)
        bound = std::max(bound, held * (hosts - held) / static_cast<double>(cut));
      if (held * 2 >= hosts) break;
      // What follows depends on the set alone, and was looked at when another seed grew to it.
      set ^= mark_[next];
      if (!known_.insert(set).second) break;
    }
    return bound;
  }

 private:
  static constexpr std::uint32_t none = 0xffffffffU;

  /// By how many cables more leave the set afterwards.
  std::int64_t take(std::uint32_t s) {
    inside_[s] = 1;
    pull_[s] = 0;
    std::int64_t more = 0;
    for (const Hop& hop : graph_.hops(SwitchIndex{s})) {
      if (!active_.contains(hop.link)) continue;
      const std::uint32_t peer = hop.peer.raw();
      more += inside_[peer] != 0 ? -1 : 1;
      if (inside_[peer] == 0) ++pull_[peer];
    }
    return more;
  }

  /// The first of those with the most cables into the set; none where there is no such cable.
  [[nodiscard]] std::uint32_t strongest() const {
    std::uint8_t most = 0;
    for (const std::uint8_t cables : pull_) most = std::max(most, cables);
    if (most == 0) return none;
    return static_cast<std::uint32_t>(std::find(pull_.begin(), pull_.end(), most) - pull_.begin());
  }

  const SwitchGraph& graph_;
  const LinkSet& active_;
  std::vector<std::uint8_t> inside_;
  std::vector<std::uint8_t> pull_;  ///< of switches outside: cables into the set; a switch has fewer than 255
  std::vector<std::uint64_t> mark_;
  std::unordered_set<std::uint64_t> known_;  ///< sets, each as what its switches' marks come to
};

}  // namespace

double lower_bound(const SwitchGraph& graph, const LinkSet& active) {
  Growth growth(graph, active);
  double bound = 0;
  for (std::uint32_t seed = 0; seed < graph.size(); ++seed) bound = std::max(bound, growth.from(seed));
  return bound;
}

double whole_lid_bound(const SwitchGraph& graph) {
  std::optional<unsigned> lids;
  for (const Target& target : graph.targets()) {
    if (target.kind != TargetKind::Host) continue;
    if (lids.value_or(target.lid_count()) != target.lid_count()) return 0;
    lids = target.lid_count();
  }
  double bound = 0;
  const std::size_t all = graph.host_count();
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    const std::size_t own = graph.hosts_at(SwitchIndex{s});
    const auto hops = graph.hops(SwitchIndex{s});
    if (own == 0 || hops.empty()) continue;
    const auto fullest = [&](std::size_t from, std::size_t to) {
      const std::size_t most = (to * *lids + hops.size() - 1) / hops.size();
      return static_cast<double>(from * most) / *lids;
    };
    bound = std::max(bound, fullest(own, all - own));
    const bool one_neighbour =
        std::all_of(hops.begin(), hops.end(), [&](const Hop& hop) { return hop.peer == hops.front().peer; });
    if (one_neighbour) bound = std::max(bound, fullest(all - own, own));
  }
  return bound;
}

}  // namespace heddle::routing
