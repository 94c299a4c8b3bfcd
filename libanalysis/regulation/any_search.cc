#include "regulation/any_search.h"

#include <algorithm>
#include <utility>

namespace heddle::regulation {

AnySearch::AnySearch(const SelectionProblem& problem, const SelectOptions& options, MeasuredLoads rates)
    : rates_{std::move(rates)},
      available_{*problem.available},
      among_{available_},
      current_{*problem.current},
      resting_{routing::LinkSet::none(problem.network->fabric())},
      exempt_(problem.exempt.begin(), problem.exempt.end()),
      stays_{exempt_},
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
  problem_.exempt = stays_;
  problem_.modes = {};
  problem_.expected = expected_;
  problem_.unavoidable = unavoidable_;
  problem_.ceilings = ceilings_;
  problem_.wakes = wakes_;
  links_.emplace(problem_, options_, rates_, available_);
}

void AnySearch::let_rest(const routing::LinkSet& links) {
  resting_ = links;
  for (std::uint32_t i = 0; i < stays_.size(); ++i) {
    if (exempt_[i] == Exempt::No && links.contains(LinkIndex{i})) stays_[i] = Exempt::Resting;
  }
}

bool AnySearch::chose_from_less(const routing::LinkSet& available, const std::vector<Exempt>& exempt) const {
  for (std::uint32_t i = 0; i < exempt.size(); ++i) {
    const LinkIndex link{i};
    if (!available.contains(link) || exempt[i] != Exempt::No) continue;
    if (!available_.contains(link) || exempt_[i] != Exempt::No) return true;
  }
  return false;
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
