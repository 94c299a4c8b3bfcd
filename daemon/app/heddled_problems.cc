// What is wrong (docs/problems.md): what the shell knows of, and all that the core does.

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "app/heddled_parts.h"

namespace heddle::app {
/// This host alone, or without the switches that it had: its own cable, or the leaf behind it.
std::optional<std::string> Heddled::Parts::no_switch() const {
  if (!core_.seen()) return std::nullopt;
  const Fabric& fabric = *core_.seen()->fabric;
  if (fabric.switch_count() > 0) return std::nullopt;
  if (core_.most_switches() > 0) {
    return fmt::format("no switch is in sight, and {} were: see the cable in {}, and the switch behind it",
                       core_.most_switches(), backend_->source());
  }
  if (fabric.nodes().size() > 1) return std::nullopt;  // back to back
  return fmt::format("no other node is in sight: see the cable in {}, and what is behind it",
                     backend_->source());
}

std::vector<std::string> Heddled::Parts::rails_without_daemon() const {
  std::vector<std::string> all;
  for (const Backend::Rail& rail : backend_->other_rails()) {
    // Two ports in one fabric are no two rails.
    if (!core_.seen() || core_.seen()->fabric->find_port(rail.guid) != no_port) continue;
    all.push_back(fmt::format(
        "port {} of this host leads to another fabric, at which no daemon looks: `systemctl enable "
        "--now heddled@...` has one for it (docs/production-host.md)",
        rail.name));
  }
  return all;
}

Problems Heddled::Parts::problems() const {
  Problems all;
  const auto add_each = [&](ProblemKind kind, const std::vector<std::string>& texts) {
    for (const std::string& text : texts) all.push_back({kind, text});
  };
  const auto add_if = [&](ProblemKind kind, std::optional<std::string> text) {
    if (text) all.push_back({kind, *std::move(text)});
  };
  for (const std::string& loss : backend_->lost()) {
    all.push_back({ProblemKind::FabricFile, "not all of the fabric's file is here: " + loss});
  }
  add_if(ProblemKind::Reload, reload_wrong_);
  add_if(ProblemKind::Device, backend_->problem());
  add_if(ProblemKind::NoSwitch, no_switch());
  add_each(ProblemKind::Rail, rails_without_daemon());
  add_each(ProblemKind::Exposure, exposure(config_));
  add_each(ProblemKind::Notify, notices_.problems());
  add_if(ProblemKind::Jobs, jobs_.problem());
  if (shared_) add_if(ProblemKind::SharedState, shared_->problem());
  Problems of_core = core_.problems();
  all.insert(all.end(), std::make_move_iterator(of_core.begin()), std::make_move_iterator(of_core.end()));
  return all;
}

void Heddled::Parts::tell_problems() {
  const Problems all = problems();
  problem_metrics_->set(all);
  notices_.look(all);
  std::vector<metrics::NotifyFigures> figures;
  for (const auto& state : notices_.states())
    figures.push_back({state.name, state.queued, state.sent, state.failures, state.dropped});
  notify_metrics_->set(std::move(figures));
}

}  // namespace heddle::app
