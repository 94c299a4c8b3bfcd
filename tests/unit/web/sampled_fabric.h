/// A generated fabric with a sample of it whose figures a test sets, for the tests of the page.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/printable.h"
#include "control/api.h"
#include "fabric/generators.h"
#include "load/locality.h"
#include "support/still_answers.h"

namespace heddle::web {

struct SampledFabric {
  explicit SampledFabric(const std::string& spec) : SampledFabric{*generate(spec)} {}
  explicit SampledFabric(std::shared_ptr<const Fabric> of)
      : fabric{std::move(of)}, sets{load::LocalitySets::find(*fabric, {})} {
    blank.fabric = fabric;
    blank.ports.resize(fabric->ports().size());
    blank.nodes.resize(fabric->nodes().size());
    blank.set_names = sets->names();
    blank.locality.resize(sets->names()->size());
  }

  /// The next sweep: the same figures for every direction.
  [[nodiscard]] std::shared_ptr<load::Sample> sample(float utilization, float congestion = 0) {
    auto made = std::make_shared<load::Sample>(blank);
    made->number = ++sweeps;
    made->ended = Instant{std::chrono::seconds{sweeps}};
    for (auto& port : made->ports) {
      port.utilization = utilization;
      port.congestion = congestion;
      port.status = load::PortStatus::Fresh;
    }
    return made;
  }

  [[nodiscard]] control::DaemonState state(std::shared_ptr<const load::Sample> of) const {
    control::DaemonState state;
    state.fabric = fabric;
    state.sample = std::move(of);
    state.sets = sets;
    state.name = [](const Node& node) { return printable(node.description); };
    return state;
  }

  std::shared_ptr<const Fabric> fabric;
  std::shared_ptr<const load::LocalitySets> sets;
  load::Sample blank;
  std::uint64_t sweeps = 0;
};

/// A daemon that is nothing but its state.
class StillDaemon final : public control::Daemon {
 public:
  explicit StillDaemon(control::DaemonState state) : state_{std::move(state)} {}
  [[nodiscard]] control::DaemonState state() const override { return state_; }
  [[nodiscard]] control::Answers& answers() override { return answers_; }
  [[nodiscard]] Result<Scrape> metrics(const std::map<std::string, std::string>&, bool) override {
    return fail(ErrorCode::Unsupported, "no metrics here");
  }
  Result<void> look_at_queues(const std::vector<PortIndex>&, sampling::QueueProbe::Done) override {
    return fail(ErrorCode::Unsupported, "no queues here");
  }
  [[nodiscard]] std::optional<std::vector<Lid>> lids_through(const PortRef&) const override { return lids; }
  control::DaemonState state_;
  control::Answers answers_{control::at_once(), control::back_at_once()};
  std::optional<std::vector<Lid>> lids;
};

}  // namespace heddle::web
