#include "opensm/opensm_actuator.h"

#include <fmt/format.h>

#include <algorithm>

#include "opensm/plan_file.h"

namespace heddle::opensm {
namespace {

using Kind = PluginEvent::Kind;

Error not_ready() {
  return {ErrorCode::Unreachable,
          "OpenSM's plugin is not connected, or its OpenSM is not the master; see docs/opensm.md"};
}

}  // namespace

OpenSmActuator::OpenSmActuator(transport::TransactionEngine& engine, regulate::FabricSeat& seat,
                               PluginPort& plugin, regulate::PathMigrator* migrator,
                               OpenSmActuatorOptions options)
    : engine_{engine},
      seat_{seat},
      plugin_{plugin},
      migrator_{migrator},
      options_{std::move(options)},
      avoided_(options_.planes),
      check_{engine, options_.driver.m_key} {}

void OpenSmActuator::later(std::function<void(Instant)> what, Instant now) {
  due_.push_back(std::move(what));
  if (!due_at_) due_at_ = now;
}

void OpenSmActuator::write_tables(std::optional<unsigned> plane, const std::vector<LinkRef>& avoid,
                                  Instant now, Done done) {
  auto job = std::make_shared<Job>();
  job->plane = plane;
  job->avoid = avoid;
  job->done = std::move(done);
  jobs_.push_back(job);
  if (jobs_.size() == 1) later([this](Instant at) { begin_job(at); }, now);
}

void OpenSmActuator::migrate(unsigned plane, Instant now, Done done) {
  if (migrator_ != nullptr) {
    migrator_->migrate(plane, now, std::move(done));
    return;
  }
  later([done = std::move(done)](Instant at) { done({}, at); }, now);
}

void OpenSmActuator::begin_job(Instant now) {
  if (jobs_.empty() || jobs_.front()->wait != Job::Wait::Begin) return;
  if (!ready()) {
    finish_job(fail(not_ready()), now);
    return;
  }
  Job& job = *jobs_.front();
  job.from = avoided_;
  for (unsigned plane = 0; job.avoid && plane < options_.planes; ++plane) {
    if (is_planned(plane, job)) avoided_[plane] = *job.avoid;
  }
  write_stage(now);
}

plan::Plan OpenSmActuator::make_plan(const Job& job, Staging staging) const {
  // Other parts of the plan are others' to change.
  plan::Plan plan = read_plan(options_.plan_path).value_or(plan::Plan{});
  plan.ranks = ranks_;
  plan.off.assign(closed_.begin(), closed_.end());
  plan.planes.assign(options_.planes, {});
  for (unsigned plane = 0; plane < options_.planes; ++plane) {
    plan.planes[plane].avoid = avoided_[plane];
    const bool staged = staging == Staging::UpToStage && job.avoid && is_planned(plane, job);
    if (staged) plan.planes[plane].staged = plan::Staged{job.from[plane], job.stage};
  }
  return plan;
}

void OpenSmActuator::write_stage(Instant now) {
  Job& job = *jobs_.front();
  plan::Plan plan = make_plan(job, Staging::UpToStage);
  epoch_ = std::max(epoch_, plan.epoch) + 1;
  plan.epoch = epoch_;
  if (auto written = write_plan(options_.plan_path, plan); !written) {
    finish_job(written, now);
    return;
  }
  job.epoch = epoch_;
  job.wait = Job::Wait::Routing;
  job.until = now + options_.step_timeout;
  job.trouble = "the plugin has not answered";
  plugin_.tell(PluginCommand::NewPlan);
}

void OpenSmActuator::routed(const PluginEvent& event, Instant now) {
  Job& job = *jobs_.front();
  if (event.switches_behind != 0 || event.errors) {
    // OpenSM sweeps again by itself.
    job.wait = Job::Wait::Routing;
    job.trouble = fmt::format("{} switches have not confirmed their tables", event.switches_behind);
    return;
  }
  const bool closing = !job.avoid.has_value();
  if (closing && event.relaxed) {
    finish_job(
        fail(ErrorCode::Refused, "hosts would be cut off: OpenSM goes on using links that were to go off"),
        now);
    return;
  }
  job.relaxed = event.relaxed;
  job.stages = 1;
  for (const std::uint32_t stages : event.stages) job.stages = std::max(job.stages, stages);
  if (!event.reroute) {
    job.wait = Job::Wait::SubnetUp;
    job.trouble = "OpenSM's sweep has not ended";
  } else if (event.groups != 0) {
    job.wait = Job::Wait::Multicast;
    job.trouble = "multicast groups have not been routed again";
  } else {
    read_back(now);
  }
}

void OpenSmActuator::read_back(Instant now) {
  Job& job = *jobs_.front();
  job.wait = Job::Wait::Reading;
  // Until the last stage, tables may still lead over what is to be avoided.
  using Tables = UnusedLinks::Tables;
  std::vector<UnusedLinks> unused{{std::nullopt, job.closing, Tables::WithMulticast},
                                  {std::nullopt, {closed_.begin(), closed_.end()}, Tables::Unicast}};
  const bool unused_by_now = job.avoid && !job.relaxed && job.stage + 1 >= job.stages;
  for (unsigned plane = 0; unused_by_now && plane < options_.planes; ++plane) {
    if (is_planned(plane, job)) unused.push_back({plane, avoided_[plane], Tables::Unicast});
  }
  check_.run(seat_.survey(), options_.planes, unused, options_.most_read_back, now,
             [this, mine = jobs_.front()](const Result<void>& result, Instant at) {
               if (jobs_.empty() || jobs_.front() != mine) return;
               if (result) {
                 stage_confirmed(at);
               } else {
                 finish_job(result, at);
               }
             });
}

void OpenSmActuator::stage_confirmed(Instant now) {
  Job& job = *jobs_.front();
  if (++job.stage < job.stages) {
    write_stage(now);
    return;
  }
  // The same tables without a way there, for whoever reads the plan later.
  plan::Plan plan = make_plan(job, Staging::Final);
  plan.epoch = epoch_;
  finish_job(write_plan(options_.plan_path, plan), now);
}

void OpenSmActuator::finish_job(const Result<void>& result, Instant now) {
  const auto job = jobs_.front();
  jobs_.pop_front();
  check_.abandon();
  if (!jobs_.empty()) later([this](Instant at) { begin_job(at); }, now);
  later([job, result](Instant at) { job->done(result, at); }, now);
}

void OpenSmActuator::fail_jobs(const Error& error, Instant now) {
  while (!jobs_.empty()) finish_job(fail(error), now);
}

void OpenSmActuator::on_plugin(const PluginEvent& event, Instant now) {
  // Others may have changed their part of the plan since, which has this one in it.
  const bool expected = !jobs_.empty() && event.epoch >= jobs_.front()->epoch;
  const auto wait = jobs_.empty() ? Job::Wait::Begin : jobs_.front()->wait;
  const bool answers = expected && wait != Job::Wait::Begin && wait != Job::Wait::Reading;
  switch (event.kind) {
    case Kind::Hello:
    case Kind::SmState:
      master_ = event.state == "master";
      standby_ = event.state == "standby";
      if (event.kind == Kind::Hello) window_ = event.window;
      if (!master_) {
        window_ = false;
        fail_jobs(not_ready(), now);
      }
      break;
    case Kind::HeavySweepStart:
      window_ = false;
      break;
    case Kind::SubnetUp:
      master_ = true;  // only a master brings a subnet up
      standby_ = false;
      window_ = !event.errors;
      if (answers && wait == Job::Wait::SubnetUp && !event.errors) read_back(now);
      break;
    case Kind::RoutingDone:
      if (answers) routed(event, now);
      break;
    case Kind::MulticastDone:
      if (answers && wait == Job::Wait::Multicast && !event.errors) read_back(now);
      break;
    case Kind::Plan:
      if (!event.taken && !jobs_.empty() && wait == Job::Wait::Routing) {
        finish_job(fail(ErrorCode::Refused, "the plugin refuses the plan: " + event.message), now);
      }
      break;
    case Kind::HeavySweepDone:
    case Kind::Other:
      break;
  }
  use_window(now);
}

void OpenSmActuator::on_plugin_gone(Instant now) {
  master_ = false;
  standby_ = false;
  window_ = false;
  fail_jobs(not_ready(), now);
  use_window(now);
}

void OpenSmActuator::on_timer(Instant now) {
  if (due_at_ && *due_at_ <= now) {
    due_at_.reset();
    for (auto due = std::exchange(due_, {}); !due.empty(); due.pop_front()) due.front()(now);
  }
  if (!jobs_.empty()) {
    const Job& job = *jobs_.front();
    if (job.wait != Job::Wait::Begin && job.wait != Job::Wait::Reading && job.until <= now) {
      finish_job(
          fail(ErrorCode::Unreachable,
               fmt::format("OpenSM has not carried the plan of epoch {} out: {}", job.epoch, job.trouble)),
          now);
    }
  }
  for (const auto& run : std::vector(runs_)) {
    if (run->driver) run->driver->on_timer(now);
  }
}

std::optional<Instant> OpenSmActuator::next_deadline() const {
  std::optional<Instant> first = due_at_;
  const auto consider = [&](std::optional<Instant> due) {
    if (due && (!first || *due < *first)) first = due;
  };
  if (!jobs_.empty()) {
    const Job& job = *jobs_.front();
    if (job.wait != Job::Wait::Begin && job.wait != Job::Wait::Reading) consider(job.until);
  }
  for (const auto& run : runs_) {
    if (run->driver) consider(run->driver->next_deadline());
  }
  return first;
}

}  // namespace heddle::opensm
