#include "routing/choose_ranks.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "routing/balance.h"
#include "routing/crowned_orders.h"
#include "routing/detour.h"
#include "routing/even_load.h"
#include "routing/home.h"
#include "routing/mends.h"
#include "routing/order_search.h"
#include "routing/permutations.h"
#include "routing/quality.h"

namespace heddle::routing {
namespace {

/// Of the rounds that home tables are given.
constexpr unsigned part_of_rounds = 5;
/// A share of the pairs of host switches without a path above which an order is tried last.
constexpr double suits = 0.05;
/// A load that is less by this factor is less.
constexpr double noticeable = 1.002;
constexpr unsigned shift_samples = 20;
/// A largest load above this many times the bound is a reason to look for other orders.
constexpr double too_much = 1.1;
/// Above this many times, orders of another kind are tried.
constexpr double far_too_much = 1.3;
/// Where looking for them may end.
constexpr double near_bound = 1.02;
/// So much less than with even spreading the largest load may become by balancing.
constexpr double most_balanced = 4;

struct Trial {
  Ranks ranks;
  double even = 0;     ///< largest load with even spreading, but no less than any tables can have
  double missing = 0;  ///< of the pairs of host switches, those that need a mend
};

double share_missing(const SwitchGraph& graph, const LegalPaths& full) {
  double missing = 0;
  double all = 0;
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    if (graph.hosts_at(SwitchIndex{s}) == 0) continue;
    const auto row = full.distance(SwitchIndex{s});
    for (std::uint32_t d = 0; d < graph.size(); ++d) {
      if (graph.hosts_at(SwitchIndex{d}) == 0) continue;
      all += 1;
      missing += row[d] == LegalPaths::far ? 1 : 0;
    }
  }
  return all == 0 ? 0 : missing / all;
}

/// What a candidate comes to: fewer hosts that no path joins, then less load, then more for permutations.
class Outcome {
 public:
  Outcome(const SwitchGraph& graph, const Destinations& destinations, const LinkSet& all, const Ranks& ranks,
          unsigned rounds)
      : full_{graph, ranks, nullptr},
        mends_{graph, ranks, full_},
        topology_{graph, destinations, ranks, full_, mends_},
        chains_{home_by_chains(graph, destinations, ranks, full_)},
        home_{chains_},
        largest_{balanced(all, rounds)},
        left_{std::count_if(mends_.left().begin(), mends_.left().end(), [&](const auto& pair) {
          return graph.hosts_at(pair.first) != 0 && graph.hosts_at(pair.second) != 0;
        })} {}

  [[nodiscard]] bool joins_all() const { return left_ == 0; }
  [[nodiscard]] double largest() const { return largest_; }
  [[nodiscard]] bool better_than(Outcome& other) {
    if (left_ != other.left_) return left_ < other.left_;
    if (largest_ * noticeable < other.largest_) return true;
    return largest_ < other.largest_ * noticeable && shift() > other.shift();
  }

  [[nodiscard]] MadeForOrder take() && { return {std::move(mends_), std::move(chains_)}; }

 private:
  double balanced(const LinkSet& all, unsigned rounds) {
    const double largest = balance(topology_, rounds, home_);
    if (mends_.all().empty()) return largest;
    mend_home(topology_, all, home_);
    return all_to_all(topology_.graph, home_).largest();  // mends are as lumpy as whole LIDs are
  }
  Ratio shift() {
    if (!shift_) {
      shift_ = shift_bandwidth(topology_.graph, home_, shift_samples).mean;
    }
    return *shift_;
  }

  LegalPaths full_;
  Mends mends_;
  FullTopology topology_;
  ForwardingTables chains_;
  ForwardingTables home_;  ///< balanced
  double largest_;
  std::ptrdiff_t left_;
  std::optional<Ratio> shift_;
};

}  // namespace

ChosenOrder choose_ranks(const SwitchGraph& graph, const Destinations& destinations, const LinkSet& all) {
  std::vector<Ranks> candidates = rank_candidates(graph);
  if (candidates.size() == 1) return {std::move(candidates.front()), std::nullopt};
  const unsigned rounds = balance_rounds(graph, destinations) / part_of_rounds;
  const double least = whole_lid_bound(graph);
  std::vector<Trial> trials;
  for (Ranks& ranks : candidates) {
    const LegalPaths full(graph, ranks, nullptr);
    const double even = std::max(least, even_load(graph, ranks, full));
    const double missing = share_missing(graph, full);
    trials.push_back({std::move(ranks), even, missing});
  }
  std::stable_sort(trials.begin(), trials.end(), [](const Trial& x, const Trial& y) {
    const bool x_suits = x.missing <= suits;
    const bool y_suits = y.missing <= suits;
    if (x_suits != y_suits) return x_suits;
    return x.even != y.even ? x.even < y.even : x.missing < y.missing;
  });
  Trial* best = nullptr;
  std::unique_ptr<Outcome> best_outcome;
  for (Trial& trial : trials) {
    if (best != nullptr && best_outcome->joins_all()) {
      if (rounds == 0 && best_outcome->largest() <= noticeable * least) break;
      if (trial.even > (rounds == 0 ? 1 : most_balanced) * best_outcome->largest()) continue;
    }
    auto outcome = std::make_unique<Outcome>(graph, destinations, all, trial.ranks, rounds);
    if (best != nullptr && !outcome->better_than(*best_outcome)) continue;
    best = &trial;
    best_outcome = std::move(outcome);
  }
  const double worth_looking = rounds == 0 ? far_too_much : too_much;
  if (best_outcome->joins_all() && best_outcome->largest() <= worth_looking * least)
    return {std::move(best->ranks), std::move(*best_outcome).take()};
  Ranks chosen = std::move(best->ranks);
  const auto take_if_better = [&](Ranks ranks) {
    auto outcome = std::make_unique<Outcome>(graph, destinations, all, ranks, rounds);
    if (!outcome->better_than(*best_outcome)) return;
    chosen = std::move(ranks);
    best_outcome = std::move(outcome);
  };
  const double bound = std::max(least, lower_bound(graph, all));
  const auto is_above = [&](double times) {
    return !best_outcome->joins_all() || best_outcome->largest() > times * bound;
  };
  if (rounds != 0 && is_above(too_much)) {
    if (auto ranks = better_order(graph, destinations, all, chosen, near_bound * bound))
      take_if_better(std::move(*ranks));
  }
  if (is_above(far_too_much) && !switches_are_alike(graph)) {
    std::vector<std::pair<double, Ranks>> crowned;
    for (Ranks& ranks : crowned_orders(graph, rank_candidates(graph))) {
      const double even = even_load(graph, ranks, LegalPaths(graph, ranks, nullptr));
      crowned.emplace_back(even, std::move(ranks));
    }
    std::stable_sort(crowned.begin(), crowned.end(),
                     [](const auto& x, const auto& y) { return x.first < y.first; });
    for (auto& [even, ranks] : crowned) {
      if (best_outcome->joins_all() && even >= best_outcome->largest()) break;
      if (crown_for_mends(graph, ranks)) take_if_better(std::move(ranks));
    }
  }
  return {std::move(chosen), std::move(*best_outcome).take()};
}

}  // namespace heddle::routing
