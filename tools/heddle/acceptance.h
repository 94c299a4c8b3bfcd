/// Is a fabric right to hand over? Its cables, its health, its tables and what its hosts get are judged one
/// by one; each part says what it found in one report.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "heddle/command.h"
#include "heddle/junit.h"

namespace heddle::cli {

struct AcceptOptions {
  std::string plan;    ///< as of heddle fabric verify; empty: the baseline that heddled keeps
  std::string fabric;  ///< empty: the running one
  std::string lfts;    ///< the tables of one in a file; empty: `engine` makes them
  std::string engine = "updn";
  double least = 50;  ///< per cent of what it wants to send and to receive that each host must get
};

enum class Verdict : unsigned char {
  Passed,
  Failed,
  NotJudged,  ///< it cannot be asked
  NotAsked    ///< it makes no sense of this fabric
};
/// Of programs: "not_judged".
[[nodiscard]] std::string_view to_string(Verdict verdict);

struct AcceptPart {
  std::string name;
  Verdict verdict = Verdict::NotJudged;
  std::string summary;       ///< one line
  std::string details;       ///< lines of what is wrong
  boost::json::object view;  ///< what was found
  TestSuite tests;
};

/// cables, health, routes, bandwidth.
[[nodiscard]] std::vector<AcceptPart> judge_acceptance(const AcceptOptions& options, const Context& context);

/// Failed where anything is wrong, NotJudged where something could not be asked, else Passed.
[[nodiscard]] Verdict judge_all(const std::vector<AcceptPart>& parts);

}  // namespace heddle::cli
