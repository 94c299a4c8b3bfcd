/// The families heddle_qos_*: what pushed tables came to. A part for Metrics::add(). set() and a scrape may
/// be on different threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

namespace prometheus {
class Collectable;
}

namespace heddle::metrics {

struct QosFigures {
  std::uint64_t ports = 0;          ///< that a plan is for
  std::uint64_t drift_ports = 0;    ///< of these, that differ from it
  std::uint64_t silent_ports = 0;   ///< that could not be read
  std::uint64_t reduced_ports = 0;  ///< that get less than the plan has
  std::uint64_t reapplied = 0;      ///< ports that were written again when they came back
  std::optional<double> verified;   ///< seconds since 1970
};

class QosMetrics {
 public:
  QosMetrics();
  ~QosMetrics();
  QosMetrics(const QosMetrics&) = delete;
  QosMetrics& operator=(const QosMetrics&) = delete;

  void set(const QosFigures& figures);
  [[nodiscard]] std::shared_ptr<prometheus::Collectable> part() const;

 private:
  class Part;
  std::shared_ptr<Part> part_;
};

}  // namespace heddle::metrics
