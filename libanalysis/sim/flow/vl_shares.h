/// How an output port's arbitration tables share its link between virtual lanes. Remembers what it has worked
/// out: on most fabrics all ports have the same tables. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/ids.h"
#include "qos/analyzer.h"
#include "qos/tables.h"

namespace heddle::sim {

inline constexpr std::size_t vl_count = 16;
/// By VL.
using VlRates = std::array<double, vl_count>;

class VlShares {
 public:
  /// Packets as the analyzer takes them.
  explicit VlShares(qos::AnalyzerOptions options = {}) : options_{std::move(options)} {}

  /// Shares of the VLs in `active` (bit v: VL v) while each of them always has data waiting, and the others
  /// none. They sum to 1, or are 0 for VLs that the tables do not serve. Tables without any weight serve all
  /// alike.
  [[nodiscard]] const VlRates& of(const qos::VlArbitration& tables, std::uint16_t active);

  /// What each VL gets of `capacity` if it wants `wanted`: all of it where there is room, otherwise by its
  /// share, and what one leaves goes to the others by theirs.
  [[nodiscard]] VlRates divide(const qos::VlArbitration& tables, double capacity, const VlRates& wanted);

 private:
  [[nodiscard]] VlRates analyze(const qos::VlArbitration& tables, std::uint16_t active) const;

  qos::AnalyzerOptions options_;
  std::map<std::pair<std::string, std::uint16_t>, VlRates> known_;  ///< by the tables' bytes
};

/// Whether a port with these tables sends anything of this VL.
[[nodiscard]] bool serves(const qos::VlArbitration& tables, Vl vl);

}  // namespace heddle::sim
