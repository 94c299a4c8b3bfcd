/// Is a fabric right to hand over? Its cables, its health, its tables and what its hosts get are judged one
/// by one (judge.h); each part says what it found, and all together are one report (docs/accept.md).
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "acceptance/test_case.h"

namespace heddle::acceptance {

enum class Verdict : unsigned char {
  Passed,
  Failed,
  NotJudged,  ///< it cannot be asked
  NotAsked    ///< it makes no sense of this fabric
};
/// Of programs: "not_judged".
[[nodiscard]] std::string_view to_string(Verdict verdict);

struct Part {
  std::string name;
  Verdict verdict = Verdict::NotJudged;
  std::string summary;       ///< one line
  std::string details;       ///< lines of what is wrong
  boost::json::object view;  ///< what was found
  TestSuite tests;
};

[[nodiscard]] Part not_judged(std::string name, const std::string& why);
[[nodiscard]] Part not_asked(std::string name, const std::string& why);

/// Failed where anything is wrong, NotJudged where something could not be asked, else Passed.
[[nodiscard]] Verdict judge_all(const std::vector<Part>& parts);

/// The report for programs.
[[nodiscard]] boost::json::object view(const std::vector<Part>& parts);

}  // namespace heddle::acceptance
