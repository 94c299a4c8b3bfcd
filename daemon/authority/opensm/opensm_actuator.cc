#include "authority/opensm/opensm_actuator.h"

#include <fmt/format.h>

#include <algorithm>

#include "authority/own/driven_ports.h"
#include "authority/own/survey_change.h"

namespace heddle::opensm {
namespace {

using Kind = PluginEvent::Kind;

Error not_ready() {
  return {ErrorCode::Unreachable,
          "no OpenSM that follows this daemon is the master here; see docs/opensm.md"};
}

Error goes_on_using() {
  return {ErrorCode::Refused,
          "hosts would be cut off, or packets might wait for one another in a circle: OpenSM goes on using "
          "links that were to go off"};
}

}  // namespace

OpenSmActuator::OpenSmActuator(transport::TransactionEngine& engine, regulate::FabricSeat& seat,
                               PluginPort& plugin, PlanStore& store, regulate::PathMigrator* migrator,
                               OpenSmActuatorOptions options)
    : engine_{engine},
      seat_{seat},
      plugin_{plugin},
      store_{store},
      migrator_{migrator},
      options_{options},
      avoided_(options_.planes),
      check_{engine, options_.driver.m_key} {}

void OpenSmActuator::write_tables(std::optional<unsigned> plane, const std::vector<LinkRef>& avoid,
                                  Instant now, Done done) {
  auto job = std::make_shared<Job>();
  job->plane = plane;
  job->avoid = avoid;
  job->done = std::move(done);
  jobs_.push_back(job);
  if (jobs_.size() == 1) due_.at(now, [this](Instant at) { begin_job(at); });
}

void OpenSmActuator::migrate(unsigned plane, Instant now, Done done) {
  if (migrator_ != nullptr) {
    migrator_->migrate(plane, now, std::move(done));
    return;
  }
  due_.at(now, [done = std::move(done)](Instant at) { done({}, at); });
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
  write_stage();
}

void OpenSmActuator::write_plan(Staging staging, std::function<void(Instant now)> then) {
  const auto mine = jobs_.front();
  mine->wait = Job::Wait::Disk;
  const auto say = [&](plan::Plan& plan) {
    plan.ranks = ranks_;
    plan.off = closed();
    plan.forced = forced_ ? forced_() : std::vector<LinkRef>{};
    plan.drained = drained_ ? drained_() : std::vector<NodeGuid>{};
    plan.packet_life = options_.packet_life;
    plan.planes.assign(options_.planes, {});
    for (unsigned plane = 0; plane < options_.planes; ++plane) {
      plan.planes[plane].avoid = avoided_[plane];
      const bool staged = staging == Staging::UpToStage && mine->avoid && is_planned(plane, *mine);
      if (staged) plan.planes[plane].staged = plan::Staged{mine->from[plane], mine->stage};
    }
  };
  store_.update(PlanStore::Part::Routing, say,
                [this, mine, then = std::move(then)](const Result<std::uint64_t>& epoch, Instant now) {
                  if (jobs_.empty() || jobs_.front() != mine) return;
                  if (!epoch) return finish_job(fail(epoch.error()), now);
                  mine->epoch = *epoch;
                  then(now);
                });
}

void OpenSmActuator::write_stage() {
  write_plan(Staging::UpToStage, [this](Instant now) { stage_on_disk(now); });
}

void OpenSmActuator::stage_on_disk(Instant now) {
  Job& job = *jobs_.front();
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
    finish_job(fail(goes_on_using()), now);
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
  // What was called off meanwhile may be used.
  std::erase_if(job.closing, [this](const LinkRef& link) { return !runs_.closed().contains(link); });
  std::vector<UnusedLinks> unused{{std::nullopt, job.closing, Tables::WithMulticast},
                                  {std::nullopt, closed(), Tables::Unicast}};
  const bool unused_by_now = job.avoid && !job.relaxed && job.stage + 1 >= job.stages;
  for (unsigned plane = 0; unused_by_now && plane < options_.planes; ++plane) {
    if (is_planned(plane, job)) unused.push_back({plane, avoided_[plane], Tables::Unicast});
  }
  check_.run(seat_.survey(), options_.planes, unused, options_.most_read_back, now,
             [this, mine = jobs_.front()](const Result<void>& result, Instant at) {
               if (jobs_.empty() || jobs_.front() != mine) return;
               if (result) {
                 wait_for_packets(at);
               } else {
                 finish_job(result, at);
               }
             });
}

/// Between stages the plugin sees to that.
void OpenSmActuator::wait_for_packets(Instant now) {
  Job& job = *jobs_.front();
  if (job.closing.empty() || packets_gone_ <= now) {
    stage_confirmed();
    return;
  }
  job.wait = Job::Wait::Packets;
  job.until = packets_gone_;
}

void OpenSmActuator::stage_confirmed() {
  Job& job = *jobs_.front();
  if (++job.stage < job.stages) {
    write_stage();
    return;
  }
  // The same tables without a way there, for whoever reads the plan later.
  write_plan(Staging::Final, [this](Instant at) { finish_job({}, at); });
}

void OpenSmActuator::finish_job(const Result<void>& result, Instant now) {
  const auto job = jobs_.front();
  jobs_.pop_front();
  check_.abandon();
  if (!jobs_.empty()) due_.at(now, [this](Instant at) { begin_job(at); });
  due_.at(now, [job, result](Instant at) { job->done(result, at); });
}

void OpenSmActuator::fail_jobs(const Error& error, Instant now) {
  while (!jobs_.empty()) finish_job(fail(error), now);
}

void OpenSmActuator::on_plugin(const PluginEvent& event, Instant now) {
  // Others may have changed their part of the plan since, which has this one in it.
  const bool expected = !jobs_.empty() && event.epoch >= jobs_.front()->epoch;
  const auto wait = jobs_.empty() ? Job::Wait::Begin : jobs_.front()->wait;
  const bool answers =
      expected && (wait == Job::Wait::Routing || wait == Job::Wait::Multicast || wait == Job::Wait::SubnetUp);
  store_.saw(event.epoch);
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
      if (event.blocks != 0) packets_gone_ = now + event.packet_life;
      if (answers) routed(event, now);
      if (event.relaxed)
        runs_.call_off_what_goes(forced_ ? forced_() : std::vector<LinkRef>{}, goes_on_using(), now);
      break;
    case Kind::MulticastDone:
      if (answers && wait == Job::Wait::Multicast && !event.errors) read_back(now);
      break;
    case Kind::Plan:
      if (!event.taken && !jobs_.empty() && wait == Job::Wait::Routing) {
        finish_job(fail(ErrorCode::Refused, "the plan is not taken: " + event.message), now);
      }
      break;
    case Kind::HeavySweepDone:
    case Kind::Other:
      break;
  }
  runs_.look_at_window(now);
}

