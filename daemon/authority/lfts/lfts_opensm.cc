#include "authority/lfts/lfts_opensm.h"

namespace heddle::lfts {

Problems LftsOpenSm::problems() const {
  Problems problems = beside_.problems();
  for (Problem& problem : problems) {
    if (problem.kind != ProblemKind::OpenSmAway) continue;
    problem.text =
        "no OpenSM that is the master has answered at this host's port for a while: nothing is regulated, "
        "and "
        "links that are off come back; see that OpenSM runs";
  }
  if (const std::string trouble = router_.trouble(); !trouble.empty()) {
    problems.push_back({ProblemKind::PlanFile, trouble});
  }
  return problems;
}

}  // namespace heddle::lfts
