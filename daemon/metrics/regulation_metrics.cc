#include "metrics/regulation_metrics.h"

#include <fmt/format.h>

#include "metrics/family_maker.h"

namespace heddle::metrics {

using prometheus::MetricType;

void RegulationMetrics::publish(RegulationFigures figures) {
  auto fresh = std::make_shared<const RegulationFigures>(std::move(figures));
  const std::lock_guard lock{mutex_};
  figures_.swap(fresh);
}

std::vector<prometheus::MetricFamily> RegulationMetrics::Collect() const {
  std::shared_ptr<const RegulationFigures> figures;
  {
    const std::lock_guard lock{mutex_};
    figures = figures_;
  }
  std::vector<prometheus::MetricFamily> all;
  if (!figures) return all;
  all.push_back(counter("heddle_energy_joules_total", "What all switches have spent, kept over restarts",
                        figures->spent.value()));
  all.push_back(counter("heddle_energy_saved_joules_total",
                        "What was saved against all links on in full, kept over restarts",
                        figures->saved.value()));
  all.push_back(
      gauge("heddle_power_watts", "What all switches draw, by the power model", figures->power.value()));
  all.push_back(
      gauge("heddle_power_saving_watts", "What links that are off or reduced save", figures->saving.value()));
  const auto to = [](const char* state, std::uint64_t value) {
    return LabelledValue{{{"to", state}}, static_cast<double>(value)};
  };
  all.push_back(family_of(MetricType::Counter, "heddle_link_transitions_total",
                          "Links that were turned off, on or to a reduced mode and seen there; or failed to",
                          {to("off", figures->turned_off), to("on", figures->turned_on),
                           to("reduced", figures->reduced), to("failed", figures->failed)}));
  std::vector<LabelledValue> modes;
  for (const char* mode : {"off", "advise", "enforce"}) {
    modes.push_back({{{"mode", mode}}, figures->mode == mode ? 1.0 : 0.0});
  }
  all.push_back(
      family_of(MetricType::Gauge, "heddle_regulation_mode", "1 for the mode that is set", std::move(modes)));
  std::vector<LabelledValue> drained;
  for (const auto& each : figures->drained) drained.push_back({{{"what", each.what}}, each.safe ? 1.0 : 0.0});
  if (!drained.empty()) {
    all.push_back(family_of(MetricType::Gauge, "heddle_drain_safe",
                            "1 for what is drained and safe to pull, 0 while its links are in use",
                            std::move(drained)));
  }
  std::vector<LabelledValue> links;
  std::vector<LabelledValue> wakes;
  std::vector<LabelledValue> link_spent;
  std::vector<LabelledValue> link_saved;
  for (const auto& link : figures->links) {
    const std::vector<Label> labels{{"guid", to_string(link.port.node)},
                                    {"port", fmt::format("{}", link.port.port.raw())},
                                    {"switch", link.name}};
    links.push_back({labels, static_cast<double>(link.state)});
    if (link.wake) wakes.push_back({labels, *link.wake});
    if (!link.energy) continue;
    link_spent.push_back({labels, link.energy->spent.value()});
    link_saved.push_back({labels, link.energy->saved.value()});
  }
  all.push_back(family_of(MetricType::Gauge, "heddle_link_power_state",
                          "Of the links between switches, by one end: 0 off, 1 reduced, 2 on in full",
                          std::move(links)));
  all.push_back(gauge("heddle_slow_links", "Links that are left on because they took minutes to come back",
                      static_cast<double>(figures->slow)));
  if (!wakes.empty()) {
    all.push_back(
        family_of(MetricType::Gauge, "heddle_link_wake_seconds",
                  "What a link is expected to take to come back, of those that were seen to, by one end",
                  std::move(wakes)));
  }
  std::vector<LabelledValue> switch_spent;
  std::vector<LabelledValue> switch_saved;
  for (const auto& node : figures->switches) {
    const std::vector<Label> labels{{"guid", to_string(node.node)}, {"switch", node.name}};
    switch_spent.push_back({labels, node.energy.spent.value()});
    switch_saved.push_back({labels, node.energy.saved.value()});
  }
  const auto add = [&](const char* name, const char* help, std::vector<LabelledValue> values) {
    if (!values.empty()) all.push_back(family_of(MetricType::Counter, name, help, std::move(values)));
  };
  add("heddle_switch_energy_joules_total", "What a switch and its ports have spent, kept over restarts",
      std::move(switch_spent));
  add("heddle_switch_energy_saved_joules_total",
      "What was saved against all of its ports on in full, kept over restarts", std::move(switch_saved));
  add("heddle_link_energy_joules_total",
      "What both ports of a link between switches have spent, by one end; kept over restarts",
      std::move(link_spent));
  add("heddle_link_energy_saved_joules_total",
      "What was saved against the link on in full, by one end; kept over restarts", std::move(link_saved));
  return all;
}

}  // namespace heddle::metrics
