/// What differs from a cabling plan, for people, programs and test reports.
#pragma once

#include <string>
#include <vector>

#include "acceptance/test_case.h"
#include "cabling/check.h"

namespace heddle::acceptance {

/// A line for each difference, then one with the counts.
[[nodiscard]] std::string cabling_text(const cabling::CableCheck& check);

/// A test case for each planned cable and each that is not planned.
[[nodiscard]] std::vector<TestCase> cabling_cases(const cabling::CableCheck& check);
[[nodiscard]] std::string suite_of_cables(const std::string& plan);

}  // namespace heddle::acceptance
