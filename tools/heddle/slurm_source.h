/// The jobs that run, as Slurm says: squeue is run as whoever asks, without a shell.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "jobs/job.h"

namespace heddle::cli {

/// `squeue --json`, or lines where this squeue has no JSON. `squeue` is its path, or a name to look for.
/// Errors: Unsupported where it cannot be run; Unreachable where it fails, or takes longer than half a
/// minute.
[[nodiscard]] Result<std::vector<jobs::Job>> ask_slurm(const std::string& squeue);

}  // namespace heddle::cli
