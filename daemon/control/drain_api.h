/// Taking switches, chassis and links out of service, as docs/api.md describes it.
#pragma once

#include <boost/json/value.hpp>
#include <span>

#include "base/units.h"
#include "control/http.h"
#include "regulate/drain_shown.h"

namespace heddle::control {

class RegulationDesk;

/// One of `heddle drain`, and of what status says is drained.
[[nodiscard]] boost::json::value drains_view(std::span<const regulate::DrainShown> drains, Instant now);

/// Where the daemon regulates. Errors: what is wrong with the request.
Result<void> show_drains(RegulationDesk& desk, const Request& request, const Respond& respond);
/// Begins a drain, or ends it.
Result<void> order_drain(RegulationDesk& desk, const Request& request, const Respond& respond);

}  // namespace heddle::control
