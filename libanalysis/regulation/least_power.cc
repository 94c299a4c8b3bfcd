#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/disjoint_sets.h"
#include "regulation/evaluation.h"
#include "regulation/selector.h"

namespace heddle::regulation {
namespace {

using routing::SwitchIndex;

struct Cable {
  std::uint32_t lower = 0;
  std::uint32_t upper = 0;
  double watts = 0;
  double limit = 0;    ///< bit/s that it may carry, of its two directions the greater
  bool stays = false;  ///< may not be turned off
};

class Bound {
 public:
  Bound(const SelectionProblem& problem, const SelectOptions& options, std::span<const double> limits)
      : network_{*problem.network}, problem_{problem} {
    const Fabric& fabric = network_.fabric();
    for (std::uint32_t i = 0; i < fabric.links().size(); ++i) {
      const LinkIndex link{i};
      if (network_.trunk_of(link) == Network::no_trunk || !problem.available->contains(link)) continue;
      const Trunk& trunk = network_.trunks()[network_.trunk_of(link)];
      Cable cable{trunk.lower.raw(), trunk.upper.raw(), 0, 0, problem.exempt[i] != Exempt::No};
      power::LinkMode mode = power::mode_of(fabric.link(link));
      double watts = problem.power->link(fabric, link, mode).value();
      // A link that stays may yet run in a reduced mode.
      for (const power::LinkMode reduced : options.reductions)
        watts = std::min(watts, problem.power->link(fabric, link, reduced).value());
      cable.watts = watts;
      cable.limit = options.thresholds.u_on.value() * network_.capacity(link);
      if (!limits.empty()) {
        const double most = std::max(limits[network_.up_hop(link)], limits[network_.down_hop(link)]);
        if (most > cable.limit) cable.limit = most_by_mends * most;
      }
      cables_.push_back(cable);
      if (rank(cable.lower) > rank(cable.upper) + 1) neighbours_only_ = false;
    }
    must_join_.assign(network_.graph().size(), network_.manager_switches().empty() ? 0 : 1);
    for (const SwitchIndex s : network_.host_switches()) must_join_[s.raw()] = 1;
    for (std::uint32_t s = 0; s < network_.graph().size(); ++s)
      max_rank_ = std::max(max_rank_, network_.ranks().rank(SwitchIndex{s}));
  }

  /// The best of: each switch's own cables; a least tree; cuts at every rank; cuts at the lower ranks, and a
  /// least tree over what lies above them. No cable counts twice in any of these.
  double best() {
    double most = std::max(stars(), tree(static_cast<std::uint16_t>(max_rank_ + 1)));
    double cuts = 0;
    for (std::uint16_t k = max_rank_; k >= 1; --k) {
      if (neighbours_only_) most = std::max(most, cuts + stays_from(k) + tree(k));
      cuts += cut(k);
    }
    return std::max(most, cuts + stays_from(0));
  }

 private:
  [[nodiscard]] std::uint16_t rank(std::uint32_t s) const { return network_.ranks().rank(SwitchIndex{s}); }

  /// Cables within rank >= k that stay on, and that no cut counts: those between equals.
  double stays_from(std::uint16_t k) const {
    double sum = 0;
    for (const Cable& cable : cables_) {
      if (cable.stays && rank(cable.upper) >= k && rank(cable.upper) == rank(cable.lower)) sum += cable.watts;
    }
    return sum;
  }

  /// Least watts of the cables whose upper end has rank < k: what stays, and a least spanning forest over the
  /// parts below, each taken for one.
  double tree(std::uint16_t k) {
    DisjointSets parts(network_.graph().size());
    for (const Cable& cable : cables_) {
      if (rank(cable.upper) >= k) parts.join(cable.lower, cable.upper);
    }
    double sum = 0;
    std::vector<const Cable*> rest;
    for (const Cable& cable : cables_) {
      if (rank(cable.upper) >= k) continue;
      if (cable.stays) {
        sum += cable.watts;
        parts.join(cable.lower, cable.upper);
      } else {
        rest.push_back(&cable);
      }
    }
    if (std::find(must_join_.begin(), must_join_.end(), 0) != must_join_.end()) {
      // Some switches may stay alone: k parts that must meet take k - 1 cables, of the cheapest.
      return sum + cheapest(rest, parts_that_meet(parts) - 1);
    }
    std::sort(rest.begin(), rest.end(), [](const Cable* x, const Cable* y) { return x->watts < y->watts; });
    for (const Cable* cable : rest) {
      if (parts.join(cable->lower, cable->upper)) sum += cable->watts;
    }
    return sum;
  }

  std::size_t parts_that_meet(DisjointSets& parts) {
    std::vector<std::uint8_t> seen(must_join_.size(), 0);
    std::size_t count = 0;
    for (std::uint32_t s = 0; s < must_join_.size(); ++s) {
      if (must_join_[s] == 0 || seen[parts.find(s)] != 0) continue;
      seen[parts.find(s)] = 1;
      ++count;
    }
    return std::max<std::size_t>(1, count);
  }

  static double cheapest(const std::vector<const Cable*>& cables, std::size_t count) {
    std::vector<double> watts;
    for (const Cable* cable : cables) watts.push_back(cable->watts);
    std::sort(watts.begin(), watts.end());
    if (watts.size() > count) watts.resize(count);
    return std::accumulate(watts.begin(), watts.end(), 0.0);
  }

