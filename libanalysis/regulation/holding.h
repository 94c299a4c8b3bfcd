/// Which rule keeps most of what stays on: what an operator would change to save more.
#pragma once

#include <string>
#include <vector>

#include "regulation/evaluation.h"
#include "regulation/selector.h"

namespace heddle::regulation {

/// A sentence with the share of the watts of all links that are left on; empty where nothing regulated is.
/// Each link counts for the first rule that keeps it: an exemption; the last way up of a switch, or down to
/// one; the load that the others of its switch would have without it, in the plane in use or in the next one
/// only. `own`: loads in the plane in use.
[[nodiscard]] std::string held_by(const SelectionProblem& problem, const SelectOptions& options,
                                  const Evaluation& evaluation, const routing::LinkSet& active,
                                  const std::vector<double>& loads, const std::vector<double>& own);

/// The trunks that have a link above u_on also with all links on, and which has the fullest: turning links
/// off is not why they are, and they are let carry that. Ends in "; ", or is empty where there are none.
[[nodiscard]] std::string full_with_all(const SelectionProblem& problem, const SelectOptions& options,
                                        const Selection& selection);

}  // namespace heddle::regulation
