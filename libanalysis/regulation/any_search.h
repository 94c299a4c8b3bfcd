/// A search for links that carry any traffic (any_links.h), part by part: on fabrics of 46,656 ports all of
/// it takes seconds, and a governor answers other events meanwhile. It keeps what it looks at, so that all of
/// that may change before it ends; only the network must outlive it, unchanged but for its tables. One
/// thread.
#pragma once

#include <optional>
#include <vector>

#include "regulation/any_links.h"

namespace heddle::regulation {

class AnySearch {
 public:
  /// `problem`: `available` of it is what sets are held against, and what they are searched among. Its loads,
  /// modes and traffic are not looked at. `rates`: what hosts send and receive.
  AnySearch(const SelectionProblem& problem, const SelectOptions& options, MeasuredLoads rates);
  AnySearch(const AnySearch&) = delete;
  AnySearch& operator=(const AnySearch&) = delete;

  /// Among these of the available ones alone. Before the first step.
  void look_among(const routing::LinkSet& links) { among_ = links; }
  /// These may not leave yet: every set that is found has them. Before the first step.
  void let_rest(const routing::LinkSet& links);
  [[nodiscard]] const routing::LinkSet& resting() const { return resting_; }
  [[nodiscard]] AnyLinks& links() { return *links_; }

  [[nodiscard]] const MeasuredLoads& rates() const { return rates_; }
  /// A link was not there, or had to stay, that may be spared now.
  [[nodiscard]] bool chose_from_less(const routing::LinkSet& available,
                                     const std::vector<Exempt>& exempt) const;
  /// Made for these, and for the LID planes that `options` name.
  [[nodiscard]] bool is_for(const routing::LinkSet& available, const std::vector<Exempt>& exempt,
                            const SelectOptions& options) const;

 private:
  MeasuredLoads rates_;
  routing::LinkSet available_;
  routing::LinkSet among_;
  routing::LinkSet current_;
  routing::LinkSet resting_;
  std::vector<Exempt> exempt_;
  std::vector<Exempt> stays_;  ///< exempt_, and what is resting
  std::vector<double> expected_;
  std::vector<double> unavoidable_;
  std::vector<double> ceilings_;
  std::vector<ExpectedWake> wakes_;
  SelectOptions options_;
  SelectionProblem problem_;
  std::optional<AnyLinks> links_;
};

}  // namespace heddle::regulation
