/// What differs from a cabling plan, for people, programs and test reports.
#pragma once

#include <string>

#include "cabling/check.h"

namespace heddle::cli {

/// A line for each difference, then one with the counts.
[[nodiscard]] std::string cabling_text(const cabling::CableCheck& check);

/// JUnit's XML: a test case for each planned cable and each that is not planned.
[[nodiscard]] std::string cabling_junit(const cabling::CableCheck& check, const std::string& plan);

}  // namespace heddle::cli
