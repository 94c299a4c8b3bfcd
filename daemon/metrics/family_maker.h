/// Short ways to make families of prometheus-cpp. For the .cc files of metrics/.
#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <utility>
#include <vector>

namespace heddle::metrics {

using Label = prometheus::ClientMetric::Label;

struct LabelledValue {
  std::vector<Label> labels;
  double value = 0;
};

inline prometheus::MetricFamily family_of(prometheus::MetricType type, std::string name, std::string help,
                                          std::vector<LabelledValue> values) {
  prometheus::MetricFamily family{std::move(name), std::move(help), type, {}};
  for (LabelledValue& value : values) {
    prometheus::ClientMetric metric;
    metric.label = std::move(value.labels);
    (type == prometheus::MetricType::Counter ? metric.counter.value : metric.gauge.value) = value.value;
    family.metric.push_back(std::move(metric));
  }
  return family;
}
inline prometheus::MetricFamily gauge(std::string name, std::string help, double value) {
  return family_of(prometheus::MetricType::Gauge, std::move(name), std::move(help), {{{}, value}});
}
template <class Number>
prometheus::MetricFamily counter(std::string name, std::string help, Number value) {
  return family_of(prometheus::MetricType::Counter, std::move(name), std::move(help),
                   {{{}, static_cast<double>(value)}});
}

}  // namespace heddle::metrics
