/// Traces as the traffic of a packet-level run: replays them, several at once, over the network of the run.
#pragma once

#include "sim/experiment/experiment.h"

namespace heddle::cli {

/// For run_all: reads the experiment's traces for each point. Errors: those of the files; Invalid for a
/// mapping that does not fit the fabric.
[[nodiscard]] packet::MakeWorkload trace_workloads();

}  // namespace heddle::cli
