/// The jobs of this site, as the daemon knows them: asked every `jobs.interval` on a thread of their own, as
/// an unprivileged user, so that neither sampling nor clients wait for a batch system.
///
/// The io_context thread; real time, as the batch system has it.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "app/disk_thread.h"
#include "batch/job_watch.h"
#include "control/state.h"
#include "metrics/job_families.h"

namespace heddle::app {

class JobService {
 public:
  /// `source`: "squeue", or a file of job,host lines; empty: nobody is asked.
  JobService(boost::asio::io_context& io, const transport::Clock& clock, std::string source,
             std::chrono::milliseconds interval);
  ~JobService();
  JobService(const JobService&) = delete;
  JobService& operator=(const JobService&) = delete;

  void begin();
  void on_sample(const std::shared_ptr<const load::Sample>& sample);
  [[nodiscard]] control::JobsState state() const;
  /// Why nobody knows which jobs run, if somebody should.
  [[nodiscard]] std::optional<std::string> problem() const;
  [[nodiscard]] std::shared_ptr<metrics::JobMetrics> metrics() const { return metrics_; }

 private:
  void ask();
  [[nodiscard]] Result<std::vector<jobs::Job>> jobs_now() const;

  const transport::Clock& clock_;
  std::string source_;
  std::chrono::milliseconds interval_;
  boost::asio::steady_timer timer_;
  std::atomic<bool> ending_ = false;
  std::shared_ptr<metrics::JobMetrics> metrics_ = std::make_shared<metrics::JobMetrics>();
  DiskThread thread_;
  batch::JobWatch watch_;
};

}  // namespace heddle::app
