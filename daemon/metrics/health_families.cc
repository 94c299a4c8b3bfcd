#include "metrics/health_families.h"

#include <string>
#include <utility>

#include "metrics/family_maker.h"

namespace heddle::metrics {

namespace {

/// Of ports that had errors that could not be corrected: all others are well, and there are many.
prometheus::MetricFamily bit_error_family(const std::vector<health::PortBitErrors>& ports) {
  std::vector<LabelledValue> values;
  for (const health::PortBitErrors& port : ports) {
    if (port.uncorrectable_long == 0) continue;
    const auto add = [&](const char* kind, const char* window, const std::optional<double>& rate) {
      if (!rate) return;
      values.push_back({{{"guid", to_string(port.port.node)},
                         {"port", std::to_string(port.port.port.raw())},
                         {"kind", kind},
                         {"window", window}},
                        *rate});
    };
    add("raw", "short", port.window.raw);
    add("effective", "short", port.window.effective);
    add("raw", "long", port.long_window.raw);
    add("effective", "long", port.long_window.effective);
  }
  return family_of(
      prometheus::MetricType::Gauge, "heddle_port_bit_error_ratio",
      "Bits that came in wrong at a port, before and after correction, over both windows of health, of "
      "ports where some could not be corrected",
      std::move(values));
}

prometheus::MetricFamily cable_family(const std::array<std::size_t, 4>& cables) {
  constexpr std::array kinds{"missing", "swapped", "unexpected", "wrong_rate"};
  std::vector<LabelledValue> values;
  for (std::size_t i = 0; i < kinds.size(); ++i)
    values.push_back({{{"kind", kinds[i]}}, static_cast<double>(cables[i])});
  return family_of(prometheus::MetricType::Gauge, "heddle_baseline_differences",
                   "Cables that are not as in the baseline that the daemon keeps (docs/cabling.md)",
                   std::move(values));
}

}  // namespace

void HealthMetrics::set(const health::Report& report,
                        std::shared_ptr<const std::vector<health::PortBitErrors>> bit_errors) {
  const std::lock_guard lock{mutex_};
  bit_errors_ = std::move(bit_errors);
  judged_ = true;
  counts_ = report.counts();
}

void HealthMetrics::set_cables(const cabling::CableCheck* check) {
  const std::lock_guard lock{mutex_};
  cables_.reset();
  if (check != nullptr) {
    cables_ = {check->missing.size(), check->swapped.size(), check->unexpected.size(),
               check->wrong_rate.size()};
  }
}

std::vector<prometheus::MetricFamily> HealthMetrics::Collect() const {
  const std::lock_guard lock{mutex_};
  if (!judged_) return {};
  std::vector<LabelledValue> values;
  for (const health::RuleName& each : health::rule_names) {
    values.push_back({{{"rule", std::string(each.name)}},
                      static_cast<double>(counts_[static_cast<std::size_t>(each.rule)])});
  }
  std::vector<prometheus::MetricFamily> families{
      family_of(prometheus::MetricType::Gauge, "heddle_health_findings",
                "What is wrong with the fabric itself, by rule (docs/health.md)", std::move(values))};
  if (cables_) families.push_back(cable_family(*cables_));
  if (bit_errors_) {
    auto bits = bit_error_family(*bit_errors_);
    if (!bits.metric.empty()) families.push_back(std::move(bits));
  }
  return families;
}

}  // namespace heddle::metrics
