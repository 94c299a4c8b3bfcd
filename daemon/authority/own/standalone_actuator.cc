#include "authority/own/standalone_actuator.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "authority/own/survey_change.h"

namespace heddle::regulate {

StandaloneActuator::StandaloneActuator(transport::TransactionEngine& engine,
                                       provision::SubnetManager& manager, provision::UpDownKeeper& keeper,
                                       FabricSeat& seat, PathMigrator* migrator,
                                       const provision::LinkDriverOptions& options)
    : engine_{engine},
      manager_{manager},
      keeper_{keeper},
      seat_{seat},
      migrator_{migrator},
      options_{options} {}

void StandaloneActuator::write_tables(std::optional<unsigned> plane, const std::vector<LinkRef>& avoid,
                                      Instant now, Done done) {
  for (unsigned p = 0; p < keeper_.planes(); ++p) {
    if (!plane || *plane == p) keeper_.avoid(p, avoid);
  }
  answer_later(
      [this, plane, done = std::move(done)](Instant at) {
        // One plane alone is written while nothing travels by it.
        keeper_.set_idle(plane);
        manager_.rewrite_tables(at, [this, done](const Result<void>& written, Instant then) {
          keeper_.set_idle(std::nullopt);
          done(written, then);
        });
      },
      now);
}

void StandaloneActuator::migrate(unsigned plane, Instant now, Done done) {
  if (migrator_ != nullptr) {
    migrator_->migrate(plane, now, std::move(done));
    return;
  }
  answer_later([done = std::move(done)](Instant at) { done({}, at); }, now);
}

void StandaloneActuator::close_links() { keeper_.close({closed_.begin(), closed_.end()}); }

void StandaloneActuator::set_links(const std::vector<LinkOrder>& orders, Instant now, LinksDone done) {
  call_off(orders);
  auto run = std::make_shared<Run>();
  run->orders = orders;
  for (const LinkOrder& order : orders) run->outcomes.push_back({order.link, std::nullopt});
  run->done = std::move(done);
  runs_.push_back(run);
  answer_later([this, run](Instant at) { begin(run, at); }, now);
}

void StandaloneActuator::call_off(const std::vector<LinkOrder>& orders) {
  for (const auto& run : runs_) {
    for (std::size_t i = 0; i < run->orders.size(); ++i) {
      const bool overtaken = std::any_of(orders.begin(), orders.end(), [&](const LinkOrder& order) {
        return order.link == run->orders[i].link;
      });
      if (!overtaken || !run->called_off.insert(i).second || !run->driver) continue;
      const auto job = std::find(run->driven.begin(), run->driven.end(), i);
      if (job != run->driven.end()) {
        run->driver->call_off(static_cast<std::size_t>(job - run->driven.begin()));
      }
    }
  }
}

/// No earlier run has any of its links.
bool StandaloneActuator::may_begin(const Run& run) const {
  for (const auto& other : runs_) {
    if (other.get() == &run) return true;
    for (const LinkOrder& theirs : other->orders) {
      for (const LinkOrder& ours : run.orders) {
        if (theirs.link == ours.link) return false;
      }
    }
  }
  return true;
}

void StandaloneActuator::begin(const std::shared_ptr<Run>& run, Instant now) {
  if (run->begun || !may_begin(*run)) return;
  run->begun = true;
  bool closing = false;
  for (std::size_t i = 0; i < run->orders.size(); ++i) {
    const LinkOrder& order = run->orders[i];
    if (run->called_off.contains(i)) continue;
    if (order.to == LinkTo::On) {
      closed_.erase(order.link);
    } else {
      closed_.insert(order.link);
      closing = true;
    }
  }
  close_links();
  if (!closing) {
    drive(run, {}, now);
    return;
  }
  // After this nothing that is under way can lead over them again.
  manager_.rewrite_tables(now, [this, run](const Result<void>& written, Instant at) {
    if (written && manager_.packets_gone() > at) {
      run->drive_at = manager_.packets_gone();
    } else {
      drive(run, written, at);
    }
  });
}

std::unique_ptr<provision::LinkDriver> StandaloneActuator::free_driver() {
  if (!idle_.empty()) {
    auto driver = std::move(idle_.back());
    idle_.pop_back();
    return driver;
  }
  return std::make_unique<provision::LinkDriver>(
      engine_, options_,
      [this](const std::vector<NodeGuid>& nodes, Instant now) { seat_.look_at(nodes, now); });
}

void StandaloneActuator::drive(const std::shared_ptr<Run>& run, const Result<void>& written, Instant now) {
  const auto survey = seat_.survey();
  std::vector<provision::LinkJob> jobs;
  bool closing = false;
  for (std::size_t i = 0; i < run->orders.size(); ++i) {
    const LinkOrder& order = run->orders[i];
    auto& failure = run->outcomes[i].failure;
    if (run->called_off.contains(i)) {
      failure = Error{ErrorCode::Conflict, "another order for this link came first"};
      continue;
    }
    const PortRef& other = order.port == order.link.a ? order.link.b : order.link.a;
    const PortIndex near = survey ? survey->fabric->find_port(order.port) : no_port;
    const PortIndex far = survey ? survey->fabric->find_port(other) : no_port;
    // What was cut off with the link is seen when it is back.
    const bool far_is_needed = order.to != LinkTo::On;
    if (near == no_port || (far == no_port && far_is_needed)) {
      failure = Error{ErrorCode::Unreachable, fmt::format("{} is not in the fabric at present",
                                                          to_string(near == no_port ? order.port : other))};
      continue;
    }
    const auto end = [&](PortIndex port) {
      const Port& it = survey->fabric->port(port);
      return LinkEnd{it.node, it.num};
    };
    if (order.to != LinkTo::On) {
      if (!written) {
        failure = written.error();
        continue;
      }
      if (manager_.may_use(order.link.a) || manager_.may_use(order.link.b)) {
        failure =
            Error{ErrorCode::Refused,
                  fmt::format("a forwarding table, or that of a multicast group, may still lead over {}",
                              to_string(order.port))};
        continue;
      }
      closing = true;
    }
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
  auto with_routes = survey;
  if (closing) {
    // Sweeps too must not take ways that end in the middle of them.
    with_routes = provision::with_routes_avoiding(*survey, std::vector(closed_.begin(), closed_.end()));
    seat_.adopt(with_routes);
    manager_.take_routes(*with_routes);
    for (const auto& other : runs_) {
      if (other->driver && other->driver->busy()) other->driver->take_routes(*with_routes);
    }
  }
  run->driver = free_driver();
  // The driver is the run's own: it must not own the run.
  run->driver->run(
      with_routes, std::move(jobs), now,
      [this, weak = std::weak_ptr(run)](const std::vector<std::optional<Error>>& failures, Instant at) {
        if (const auto still = weak.lock()) driven(still, failures, at);
      });
}

void StandaloneActuator::driven(const std::shared_ptr<Run>& run,
                                const std::vector<std::optional<Error>>& failures, Instant now) {
  for (std::size_t i = 0; i < run->driven.size(); ++i) {
    run->outcomes[run->driven[i]].failure = failures[i];
  }
  for (std::size_t i = 0; i < run->orders.size(); ++i) {
    const LinkOrder& order = run->orders[i];
    // What did not go off is no reason not to use it; a reduced link is up again.
    if (order.to == LinkTo::Reduced || (order.to == LinkTo::Off && run->outcomes[i].failure)) {
      closed_.erase(order.link);
    }
  }
  close_links();
  std::erase(runs_, run);
  // It is still on the stack: kept for the next run.
  if (run->driver) idle_.push_back(std::move(run->driver));
  run->done(run->outcomes, now);
  for (const auto& waiting : std::vector(runs_)) begin(waiting, now);
}

void StandaloneActuator::answer_later(std::function<void(Instant)> answer, Instant now) {
  answers_.push_back(std::move(answer));
  if (!answers_at_) answers_at_ = now;
}

void StandaloneActuator::on_timer(Instant now) {
  if (answers_at_ && *answers_at_ <= now) {
    answers_at_.reset();
    for (auto due = std::exchange(answers_, {}); !due.empty(); due.pop_front()) due.front()(now);
  }
  for (const auto& run : std::vector(runs_)) {
    if (run->driver) run->driver->on_timer(now);
    if (run->drive_at && *run->drive_at <= now) {
      run->drive_at.reset();
      drive(run, {}, now);
    }
  }
}

std::optional<Instant> StandaloneActuator::next_deadline() const {
  std::optional<Instant> first = answers_at_;
  for (const auto& run : runs_) {
    const auto due = run->driver ? run->driver->next_deadline() : std::nullopt;
    for (const auto& at : {due, run->drive_at}) {
      if (at && (!first || *at < *first)) first = at;
    }
  }
  return first;
}

}  // namespace heddle::regulate
