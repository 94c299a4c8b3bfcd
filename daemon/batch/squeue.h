/// The jobs that run, as Slurm says: squeue is run without a shell, and waited for.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "jobs/job.h"

namespace heddle::batch {

/// What squeue may see and do.
enum class RunAs : std::uint8_t {
  Self,   ///< whoever asks
  Nobody  ///< the user nobody where root asks (by setpriv), and otherwise whoever asks
};

struct SqueueOptions {
  std::string program = "squeue";  ///< its path, or a name to look for
  RunAs run_as = RunAs::Self;
  /// A slurmctld that is busy answers after a while; one that is gone makes squeue wait for minutes.
  std::chrono::milliseconds patience = std::chrono::seconds{30};
  const std::atomic<bool>* given_up =
      nullptr;  ///< may be null: it is not waited for any longer once this is set
};

/// `squeue --json`, or lines where this squeue has no JSON. Blocks for `patience` at most, both questions
/// together. Errors: Unsupported where it cannot be run; Unreachable where it fails, or does not answer in
/// time; Invalid where it prints something else.
[[nodiscard]] Result<std::vector<jobs::Job>> ask_squeue(const SqueueOptions& options);

}  // namespace heddle::batch
