#include "metrics/opensm_families.h"

#include "metrics/family_maker.h"

namespace heddle::metrics {

std::vector<prometheus::MetricFamily> OpenSmMetrics::Collect() const {
  const OpenSmFigures figures = figures_;
  return {gauge("heddle_opensm_plugin_is_master",
                "1 while OpenSM's plugin is connected and its OpenSM is the master of the fabric",
                figures.plugin_is_master ? 1 : 0),
          gauge("heddle_opensm_plan_is_on_disk",
                "1 while the plan for the plugin on disk is the one that is meant",
                figures.plan_is_on_disk ? 1 : 0)};
}

}  // namespace heddle::metrics
