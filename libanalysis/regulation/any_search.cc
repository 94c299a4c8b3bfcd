#include "regulation/any_search.h"

#include <algorithm>
#include <utility>

namespace heddle::regulation {

AnySearch::AnySearch(const SelectionProblem& problem, const SelectOptions& options, MeasuredLoads rates)
    : rates_{std::move(rates)},
      available_{*problem.available},
      among_{available_},
      current_{*problem.current},
      exempt_(problem.exempt.begin(), problem.exempt.end()),
      expected_(problem.expected.begin(), problem.expected.end()),
      unavoidable_(problem.unavoidable.begin(), problem.unavoidable.end()),
      ceilings_(problem.ceilings.begin(), problem.ceilings.end()),
      wakes_(problem.wakes.begin(), problem.wakes.end()),
      options_{options},
      problem_{problem} {
  problem_.available = &among_;
  problem_.current = &current_;
  problem_.loads = nullptr;
  problem_.traffic = nullptr;
  problem_.exempt = exempt_;
  problem_.modes = {};
  problem_.expected = expected_;
  problem_.unavoidable = unavoidable_;
  problem_.ceilings = ceilings_;
  problem_.wakes = wakes_;
  links_.emplace(problem_, options_, rates_, available_);
}

bool AnySearch::is_for(const routing::LinkSet& available, const std::vector<Exempt>& exempt,
                       const SelectOptions& options) const {
  const auto planes = [](const SelectOptions& of) {
    const unsigned next = of.next_plane.value_or(of.plane);
    return std::pair{std::min(of.plane, next), std::max(of.plane, next)};
  };
  return available_ == available && exempt_ == exempt && planes(options_) == planes(options);
}

}  // namespace heddle::regulation
