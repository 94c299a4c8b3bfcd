#include "qos/refusal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace heddle::qos {
namespace {

/// Counts whose arrangement is tried before the search gives up the proof.
constexpr int most_tries = 60;

bool has_goals(const ArrangeProblem& problem) {
  return std::ranges::any_of(problem.goals,
                             [](const ClassGoal& goal) { return goal.distance || goal.wait_bytes; });
}

/// Whether a lower bound rules the counts out.
bool ruled_out(const ArrangeProblem& problem, const Counts& counts) {
  for (std::size_t i = 0; i < problem.goals.size(); ++i) {
    const auto& goal = problem.goals[i];
    if (goal.wait_bytes && least_wait(problem, counts, i) > *goal.wait_bytes) return true;
  }
  return false;
}

std::string share_text(const SharedVl& vl) {
  return fmt::format("{}'s {:g} %", names(vl), 100 * vl.together.share);
}

/// The least value of one goal, all else kept, and the design that has it.
class BestGoal {
 public:
  BestGoal(ArrangeProblem problem, std::size_t index, double error)
      : problem_{std::move(problem)}, index_{index}, error_{error} {}

  /// None if the rest cannot be met even without this goal.
  std::optional<std::uint64_t> distance() {
    return search([this](std::optional<std::uint64_t> value) { problem_.goals[index_].distance = value; },
                  [this](const Arrangement& best) { return best.analysis.vls[index_].max_distance; });
  }
  std::optional<std::uint64_t> wait_bytes() {
    return search(
        [this](std::optional<std::uint64_t> value) { problem_.goals[index_].wait_bytes = value; },
        [this](const Arrangement& best) {
          return best.analysis.vls[index_].wait_bytes.value_or(std::numeric_limits<std::uint64_t>::max() / 2);
        });
  }

  /// Whether what was found is proved to be the least, to a few parts in a thousand.
  [[nodiscard]] bool least() const { return least_; }

 private:
  template <class Set, class Get>
  std::optional<std::uint64_t> search(Set set, Get get) {
    set(std::nullopt);
    auto solution = solve(problem_, error_);
    if (!solution.best) return std::nullopt;
    std::uint64_t good = get(*solution.best);
    std::uint64_t bad = 0;
    // Each step finds a better design or halves what is left; a design's own figure is what is reported.
    for (int step = 0; step < 16 && good - bad > 1 + good / 256; ++step) {
      const std::uint64_t middle = bad + (good - bad) / 2;
      set(middle);
      solution = solve(problem_, error_);
      if (solution.best) {
        good = std::min(middle, get(*solution.best));
      } else {
        bad = middle;
        least_ = least_ && solution.impossible;
      }
    }
    return good;
  }

  ArrangeProblem problem_;
  std::size_t index_;
  double error_;
  bool least_ = true;
};

/// What the class mostly waits for: the largest other share of its table, or of the other one.
const SharedVl* opponent(const std::vector<SharedVl>& vls, std::size_t index) {
  const SharedVl* best = nullptr;
  for (std::size_t i = 0; i < vls.size(); ++i) {
    if (i == index) continue;
    const SlRequest& own = vls[i].together;
    const Priority table = vls[index].together.priority;
    const auto rank = [table](const SlRequest& each) {
      return std::pair{each.priority == table, each.share};
    };
    if (best == nullptr || rank(own) > rank(best->together)) best = &vls[i];
  }
  return best;
}

Error refuse(std::string message) { return {ErrorCode::Refused, std::move(message)}; }

/// Says no more than was proved.
std::string verdict(const ArrangeProblem& problem, double error, const std::string& with, bool least) {
  if (!solve(problem, error).impossible) {
    return fmt::format("is not met{} by any tables found: best found is", with);
  }
  return fmt::format("cannot be met{}: best {}is", with, least ? "" : "found ");
}

std::optional<Error> single_goal(const ArrangeProblem& problem, const std::vector<SharedVl>& vls,
                                 const DesignRequest& request, std::size_t i) {
  const auto& goal = problem.goals[i];
  const auto* other = opponent(vls, i);
  const std::string with = other == nullptr ? "" : fmt::format(" together with {}", share_text(*other));
  BestGoal search{problem, i, request.error};
  if (goal.wait_bytes) {
    if (const auto best = search.wait_bytes()) {
      return refuse(fmt::format("{}'s bound of {:g} us {} {:.3g} us", names(vls[i]),
                                *vls[i].together.latency_ns / 1000,
                                verdict(problem, request.error, with, search.least()),
                                static_cast<double>(*best) * 8e6 / request.port.rate.value()));
    }
  }
  if (goal.distance) {
    if (const auto best = search.distance()) {
      return refuse(fmt::format("{}'s distance of {} {} {}", names(vls[i]), *goal.distance,
                                verdict(problem, request.error, with, search.least()), *best));
    }
  }
  return std::nullopt;
}

}  // namespace

