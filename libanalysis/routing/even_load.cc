#include "routing/even_load.h"

#include <algorithm>
#include <vector>

namespace heddle::routing {
namespace {

/// Cables of a trunk as one, the ways up of a switch and its ways down apart, switches by their place in the
/// order.
struct Ways {
  struct Trunk {
    std::uint32_t to = 0;
    double cables = 0;
  };
  std::vector<std::uint32_t> first;
  std::vector<Trunk> trunks;
};

Ways ways_of(const SwitchGraph& graph, const Ranks& ranks, bool up) {
  Ways ways;
  for (const SwitchIndex s : ranks.order()) {
    ways.first.push_back(static_cast<std::uint32_t>(ways.trunks.size()));
    std::vector<std::uint32_t> peers;
    for (const Hop& hop : graph.hops(s)) {
      if (ranks.above(hop.peer, s) == up) peers.push_back(ranks.position(hop.peer));
    }
    std::sort(peers.begin(), peers.end());
    for (std::size_t i = 0; i < peers.size(); ++i) {
      if (i == 0 || peers[i] != peers[i - 1]) ways.trunks.push_back({peers[i], 0});
      ways.trunks.back().cables += 1;
    }
  }
  ways.first.push_back(static_cast<std::uint32_t>(ways.trunks.size()));
  return ways;
}

class Spreader {
 public:
  Spreader(const SwitchGraph& graph, const Ranks& ranks, const LegalPaths& full)
      : graph_{graph},
        ranks_{ranks},
        full_{full},
        up_{ways_of(graph, ranks, true)},
        down_{ways_of(graph, ranks, false)},
        up_load_(up_.trunks.size(), 0),
        down_load_(down_.trunks.size(), 0),
        here_(graph.size()),
        left_(graph.size()) {}

  void add(SwitchIndex to) {
    const auto n = static_cast<std::uint32_t>(graph_.size());
    // A legal path is one in both directions.
    const auto distance = full_.distance(to);
    for (std::uint32_t p = 0; p < n; ++p) {
      const SwitchIndex s = ranks_.order()[p];
      here_[p] = static_cast<double>(graph_.hosts_at(s)) * graph_.hosts_at(to);
      left_[p] = distance[s.raw()];
    }
    const std::uint32_t at = ranks_.position(to);
    here_[at] = 0;
    for (std::uint32_t p = n; p-- > 0;) {
      if (here_[p] > 0 && !full_.goes_down(ranks_.order()[p], to)) pass(p, up_, up_load_);
    }
    for (std::uint32_t p = 0; p < n; ++p) {
      if (here_[p] > 0 && p != at && full_.goes_down(ranks_.order()[p], to)) pass_down(p, to);
    }
  }

  [[nodiscard]] double largest() const {
    double most = 0;
    for (const auto& [ways, load] : {std::pair{&up_, &up_load_}, std::pair{&down_, &down_load_}}) {
      for (std::size_t i = 0; i < load->size(); ++i)
        most = std::max(most, (*load)[i] / ways->trunks[i].cables);
    }
    return most;
  }

 private:
  template <class Leads>
  void spread(std::uint32_t p, const Ways& ways, std::vector<double>& load, Leads leads) {
    double cables = 0;
    for (std::uint32_t i = ways.first[p]; i < ways.first[p + 1]; ++i) {
      if (leads(ways.trunks[i].to)) cables += ways.trunks[i].cables;
    }
    if (cables == 0) return;
    const double each = here_[p] / cables;
    for (std::uint32_t i = ways.first[p]; i < ways.first[p + 1]; ++i) {
      const Ways::Trunk& trunk = ways.trunks[i];
      if (!leads(trunk.to)) continue;
      load[i] += each * trunk.cables;
      here_[trunk.to] += each * trunk.cables;
    }
    here_[p] = 0;
  }
  void pass(std::uint32_t p, const Ways& ways, std::vector<double>& load) {
    if (left_[p] == LegalPaths::far) return;
    spread(p, ways, load, [&](std::uint32_t to) { return left_[to] + 1 == left_[p]; });
  }
  void pass_down(std::uint32_t p, SwitchIndex to) {
    const unsigned own = full_.down(ranks_.order()[p], to);
    spread(p, down_, down_load_,
           [&](std::uint32_t next) { return full_.down(ranks_.order()[next], to) + 1U == own; });
  }

  const SwitchGraph& graph_;
  const Ranks& ranks_;
  const LegalPaths& full_;
  Ways up_;
  Ways down_;
  std::vector<double> up_load_;
  std::vector<double> down_load_;
  std::vector<double> here_;                ///< by position
  std::vector<LegalPaths::Distance> left_;  ///< by position: to the destination
};

}  // namespace

double even_load(const SwitchGraph& graph, const Ranks& ranks, const LegalPaths& full) {
  Spreader spreader(graph, ranks, full);
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    if (graph.hosts_at(SwitchIndex{s}) != 0) spreader.add(SwitchIndex{s});
  }
  return spreader.largest();
}

}  // namespace heddle::routing
