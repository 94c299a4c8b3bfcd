#include "batch/job_watch.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace heddle::batch {

JobWatch::JobWatch(Ask ask, Desk desk, Reckoned reckoned)
    : ask_{std::move(ask)}, desk_{std::move(desk)}, reckoned_{std::move(reckoned)} {}

void JobWatch::ask() {
  if (std::exchange(asking_, true)) return;
  auto answer = std::make_shared<std::optional<Result<std::vector<jobs::Job>>>>();
  desk_.run([ask = ask_, answer] { answer->emplace(ask()); },
            [this, alive = std::weak_ptr(alive_), answer, since = desk_.now()] {
              if (!alive.expired()) answered(std::move(**answer), since);
            });
}

void JobWatch::answered(Result<std::vector<jobs::Job>> jobs, Instant since) {
  asking_ = false;
  if (!jobs) {
    trouble_ = jobs.error().message;
    return;
  }
  trouble_.clear();
  asked_ = since;
  std::map<std::string, std::uint64_t> seen;
  for (const jobs::Job& job : *jobs) {
    const auto before = seen_.find(job.id);
    seen.emplace(job.id, before == seen_.end() ? ++last_seen_ : before->second);
  }
  seen_ = std::move(seen);
  jobs_ = std::make_shared<const std::vector<jobs::Job>>(*std::move(jobs));
}

void JobWatch::on_sample(const std::shared_ptr<const load::Sample>& sample) {
  if (!jobs_ || !sample || std::exchange(reckoning_, true)) return;
  auto made = std::make_shared<std::shared_ptr<const jobs::Report>>();
  desk_.run(
      [jobs = jobs_, sample, made] {
        *made = std::make_shared<const jobs::Report>(
            jobs::report(sample->fabric, jobs::loads_in(*sample), *jobs));
      },
      [this, alive = std::weak_ptr(alive_), made] {
        if (!alive.expired()) reckoned(std::move(*made));
      });
}

void JobWatch::reckoned(std::shared_ptr<const jobs::Report> report) {
  reckoning_ = false;
  report_ = std::move(report);
  std::vector<std::size_t> newest(report_->jobs.size());
  std::iota(newest.begin(), newest.end(), std::size_t{0});
  const auto age = [this](std::size_t i) {
    const auto found = seen_.find(report_->jobs[i].id);
    return found == seen_.end() ? std::uint64_t{0} : found->second;
  };
  std::ranges::stable_sort(newest, std::greater{}, age);
  reckoned_(*report_, newest);
}

}  // namespace heddle::batch
