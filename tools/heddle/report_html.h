/// A report as one HTML file: no scripts, nothing from elsewhere, drawings as SVG within it. Pure.
#pragma once

#include <string>
#include <string_view>

#include "heddle/report_data.h"

namespace heddle::cli {

[[nodiscard]] std::string report_html(const ReportData& data);

/// Text as HTML and XML take it, in attributes too.
[[nodiscard]] std::string html_text(std::string_view text);

}  // namespace heddle::cli
