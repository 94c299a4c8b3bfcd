// What batch systems and files say of jobs: any text is read within bounds, or refused with a sentence.

#include <algorithm>

#include "fuzz/fuzz_target.h"
#include "jobs/job.h"

namespace {

using namespace heddle;

void within_bounds(const Result<std::vector<jobs::Job>>& read) {
  if (!read) return fuzz::require(!read.error().message.empty(), "a refusal says why");
  fuzz::require(read->size() <= jobs::most_jobs, "jobs are bounded");
  std::size_t hosts = 0;
  for (const jobs::Job& job : *read) {
    hosts += job.hosts.size();
    fuzz::require(!job.id.empty(), "a job has an id");
    fuzz::require(std::ranges::is_sorted(job.hosts), "hosts are sorted");
    fuzz::require(std::ranges::adjacent_find(job.hosts) == job.hosts.end(), "each host is there once");
  }
  fuzz::require(hosts <= jobs::most_hosts, "hosts are bounded");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::text(data, size);
  constexpr std::size_t most = 1000;
  if (const auto hosts = jobs::expand_hostlist(text, most)) {
    fuzz::require(hosts->size() <= most, "names are bounded");
    for (const auto& host : *hosts) fuzz::require(host.size() <= 255, "a name is");
  }
  within_bounds(jobs::parse_job_file(text, "input"));
  within_bounds(jobs::parse_squeue_json(text));
  within_bounds(jobs::parse_squeue_lines(text));
  return 0;
}