Solution solve(const ArrangeProblem& asked, double error) {
  ArrangeProblem problem = asked;
  problem.shares.most_error = error;
  Solution solution;
  int tries = 0;
  int failed = 0;
  const bool goals = has_goals(problem);
  const auto accept = [&](const Counts& counts) {
    if (!goals) return true;
    if (ruled_out(problem, counts)) return false;
    if (++tries > most_tries) {
      ++failed;
      return false;
    }
    const bool met = arrange(problem, counts, Effort::Quick).best.has_value();
    failed += met ? 0 : 1;
    return met;
  };
  const auto possible = [&](const Counts& low_side) {
    for (std::size_t i = 0; i < problem.goals.size(); ++i) {
      const auto& bound = problem.goals[i].wait_bytes;
      if (bound && least_wait_beside(problem, low_side, i) > *bound) return false;
    }
    return true;
  };
  const ShareSearch found = search_shares(problem.shares, {accept, possible});
  bool exhaustive = found.all_listed;
  std::uint64_t bound = std::numeric_limits<std::uint64_t>::max();
  for (const auto& counts : found.best) {
    const std::uint64_t least = least_distance(problem.shares, counts);
    bound = std::min(bound, least);
    if (solution.best && least > solution.best->distance) continue;
    auto arranged = arrange(problem, counts, Effort::Thorough);
    exhaustive = exhaustive && arranged.exhaustive;
    if (!arranged.best) continue;
    const auto rank = [](const Arrangement& each) { return std::pair{each.distance, each.wait_bytes}; };
    if (!solution.best || rank(*arranged.best) < rank(*solution.best)) {
      solution.best = std::move(arranged.best);
      solution.error = counts.error;
    }
  }
  // Arrangements that were tried and failed are no proof that none exists.
  solution.impossible = !solution.best && found.complete && failed == 0;
  if (!solution.best) return solution;
  const std::uint64_t classes = problem.shares.high.size() + problem.shares.low.size();
  solution.distance_bound = exhaustive ? solution.best->distance : found.all_listed ? bound : classes;
  solution.least_distance = solution.best->distance == solution.distance_bound;
  // Nothing is smaller than none, to the precision of the shares that were asked for.
  constexpr double none = 1e-12;
  solution.least_error = solution.error <= none || (found.complete && failed == 0);
  return solution;
}

Error refusal(const ArrangeProblem& problem, const std::vector<SharedVl>& vls, const DesignRequest& request) {
  ArrangeProblem free = problem;
  for (auto& goal : free.goals) goal = {};
  if (!solve(free, request.error).best) {
    const Solution nearest = solve(free, 1);
    if (!nearest.best) return refuse("no tables of this size give these shares");
    std::size_t worst = 0;
    const auto miss = [&](std::size_t i) {
      return std::abs(nearest.best->analysis.vls[i].share.value() - vls[i].together.share);
    };
    for (std::size_t i = 1; i < vls.size(); ++i) {
      if (miss(i) > miss(worst)) worst = i;
    }
    return refuse(fmt::format("{} cannot be met within {:g} %: best is {:.4g} %", share_text(vls[worst]),
                              100 * request.error, 100 * nearest.best->analysis.vls[worst].share.value()));
  }
  for (std::size_t i = 0; i < vls.size(); ++i) {
    if (!problem.goals[i].wait_bytes && !problem.goals[i].distance) continue;
    if (auto error = single_goal(problem, vls, request, i)) return *error;
  }
  std::string goals;
  for (std::size_t i = 0; i < vls.size(); ++i) {
    if (!problem.goals[i].wait_bytes && !problem.goals[i].distance) continue;
    goals += fmt::format("{}{}", goals.empty() ? "" : ", ", names(vls[i]));
  }
  return refuse(
      fmt::format("the latencies of {} cannot be met together, nor with any one of them left out: "
                  "loosen two or more",
                  goals));
}

}  // namespace heddle::qos
