/// Obtains what an acceptance is judged by (libanalysis/acceptance) from heddled or from files.
#pragma once

#include <string>
#include <vector>

#include "acceptance/judge.h"
#include "heddle/command.h"

namespace heddle::cli {

struct AcceptOptions {
  std::string plan;    ///< as of heddle fabric verify; empty: the baseline that heddled keeps
  std::string fabric;  ///< empty: the running one
  std::string lfts;    ///< the tables of one in a file; empty: `engine` makes them
  std::string engine = "updn";
  /// Per cent of what it wants to send and to receive that each host must get.
  double least = 100 * acceptance::usual_least.value();
};

/// cables, health, routes, bandwidth.
[[nodiscard]] std::vector<acceptance::Part> judge_acceptance(const AcceptOptions& options,
                                                             const Context& context);

}  // namespace heddle::cli
