/// The metrics of the daemon itself: sweeps, transactions, fabric sums. As families of prometheus-cpp, which
/// writes them; only the many lines of the ports have a writer of their own.
#pragma once

#include <prometheus/metric_family.h>

#include <chrono>
#include <vector>

#include "load/sample.h"
#include "sampling/sampler.h"
#include "transport/transactions.h"

namespace heddle::metrics {

/// As of the end of a sweep.
struct DaemonFigures {
  sampling::SamplerStatistics sampler;
  transport::TransactionStatistics transactions;
  std::uint32_t window = 0;  ///< of the transaction engine, as it has adapted
  std::chrono::system_clock::time_point at;
};

/// `sample` may be null.
[[nodiscard]] std::vector<prometheus::MetricFamily> daemon_families(const DaemonFigures& figures,
                                                                    const load::Sample* sample);

/// The usual ones: process_cpu_seconds_total, process_resident_memory_bytes and so on, from /proc.
[[nodiscard]] std::vector<prometheus::MetricFamily> process_families();

}  // namespace heddle::metrics
