/// Jobs: which hosts compute together, as a batch system or a file says. Texts are other people's and may be
/// anything; whoever shows them makes them printable().
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace heddle::jobs {

struct Job {
  std::string id;  ///< of the batch system: "4711", "4711_3"
  std::string user;
  std::string name;
  std::vector<std::string> hosts;  ///< as the batch system names them; sorted, each once
  friend bool operator==(const Job&, const Job&) = default;
};

/// Bounds of what is kept, whatever is asked.
inline constexpr std::size_t most_jobs = 10'000;
inline constexpr std::size_t most_hosts = 200'000;  ///< of all jobs together

/// Slurm's short form of many names: "node[01-03,7],login,r[1-2]n[1-4]". Errors: Invalid, also for more than
/// `most` names.
[[nodiscard]] Result<std::vector<std::string>> expand_hostlist(std::string_view text, std::size_t most);

/// Lines of "job,host,host,..."; a job may have several. Empty lines and those that begin with '#' are
/// skipped. Errors: Invalid with the line.
[[nodiscard]] Result<std::vector<Job>> parse_job_file(std::string_view text, const std::string& name);

/// What `squeue --json` prints (its data_parser of 21.08 and later): those that run.
/// Errors: Invalid for what is none.
[[nodiscard]] Result<std::vector<Job>> parse_squeue_json(std::string_view text);

/// What `squeue --noheader --states=running --format=%i|%u|%N|%j` prints.
[[nodiscard]] Result<std::vector<Job>> parse_squeue_lines(std::string_view text);

}  // namespace heddle::jobs
