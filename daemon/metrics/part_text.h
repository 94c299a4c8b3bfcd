/// Families of prometheus-cpp as text, as far as a scrape asks for them.
#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

#include "metrics/selection.h"

namespace heddle::metrics {

/// As it stands in a line: `fabric="...",`; nothing where there is no name.
[[nodiscard]] std::string first_label(const std::string& fabric);

/// Of `families` what `selection` wants, with the label of the fabric. What has the GUID of a node in its
/// labels is in that node's shard.
[[nodiscard]] std::string part_text(std::vector<prometheus::MetricFamily> families,
                                    const Selection& selection, const std::string& fabric);

}  // namespace heddle::metrics
