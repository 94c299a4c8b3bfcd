/// The schedule followed packet by packet: for packets of mixed sizes, where no closed form is known, and for
/// the thesis' way of counting. Both run the arbiter itself.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "qos/analyzer.h"

namespace heddle::qos {

/// What happened to one VL in a stretch of the schedule.
struct VlCount {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  std::uint64_t selections = 0;
  std::uint64_t distance_sum = 0;  ///< over the distances between its selections
  std::uint64_t max_distance = 0;
};

struct ScheduleCount {
  std::array<VlCount, max_data_vls> vls;
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  std::uint64_t selections = 0;
};

/// One whole period, distances taken round. None if the state does not come again within `most_packets`.
/// Precondition: tables and options are what `analyze` accepts.
[[nodiscard]] std::optional<ScheduleCount> count_period(const VlArbitration& tables,
                                                        const AnalyzerOptions& options,
                                                        std::uint64_t most_packets);

/// The thesis' procedure: so many cycles of the high table from the start. The grant that is due when they
/// end does not come any more, and distances end with the last selection. Errors: as of `analyze`, except
/// Unsupported.
[[nodiscard]] Result<ScheduleCount> count_runs(const VlArbitration& tables, const AnalyzerOptions& options,
                                               std::uint64_t cycles);

}  // namespace heddle::qos
