/// The Trunk policy, and what brings links back at once.
#pragma once

#include <algorithm>

#include "regulation/selector.h"

namespace heddle::regulation {

/// Of a trunk's links, from the lower switch to the upper and back: shares of capacity. A link may be full
/// one way and idle the other.
struct BothWays {
  double up = 0;
  double down = 0;
  [[nodiscard]] double most() const { return std::max(up, down); }
};

/// A trunk as it is loaded.
struct TrunkLoad {
  std::vector<LinkIndex> on;     ///< active
  std::vector<LinkIndex> spare;  ///< of them, those that may be turned off; the last first
  std::vector<LinkIndex> off;    ///< available and not active
  double busiest = 0;            ///< bit/s, of its two directions the more loaded
  double capacity = 0;           ///< bit/s of those that are on
  BothWays highest;              ///< utilization of its most loaded link
  bool known = true;             ///< every link that is on was measured

  [[nodiscard]] double utilization() const { return capacity > 0 ? busiest / capacity : 0; }
};
[[nodiscard]] TrunkLoad trunk_load(const SelectionProblem& problem, const Trunk& trunk);

/// Share of capacity that no link of the trunk should be above: u_on, or what the last selection expected of
/// its fullest; where all its links are on, also what is unavoidable, and what estimates may be wrong by. Of
/// the trunk, because the two LID planes load its links in another order.
[[nodiscard]] BothWays tolerated(const SelectionProblem& problem, const Trunk& trunk,
                                 const SelectOptions& options);

/// `loads` (bit/s by hop) with the most that any link of a trunk carries the same way for each of them: where
/// single flows fill a link, it is chance which one.
[[nodiscard]] std::vector<double> fullest_of_trunk(const Network& network, const std::vector<double>& loads);

/// Those first that are expected to come back soonest.
[[nodiscard]] std::vector<LinkIndex> quickest_first(const SelectionProblem& problem,
                                                    std::vector<LinkIndex> links);

/// Links that stay active, with a reason for each that changes.
struct TrunkChoice {
  routing::LinkSet active;
  std::vector<LinkDecision> decisions;
};
/// The least loaded links of a trunk leave first, by `loads` (bit/s by hop) of the tables that traffic will
/// use: what stays then keeps its LIDs.
[[nodiscard]] TrunkChoice choose_by_trunks(const SelectionProblem& problem, const SelectOptions& options,
                                           std::span<const double> loads);

}  // namespace heddle::regulation
