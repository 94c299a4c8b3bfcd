/// Which jobs run, and what they put on the fabric (libanalysis/jobs), as JSON text.
#pragma once

#include "control/list_views.h"

namespace heddle::control {

/// Query: top (so many jobs, those that send most; all where it is left out or 0). Errors: Unsupported where
/// the configuration names no source of jobs; Unreachable, with why, before the first answer of it.
Result<void> write_jobs(const DaemonState& state, const Query& query, const TextSink& out);

}  // namespace heddle::control
