#include "metrics/job_families.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/printable.h"
#include "metrics/family_maker.h"

namespace heddle::metrics {

void JobMetrics::set(const jobs::Report& report, const std::vector<std::size_t>& newest) {
  std::vector<One> all;
  for (std::size_t n = 0; n < std::min(most, newest.size()); ++n) {
    const jobs::Job& job = report.jobs[newest[n]];
    all.push_back({printable(job.id), printable(job.user), report.figures[newest[n]]});
  }
  const std::lock_guard lock{mutex_};
  known_ = true;
  running_ = report.jobs.size();
  jobs_ = std::move(all);
}

std::vector<prometheus::MetricFamily> JobMetrics::Collect() const {
  const std::lock_guard lock{mutex_};
  if (!known_) return {};
  const auto family = [this](const char* name, const char* help, auto value_of) {
    std::vector<LabelledValue> values;
    for (const One& one : jobs_) {
      const std::optional<double> value = value_of(one.figures);
      if (value) values.push_back({{{"job", one.job}, {"user", one.user}}, *value});
    }
    return family_of(prometheus::MetricType::Gauge, name, help, std::move(values));
  };
  using Value = std::optional<double>;
  std::vector<prometheus::MetricFamily> families{
      gauge("heddle_jobs", "Jobs that run, as the batch system or the file of jobs.source says",
            static_cast<double>(running_)),
      family("heddle_job_hosts", "Hosts of a job that are in this fabric; of the newest jobs",
             [](const jobs::JobFigures& job) { return Value{static_cast<double>(job.hosts)}; }),
      family("heddle_job_injected_bytes_per_second", "What all ports of a job's hosts send",
             [](const jobs::JobFigures& job) { return Value{job.injected}; }),
      family("heddle_job_delivered_bytes_per_second", "What all ports of a job's hosts receive",
             [](const jobs::JobFigures& job) { return Value{job.delivered}; }),
      family("heddle_job_leaves_leaf_ratio",
             "Share of what a job sends that goes beyond the switch that the sending host is at",
             [](const jobs::JobFigures& job) { return job.leaves_leaf; }),
      family("heddle_job_worst_link_utilization_ratio",
             "Of the busiest direction of a link around a job's hosts",
             [](const jobs::JobFigures& job) { return job.worst ? Value{job.worst_utilization} : Value{}; })};
  std::erase_if(families, [](const prometheus::MetricFamily& each) { return each.metric.empty(); });
  return families;
}

}  // namespace heddle::metrics
