/// The jobs that run, as Slurm says: squeue is run as whoever asks, without a shell, and waited for.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"
#include "jobs/job.h"

namespace heddle::batch {

/// A slurmctld that is busy answers after a while; one that is gone makes squeue wait for minutes.
inline constexpr std::chrono::milliseconds squeue_patience = std::chrono::seconds{30};

/// `squeue --json`, or lines where this squeue has no JSON. `squeue` is its path, or a name to look for.
/// Blocks for `patience` at most, both questions together. Errors: Unsupported where it cannot be run;
/// Unreachable where it fails, or does not answer in time; Invalid where it prints something else.
[[nodiscard]] Result<std::vector<jobs::Job>> ask_squeue(const std::string& squeue,
                                                        std::chrono::milliseconds patience = squeue_patience);

}  // namespace heddle::batch
