#include "metrics/notify_families.h"

#include <utility>

#include "metrics/family_maker.h"

namespace heddle::metrics {

void NotifyMetrics::set(std::vector<NotifyFigures> figures) {
  const std::lock_guard lock{mutex_};
  figures_ = std::move(figures);
}

std::vector<prometheus::MetricFamily> NotifyMetrics::Collect() const {
  using prometheus::MetricType;
  const std::lock_guard lock{mutex_};
  if (figures_.empty()) return {};
  std::vector<prometheus::MetricFamily> all;
  const auto add = [&](MetricType type, const char* name, const char* help,
                       std::uint64_t NotifyFigures::*figure) {
    std::vector<LabelledValue> values;
    for (const NotifyFigures& each : figures_)
      values.push_back({{{"destination", each.destination}}, static_cast<double>(each.*figure)});
    all.push_back(family_of(type, name, help, std::move(values)));
  };
  add(MetricType::Gauge, "heddle_notify_queued", "Notices that a destination has not got yet",
      &NotifyFigures::queued);
  add(MetricType::Counter, "heddle_notify_sent_total", "Notices that a destination took",
      &NotifyFigures::sent);
  add(MetricType::Counter, "heddle_notify_failures_total", "Messages that a destination did not take",
      &NotifyFigures::failures);
  add(MetricType::Counter, "heddle_notify_dropped_total", "Notices that a destination never got",
      &NotifyFigures::dropped);
  return all;
}

}  // namespace heddle::metrics
