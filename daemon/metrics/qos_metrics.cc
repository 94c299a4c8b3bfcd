#include "metrics/qos_metrics.h"

#include <prometheus/collectable.h>

#include <mutex>

#include "metrics/family_maker.h"

namespace heddle::metrics {

class QosMetrics::Part final : public prometheus::Collectable {
 public:
  void set(const QosFigures& figures) {
    const std::lock_guard lock{mutex_};
    figures_ = figures;
  }

  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override {
    QosFigures figures;
    {
      const std::lock_guard lock{mutex_};
      figures = figures_;
    }
    const auto number = [](std::uint64_t value) { return static_cast<double>(value); };
    std::vector<prometheus::MetricFamily> all{
        gauge("heddle_qos_ports", "Ports that a pushed QoS plan is for", number(figures.ports)),
        gauge("heddle_qos_drift_ports", "Ports whose QoS tables differ from the pushed plan",
              number(figures.drift_ports)),
        gauge("heddle_qos_silent_ports", "Ports whose QoS tables could not be read or written",
              number(figures.silent_ports)),
        gauge("heddle_qos_reduced_ports", "Ports that have room for less than the pushed plan has",
              number(figures.reduced_ports)),
        counter("heddle_qos_reapplied_ports_total",
                "Ports whose QoS tables were written again when they came back", figures.reapplied)};
    if (figures.verified) {
      all.push_back(gauge("heddle_qos_last_verify_timestamp_seconds",
                          "When the QoS tables of all ports were last compared with the plan",
                          *figures.verified));
    }
    return all;
  }

 private:
  mutable std::mutex mutex_;
  QosFigures figures_;
};

QosMetrics::QosMetrics() : part_{std::make_shared<Part>()} {}
QosMetrics::~QosMetrics() = default;

void QosMetrics::set(const QosFigures& figures) { part_->set(figures); }
std::shared_ptr<prometheus::Collectable> QosMetrics::part() const { return part_; }

}  // namespace heddle::metrics
