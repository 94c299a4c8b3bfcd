#include "metrics/owner_families.h"

#include "metrics/family_maker.h"

namespace heddle::metrics {

std::vector<prometheus::MetricFamily> OwnerMetrics::Collect() const {
  const OwnerFigures figures = figures_();
  return {gauge("heddle_owner", "1 where this daemon owns its fabric, 0 where it follows (state.backend)",
                figures.owns ? 1 : 0),
          gauge("heddle_lease_seconds", "What is left of the owner's lease; 0 where this daemon follows",
                figures.lease_left)};
}

}  // namespace heddle::metrics
