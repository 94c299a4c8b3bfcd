/// The turns of one arbitration table, in the order in which they come until they repeat, every VL always
/// waiting. Only with Rounding::Deficit do they take more than one round of the table to repeat.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "qos/analyzer.h"

namespace heddle::qos {

struct Turn {
  std::uint8_t vl = 0;
  std::uint32_t bytes = 0;  ///< of one packet
  std::uint32_t packets = 0;
};

struct Turns {
  std::vector<Turn> list;  ///< none of 0 packets
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
};

/// One packet size per VL. None if the turns take too long to repeat.
[[nodiscard]] std::optional<Turns> turns_of(const ArbTable& table, const AnalyzerOptions& options);

/// The packet size that counts: 64 for Rounding::Units.
[[nodiscard]] std::uint32_t counted_bytes(Vl vl, const AnalyzerOptions& options);

}  // namespace heddle::qos