void OpenSmActuator::on_plugin_gone(Instant now) {
  master_ = false;
  standby_ = false;
  window_ = false;
  fail_jobs(not_ready(), now);
  runs_.look_at_window(now);
}

void OpenSmActuator::on_timer(Instant now) {
  due_.on_timer(now);
  if (!jobs_.empty()) {
    const Job& job = *jobs_.front();
    const bool due = job.until <= now && !has_own_end(job.wait);
    if (due && job.wait == Job::Wait::Packets) {
      stage_confirmed();
    } else if (due) {
      finish_job(
          fail(ErrorCode::Unreachable,
               fmt::format("OpenSM has not carried the plan of epoch {} out: {}", job.epoch, job.trouble)),
          now);
    }
  }
  runs_.on_timer(now);
}

std::optional<Instant> OpenSmActuator::next_deadline() const {
  auto first = due_.next_deadline();
  const auto consider = [&](std::optional<Instant> due) {
    if (due && (!first || *due < *first)) first = due;
  };
  if (!jobs_.empty()) {
    const Job& job = *jobs_.front();
    if (!has_own_end(job.wait)) consider(job.until);
  }
  consider(runs_.next_deadline());
  return first;
}

// --- port states ---

void OpenSmActuator::set_links(const std::vector<regulate::LinkOrder>& orders, Instant now, LinksDone done) {
  runs_.run(orders, now, std::move(done));
}

authority::LinkRunsSeat::Window OpenSmActuator::window() const {
  // Nobody reroutes around what goes off; what comes back helps whoever comes back.
  if (!ready()) return Window::Nobody;
  return window_ ? Window::Open : Window::Shut;
}

std::optional<Error> OpenSmActuator::why_not(const regulate::LinkOrder& order) const {
  if (order.to != regulate::LinkTo::Reduced || options_.reduction == Reduction::Allowed) return std::nullopt;
  return Error{ErrorCode::Refused,
               "OpenSM would undo another width or speed at its next heavy sweep; set force_link_width, "
               "force_link_speed and force_link_speed_ext to 0 in opensm.conf, and say so in heddle.toml"};
}

/// A plan with the links in `off`: from here on nothing that OpenSM does leads over them again.
void OpenSmActuator::write_tables_without(const std::vector<LinkRef>& links, Instant now, Closed done) {
  auto job = std::make_shared<Job>();
  job->closing = links;
  job->done = std::move(done);
  jobs_.push_back(job);
  if (jobs_.size() == 1) due_.at(now, [this](Instant at) { begin_job(at); });
}

void OpenSmActuator::take_routes(const Survey& found) {
  if (runs_.idle()) return;
  runs_.take_routes(*provision::with_routes_avoiding(found, closed()));
}

std::unique_ptr<authority::PortSetter> OpenSmActuator::make_setter() {
  // Traps go to OpenSM: until the next light sweep a survey would show as up what has gone off.
  const auto look = [this](const std::vector<NodeGuid>& nodes, Instant at) { seat_.look_at(nodes, at); };
  return std::make_unique<provision::DrivenPorts>(
      engine_, seat_, runs_.closed(), provision::PortRules{.why_not = {}, .on_routes = {}, .on_set = look},
      options_.driver, late_sets_);
}

}  // namespace heddle::opensm
