/// Which jobs run, asked now and then, and what they put on the fabric, reckoned with each sample: both on a
/// desk that may wait, one thing at a time, so that nobody else waits for a batch system. Where that is not
/// done when the next is due, the next is left out.
///
/// All calls are on the caller's thread. What is shown is immutable.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/desk.h"
#include "base/result.h"
#include "jobs/report.h"

namespace heddle::batch {

class JobWatch {
 public:
  /// Blocks for as long as it must.
  using Ask = std::function<Result<std::vector<jobs::Job>>()>;
  /// Called for each new report, with positions of its jobs, those that were seen last first.
  using Reckoned = std::function<void(const jobs::Report&, const std::vector<std::size_t>& newest)>;

  JobWatch(Ask ask, Desk desk, Reckoned reckoned);

  void ask();
  void on_sample(const std::shared_ptr<const load::Sample>& sample);

  /// Null before both jobs and loads are known.
  [[nodiscard]] std::shared_ptr<const jobs::Report> report() const { return report_; }
  /// When the jobs were asked for that are known.
  [[nodiscard]] std::optional<Instant> asked() const { return asked_; }
  /// Why they are not those that run now; empty where they are.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  void answered(Result<std::vector<jobs::Job>> jobs, Instant since);
  void reckoned(std::shared_ptr<const jobs::Report> report);

  Ask ask_;
  Desk desk_;
  Reckoned reckoned_;
  std::shared_ptr<const std::vector<jobs::Job>> jobs_;
  std::shared_ptr<const jobs::Report> report_;
  std::optional<Instant> asked_;
  std::string trouble_;
  bool asking_ = false;
  bool reckoning_ = false;
  std::map<std::string, std::uint64_t> seen_;  ///< jobs by id: the later the larger
  std::uint64_t last_seen_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace heddle::batch
