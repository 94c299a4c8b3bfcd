/// Where the switches of a report's map are drawn: levels above each other, grids as grids, anything else on
/// a circle.
#pragma once

#include <boost/json/value.hpp>
#include <string_view>

#include "heddle/report_data.h"

namespace heddle::cli {

/// Fills in x and y of the switches, 0..1. `topology` as GET /v1/page/topology answers it.
void place_nodes(const boost::json::value& topology, ReportData& data);

/// Whether a name comes before another one, numbers within them counted as such: leaf-2 before leaf-10.
[[nodiscard]] bool before(std::string_view x, std::string_view y);

}  // namespace heddle::cli
