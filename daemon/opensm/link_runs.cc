// Port states: which links, when, and what came of it.

#include <fmt/format.h>

#include <algorithm>

#include "opensm/opensm_actuator.h"
#include "provision/survey_change.h"

namespace heddle::opensm {

using regulate::LinkOrder;
using regulate::LinkTo;

void OpenSmActuator::set_links(const std::vector<LinkOrder>& orders, Instant now, LinksDone done) {
  auto run = std::make_shared<Run>();
  run->orders = orders;
  for (const LinkOrder& order : orders) run->outcomes.push_back({order.link, std::nullopt});
  run->done = std::move(done);
  runs_.push_back(run);
  later([this, run](Instant at) { begin_run(run, at); }, now);
}

void OpenSmActuator::refuse_closing(Run& run, const Error& error) {
  for (std::size_t i = 0; i < run.orders.size(); ++i) {
    if (run.orders[i].to == LinkTo::On || run.outcomes[i].failure) continue;
    run.outcomes[i].failure = error;
    closed_.erase(run.orders[i].link);
  }
}

void OpenSmActuator::begin_run(const std::shared_ptr<Run>& run, Instant now) {
  std::vector<LinkRef> closing;
  for (std::size_t i = 0; i < run->orders.size(); ++i) {
    const LinkOrder& order = run->orders[i];
    if (order.to == LinkTo::Reduced && options_.reduction == Reduction::Refused) {
      run->outcomes[i].failure =
          Error{ErrorCode::Refused,
                "OpenSM would undo another width or speed at its next heavy sweep; set force_link_width, "
                "force_link_speed and force_link_speed_ext to 0 in opensm.conf, and say so in heddle.toml"};
    } else if (order.to == LinkTo::On) {
      closed_.erase(order.link);
    } else {
      closed_.insert(order.link);
      closing.push_back(order.link);
    }
  }
  if (closing.empty()) {
    run->ready = true;
    use_window(now);
    return;
  }
  // A plan with the links in `off`: from here on nothing that OpenSM does leads over them again.
  auto job = std::make_shared<Job>();
  job->closing = std::move(closing);
  job->done = [this, run](const Result<void>& result, Instant at) {
    if (!result) refuse_closing(*run, result.error());
    run->ready = true;
    use_window(at);
  };
  jobs_.push_back(job);
  if (jobs_.size() == 1) begin_job(now);
}

void OpenSmActuator::use_window(Instant now) {
  for (const auto& run : std::vector(runs_)) {
    if (!run->ready || run->driver || !run->driven.empty()) continue;
    if (!ready()) {
      // Nobody reroutes around what goes off; what comes back helps whoever comes back.
      refuse_closing(*run, {ErrorCode::Unreachable, "OpenSM's plugin was lost before the links went off"});
    } else if (!window_) {
      continue;
    }
    drive(run, now);
  }
}

void OpenSmActuator::drive(const std::shared_ptr<Run>& run, Instant now) {
  const auto survey = seat_.survey();
  std::vector<provision::LinkJob> jobs;
  for (std::size_t i = 0; i < run->orders.size(); ++i) {
    const LinkOrder& order = run->orders[i];
    if (run->outcomes[i].failure) continue;
    const PortRef& other = order.port == order.link.a ? order.link.b : order.link.a;
    const PortIndex near = survey ? survey->fabric->find_port(order.port) : no_port;
    const PortIndex far = survey ? survey->fabric->find_port(other) : no_port;
    // What was cut off with the link is seen when it is back.
    const bool far_is_needed = order.to != LinkTo::On;
    if (near == no_port || (far == no_port && far_is_needed)) {
      run->outcomes[i].failure = Error{
          ErrorCode::Unreachable,
          fmt::format("{} is not in the fabric at present", to_string(near == no_port ? order.port : other))};
      continue;
    }
    const auto end = [&](PortIndex port) {
      return LinkEnd{survey->fabric->port(port).node, survey->fabric->port(port).num};
    };
    const auto to = order.to == LinkTo::Off  ? provision::LinkJob::To::Off
                    : order.to == LinkTo::On ? provision::LinkJob::To::On
                                             : provision::LinkJob::To::Reduced;
    jobs.push_back({end(near), far == no_port ? std::nullopt : std::optional{end(far)}, to, order.mode});
    run->driven.push_back(i);
  }
  if (jobs.empty()) {
    driven(run, {}, now);
    return;
  }
  // Our own way to the ports must not end in the middle of it.
  const auto with_routes =
      provision::with_routes_avoiding(*survey, std::vector(closed_.begin(), closed_.end()));
  seat_.adopt(with_routes);
  if (idle_.empty()) {
    run->driver = std::make_unique<provision::LinkDriver>(
        engine_, options_.driver,
        [this](const std::vector<NodeGuid>& nodes, Instant at) { seat_.look_at(nodes, at); });
  } else {
    run->driver = std::move(idle_.back());
    idle_.pop_back();
  }
  run->driver->run(with_routes, std::move(jobs), now,
                   [this, run](const std::vector<std::optional<Error>>& failures, Instant at) {
                     driven(run, failures, at);
                   });
}

void OpenSmActuator::driven(const std::shared_ptr<Run>& run,
                            const std::vector<std::optional<Error>>& failures, Instant now) {
  for (std::size_t i = 0; i < failures.size(); ++i) run->outcomes[run->driven[i]].failure = failures[i];
  for (std::size_t i = 0; i < run->orders.size(); ++i) {
    // What did not go off is no reason not to use it; a reduced link is up again.
    const bool up = run->orders[i].to == LinkTo::Reduced ||
                    (run->orders[i].to == LinkTo::Off && run->outcomes[i].failure);
    if (up) closed_.erase(run->orders[i].link);
  }
  std::erase(runs_, run);
  if (run->driver) idle_.push_back(std::move(run->driver));
  later([run](Instant at) { run->done(run->outcomes, at); }, now);
}

}  // namespace heddle::opensm
