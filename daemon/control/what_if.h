/// What the running fabric would be like (libanalysis/twin), for the page: GET /v1/what-if, as
/// `heddle what-if` tells it. Made on a thread of its own, from immutable things.
#pragma once

#include "control/http.h"
#include "control/twin_view.h"
#include "twin/source.h"

namespace heddle::control {

class Daemon;

/// Query: without (names of nodes and links, one a line), engine, regulate, each (switch, link: what hurts
/// most), top. Errors: Invalid, and those of names.
void answer_what_if(Daemon& daemon, const Request& request, const Respond& respond);

/// Precondition: a fabric.
[[nodiscard]] Result<twin::Source> twin_source(const TwinParts& parts);

}  // namespace heddle::control
