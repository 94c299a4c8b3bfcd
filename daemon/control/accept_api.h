/// Is the running fabric right to hand over? As `heddle accept` asks it, for the page: GET /v1/accept. Made
/// on a thread of its own, from immutable things.
#pragma once

#include "control/http.h"

namespace heddle::control {

class Daemon;

/// Query: least (per cent of its share that each host must get; 50). Errors: Invalid; Unreachable before the
/// first sweep. What cannot be asked is in the report.
void answer_accept(Daemon& daemon, const Request& request, const Respond& respond);

}  // namespace heddle::control
