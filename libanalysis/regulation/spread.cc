#include "regulation/spread.h"

#include <algorithm>

namespace heddle::regulation {
namespace {

using routing::Hop;
using routing::LegalPaths;
using routing::SwitchIndex;

/// Active hops of one direction, by switch; the trunk's cables side by side.
struct ActiveHops {
  struct Entry {
    std::uint32_t peer;
    std::uint32_t hop;
  };
  std::vector<std::uint32_t> first{0};
  std::vector<Entry> entries;

  [[nodiscard]] std::span<const Entry> of(std::uint32_t s) const {
    return std::span(entries).subspan(first[s], first[s + 1] - first[s]);
  }
};

class Spreader {
 public:
  Spreader(const Network& network, const LegalPaths& paths, const routing::LinkSet& active)
      : network_{network},
        paths_{paths},
        active_{active},
        leading_{network.mends().leading(paths, &active)},
        here_(network.graph().size(), 0) {
    const auto& graph = network.graph();
    for (std::uint32_t s = 0; s < graph.size(); ++s) {
      auto at = static_cast<std::uint32_t>(graph.first_hop(SwitchIndex{s}));
      for (const Hop& hop : graph.hops(SwitchIndex{s})) {
        if (active.contains(hop.link)) {
          auto& list = network.ranks().above(hop.peer, SwitchIndex{s}) ? up_ : down_;
          list.entries.push_back({hop.peer.raw(), at});
        }
        ++at;
      }
      up_.first.push_back(static_cast<std::uint32_t>(up_.entries.size()));
      down_.first.push_back(static_cast<std::uint32_t>(down_.entries.size()));
    }
  }

  void add(SwitchIndex to, const TrafficMatrix& matrix, std::vector<double>& loads) {
    const auto order = network_.ranks().order();
    const auto hosts = network_.host_switches();
    std::fill(here_.begin(), here_.end(), 0);
    const std::uint32_t position = network_.host_position(to);
    for (std::size_t s = 0; s < hosts.size(); ++s) here_[hosts[s].raw()] = matrix.at(s, position);
    here_[to.raw()] = 0;
    pass_mended(to, loads);
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      if (here_[it->raw()] > 0 && !paths_.goes_down(*it, to)) pass_on(*it, to, up_, loads);
    }
    for (const SwitchIndex s : order) {
      if (here_[s.raw()] > 0 && paths_.goes_down(s, to)) pass_on(s, to, down_, loads);
    }
  }

 private:
  /// Those that the order gives no path, before the others: nobody sends to them.
  void pass_mended(SwitchIndex to, std::vector<double>& loads) {
    const auto mends = network_.mends().to(to);
    for (auto mend = mends.rbegin(); mend != mends.rend(); ++mend) {
      double& here = here_[mend->at.raw()];
      if (here <= 0) continue;
      chosen_.clear();
      for (const routing::Mends::Way& way : network_.mends().ways(*mend)) {
        if (routing::Mends::leads(*mend, way, paths_, &active_, leading_))
          chosen_.push_back({way.peer.raw(), hop_of(mend->at, way)});
      }
      const double part = here / static_cast<double>(std::max<std::size_t>(1, chosen_.size()));
      here = 0;
      for (const ActiveHops::Entry& entry : chosen_) {
        loads[entry.hop] += part;
        here_[entry.peer] += part;
      }
    }
  }

  [[nodiscard]] std::uint32_t hop_of(SwitchIndex at, const routing::Mends::Way& way) const {
    return network_.ranks().above(at, way.peer) ? network_.down_hop(way.link) : network_.up_hop(way.link);
  }

  void pass_on(SwitchIndex s, SwitchIndex to, const ActiveHops& hops, std::vector<double>& loads) {
    const LegalPaths::Distance distance = paths_.distance(s, to);
    if (distance == LegalPaths::far || distance == 0) return;
    const bool descends = &hops == &down_;
    chosen_.clear();
    for (const ActiveHops::Entry& entry : hops.of(s.raw())) {
      const SwitchIndex peer{entry.peer};
      const LegalPaths::Distance left = descends ? paths_.down(peer, to) : paths_.distance(peer, to);
      if (left + 1 == distance) chosen_.push_back(entry);
    }
    const double part = here_[s.raw()] / static_cast<double>(std::max<std::size_t>(1, chosen_.size()));
    for (const ActiveHops::Entry& entry : chosen_) {
      loads[entry.hop] += part;
      here_[entry.peer] += part;
    }
  }

  const Network& network_;
  const LegalPaths& paths_;
  const routing::LinkSet& active_;
  std::vector<std::uint8_t> leading_;  ///< by mend
  ActiveHops up_;
  ActiveHops down_;
  std::vector<double> here_;
  std::vector<ActiveHops::Entry> chosen_;
};

}  // namespace

std::vector<double> spread_loads(const Network& network, const LegalPaths& paths,
                                 const routing::LinkSet& active, const TrafficMatrix& matrix) {
  std::vector<double> loads(network.graph().hop_count(), 0);
  Spreader spreader{network, paths, active};
  for (const SwitchIndex to : network.host_switches()) spreader.add(to, matrix, loads);
  return loads;
}

}  // namespace heddle::regulation
