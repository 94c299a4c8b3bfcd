/// How the fabric is to be cabled, whether it is, and what operators want of links, as JSON (docs/api.md).
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "base/result.h"
#include "control/http.h"
#include "control/state.h"

namespace heddle::control {

class Daemon;

/// Answers requests for the baseline; false for all others. `daemon` must outlive the answers.
bool answer_cabling(Daemon& daemon, const Request& request, const Respond& respond);

/// What is said where none is kept.
[[nodiscard]] Error no_baseline();
/// Whose it is, how old, and how many cables differ.
[[nodiscard]] boost::json::object baseline_summary(const BaselineShown& baseline, Instant now);
/// The first ones of DaemonState.
[[nodiscard]] boost::json::array wishes_view(const DaemonState& state);

}  // namespace heddle::control
