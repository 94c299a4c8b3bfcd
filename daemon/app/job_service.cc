#include "app/job_service.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <fstream>
#include <functional>
#include <utility>

#include "base/printable.h"
#include "batch/squeue.h"

namespace heddle::app {
namespace {

constexpr std::chrono::seconds patience{20};
constexpr std::size_t most_bytes = std::size_t{16} << 20U;

Result<std::vector<jobs::Job>> read_file(const std::string& name) {
  std::ifstream in{name, std::ios::binary};
  std::string text(most_bytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in.is_open() || in.bad()) return fail(ErrorCode::Io, fmt::format("{}: cannot be read", name));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > most_bytes) return fail(ErrorCode::Invalid, fmt::format("{}: larger than 16 MiB", name));
  return jobs::parse_job_file(text, name);
}

}  // namespace

JobService::JobService(boost::asio::io_context& io, const transport::Clock& clock, std::string source,
                       std::chrono::milliseconds interval)
    : clock_{clock},
      source_{std::move(source)},
      interval_{interval},
      timer_{io},
      thread_{io},
      watch_{
          [this] { return jobs_now(); },
          desk_at(
              thread_, [&clock] { return clock.now(); }, [](const std::function<void()>& then) { then(); }),
          [metrics = metrics_](const jobs::Report& report, const std::vector<std::size_t>& newest) {
            metrics->set(report, newest);
          }} {}

JobService::~JobService() {
  ending_ = true;
  thread_.finish();
}

void JobService::begin() {
  if (!source_.empty()) ask();
}

void JobService::ask() {
  watch_.ask();
  timer_.expires_after(interval_);
  timer_.async_wait([this](const boost::system::error_code& wrong) {
    if (!wrong) ask();
  });
}

void JobService::on_sample(const std::shared_ptr<const load::Sample>& sample) {
  if (!source_.empty()) watch_.on_sample(sample);
}

control::JobsState JobService::state() const {
  control::JobsState state;
  state.source = source_;
  state.report = watch_.report();
  if (watch_.asked()) state.age = clock_.now() - *watch_.asked();
  state.trouble = watch_.trouble();
  return state;
}

std::optional<std::string> JobService::problem() const {
  if (watch_.trouble().empty()) return std::nullopt;
  return "which jobs run is not known: " + printable(watch_.trouble());
}

/// On the thread that waits.
Result<std::vector<jobs::Job>> JobService::jobs_now() const {
  if (ending_) return fail(ErrorCode::Unreachable, "the daemon ends");
  if (source_ != "squeue") return read_file(source_);
  return batch::ask_squeue({.run_as = batch::RunAs::Nobody, .patience = patience, .given_up = &ending_});
}

}  // namespace heddle::app
