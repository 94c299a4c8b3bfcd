// A daemon that owns its fabric by turns with daemons of other hosts (docs/high-availability.md): it follows
// whoever has the lease, takes the place in the same life, and ends in order to follow again when it has lost
// it: nothing that it knew, or had under way, may go out then.

#include <spdlog/spdlog.h>

#include <utility>

#include "app/heddled_parts.h"
#include "app/state_files.h"
#include "authority/plan_file.h"
#include "base/printable.h"
#include "metrics/owner_families.h"

namespace heddle::app {

Result<void> Heddled::Parts::follow() {
  if (auto taken = take_journal(); !taken) return taken;
  auto shared = SharedState::open(io_, config_, calendar_,
                                  {.taken = [this](SharedState::Taken taken) { take_over(std::move(taken)); },
                                   .lost = [this](const std::string& why) { lose_place(why); },
                                   .planned = [this](plan::Plan plan) { follow_plan(std::move(plan)); }});
  if (!shared) return fail(shared.error());
  shared_ = *std::move(shared);
  metrics_.add(std::make_shared<metrics::OwnerMetrics>([this] {
    const SharedState::Shown shown = shared_->shown();
    return metrics::OwnerFigures{.owns = shown.owns, .lease_left = seconds(shown.left)};
  }));
  auto following = app::follow(around_authority(), config_, [this] { return shared_->why_not(); });
  if (!following) return fail(following.error());
  in_force_ = *std::move(following);
  core_.use(std::move(in_force_.authority));
  return {};
}

void Heddled::Parts::take_over(SharedState::Taken taken) {
  if (stopping_ || stop_asked_ || owns_) return;
  const std::string before = taken.journal.memory ? "with what etcd knows" : "with what this host knows";
  spdlog::warn("this daemon owns the fabric from here on, {}", before);
  owns_ = true;
  if (taken.plan) plans_.take(*std::move(taken.plan));
  if (taken.qos) core_.qos().know(*std::move(taken.qos));
  journal_ = shared_->journal(std::move(journal_), std::move(taken.journal));
  in_force_ = app::take_over(around_authority(), config_, std::move(in_force_));
  const bool regulates = in_force_.authority->actuator() != nullptr;
  if (regulates) regulate();
  on(core::Asked{
      [&] { core_.take_over(std::move(in_force_.authority), regulates ? journal_.get() : nullptr); },
      nullptr});
  if (in_force_.plugin.server) in_force_.plugin.server->say_hello_again();
}

/// For OpenSM's plugin on this host, which reads it when its OpenSM becomes the master.
void Heddled::Parts::follow_plan(plan::Plan plan) {
  if (owns_ || stopping_ || !in_force_.plugin.server) return;
  disk_.run(
      [path = plans_.path(), plan = std::move(plan)] {
        if (const auto written = opensm::write_plan(path, plan); !written) {
          spdlog::error("the plan of the fabric's owner cannot be written here: {}", written.error().message);
        }
      },
      [] {});
}

/// Of an owner: a plan is in the store before it is on disk.
opensm::PlanStore::File Heddled::Parts::plan_file() {
  auto file = opensm::PlanStore::File::on_disk();
  if (recorder_) {
    file.write = [write = file.write, noting = recorder_->noting(record::Answer::What::PlanFailed)](
                     const std::string& path, const plan::Plan& plan) { return noting(write(path, plan)); };
  }
  if (!fenced_) return file;
  file.write = [this, write = file.write](const std::string& path, const plan::Plan& plan) -> Result<void> {
    if (auto put = shared_->put(plan); !put) return put;
    return write(path, plan);
  };
  return file;
}

/// Likewise, of what is pushed.
core::QosStore Heddled::Parts::qos_file() {
  auto file = qos_store(config_);
  if (!fenced_) return file;
  file.store = [this, store = file.store](const std::vector<vlarb::Assignment>& all) -> Result<void> {
    if (auto put = shared_->put(all); !put) return put;
    return store(all);
  };
  return file;
}

bool Heddled::Parts::lost_place() {
  if (stopping_ || !owns_ || shared_->may_write()) return false;
  lose_place("its lease has ended");
  return true;
}

void Heddled::Parts::lose_place(const std::string& why) {
  if (stopping_) return;
  spdlog::error("this daemon does not own the fabric any more ({}): it starts anew, and follows",
                printable(why));
  starts_anew_ = !stop_asked_;
  stop_asked_ = true;
  finish();
}

control::SharedStateShown Heddled::Parts::shared_state() const {
  if (!shared_) return {};
  const SharedState::Shown shown = shared_->shown();
  return {.name = shown.name, .owner = shown.owner, .owns = owns_, .lease_left = shown.left};
}

}  // namespace heddle::app