  /// Least watts of cables out of one set, that carry so many bit/s and are at least one.
  double out_of_set(std::vector<const Cable*>& cables, double demand, bool must) const {
    double sum = 0;
    double limit = 0;
    std::vector<const Cable*> rest;
    for (const Cable* cable : cables) {
      if (cable->stays) {
        sum += cable->watts;
        limit += cable->limit;
      } else {
        rest.push_back(cable);
      }
    }
    // Fewest cables by capacity, cheapest by watts: no set of cables that suffices has fewer or costs less.
    std::vector<double> limits;
    for (const Cable* cable : rest) limits.push_back(cable->limit);
    std::sort(limits.rbegin(), limits.rend());
    std::size_t count = 0;
    while (count < limits.size() && limit * (1 + 1e-9) < demand) limit += limits[count++];
    if (must && sum == 0) count = std::max<std::size_t>(count, 1);
    return sum + cheapest(rest, count);
  }

  /// Cables that leave the parts of rank >= k upwards. They are those whose ends are on both sides of k; one
  /// that crosses several levels gives each its share.
  double cut(std::uint16_t k) {
    DisjointSets parts(network_.graph().size());
    for (const Cable& cable : cables_) {
      if (rank(cable.upper) >= k && rank(cable.lower) >= k) parts.join(cable.lower, cable.upper);
    }
    std::vector<std::uint32_t> part(network_.graph().size());
    for (std::uint32_t s = 0; s < part.size(); ++s) part[s] = parts.find(s);
    const auto inside = [&](std::uint32_t s) { return rank(s) >= k; };
    std::vector<std::vector<const Cable*>> leaving(part.size());
    std::vector<Cable> shared;
    shared.reserve(cables_.size());
    for (const Cable& cable : cables_) {
      const bool lower = inside(cable.lower);
      const bool upper = inside(cable.upper);
      if (lower == upper) continue;
      const std::uint32_t in = lower ? cable.lower : cable.upper;
      Cable copy = cable;
      const int levels = std::abs(static_cast<int>(rank(cable.lower)) - static_cast<int>(rank(cable.upper)));
      copy.watts /= levels;
      shared.push_back(copy);
      leaving[part[in]].push_back(&shared.back());
    }
    const std::vector<double> demand = demands(part, inside);
    double sum = 0;
    for (std::uint32_t p = 0; p < part.size(); ++p) {
      if (leaving[p].empty()) continue;
      sum += out_of_set(leaving[p], demand[p], must_leave(part, p));
    }
    return sum;
  }

  bool must_leave(const std::vector<std::uint32_t>& part, std::uint32_t p) const {
    bool in = false;
    bool out = false;
    for (std::uint32_t s = 0; s < part.size(); ++s) {
      if (must_join_[s] == 0) continue;
      (part[s] == p ? in : out) = true;
    }
    return in && out;
  }

  /// By part: the greater of what leaves and what enters it.
  template <class Inside>
  std::vector<double> demands(const std::vector<std::uint32_t>& part, Inside inside) const {
    std::vector<double> out(part.size(), 0);
    std::vector<double> in(part.size(), 0);
    if (problem_.traffic == nullptr) return out;
    const auto hosts = network_.host_switches();
    const TrafficMatrix& matrix = problem_.traffic->matrix;
    for (std::size_t s = 0; s < hosts.size(); ++s) {
      for (std::size_t d = 0; d < hosts.size(); ++d) {
        const std::uint32_t from = part[hosts[s].raw()];
        const std::uint32_t to = part[hosts[d].raw()];
        if (from == to && inside(hosts[s].raw())) continue;
        out[from] += matrix.at(s, d);
        in[to] += matrix.at(s, d);
      }
    }
    for (std::size_t p = 0; p < out.size(); ++p) out[p] = std::max(out[p], in[p]);
    return out;
  }

  /// Each switch by itself; a cable between two of them gives half to each.
  double stars() const {
    const std::size_t n = network_.graph().size();
    std::vector<std::uint32_t> part(n);
    std::iota(part.begin(), part.end(), 0U);
    const std::vector<double> demand = demands(part, [](std::uint32_t) { return true; });
    std::vector<Cable> halves;
    halves.reserve(2 * cables_.size());
    std::vector<std::vector<const Cable*>> at(n);
    for (const Cable& cable : cables_) {
      const bool both = must_join_[cable.lower] != 0 && must_join_[cable.upper] != 0;
      for (const std::uint32_t end : {cable.lower, cable.upper}) {
        if (must_join_[end] == 0) continue;
        Cable half = cable;
        if (both) half.watts /= 2;
        halves.push_back(half);
        at[end].push_back(&halves.back());
      }
    }
    double sum = 0;
    for (std::uint32_t s = 0; s < n; ++s) {
      if (must_join_[s] != 0) sum += out_of_set(at[s], demand[s], n > 1);
    }
    return sum;
  }

  const Network& network_;
  const SelectionProblem& problem_;

  std::vector<Cable> cables_;
  std::vector<std::uint8_t> must_join_;
  std::uint16_t max_rank_ = 0;
  bool neighbours_only_ = true;  ///< no cable crosses more than one rank
};

}  // namespace

Watts least_power(const SelectionProblem& problem, const SelectOptions& options,
                  std::span<const double> limits) {
  return Watts{Bound{problem, options, limits}.best()};
}

}  // namespace heddle::regulation
