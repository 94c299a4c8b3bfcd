/// What the running fabric would be like (libanalysis/twin), for the page: GET /v1/what-if, as
/// `heddle what-if` tells it. Made on a thread of its own, from immutable things.
#pragma once

#include "control/http.h"
#include "control/twin_view.h"
#include "twin/source.h"

namespace heddle::control {

class Daemon;

/// Query: without, roots (names), jobs, one a line each; engine, lmc, regulate, each (switch, link: what
/// hurts most), top; qos, flows (texts of a plan, and of a scenario as it begins). Errors: Invalid, Refused,
/// and those of names.
void answer_what_if(Daemon& daemon, const Request& request, const Respond& respond);

/// Precondition: a fabric.
[[nodiscard]] Result<twin::Source> twin_source(const TwinParts& parts);

}  // namespace heddle::control
