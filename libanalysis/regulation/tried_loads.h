/// Loads of any traffic (any_traffic.h) over tables that are tried one after the other and differ in little:
/// what goes to LIDs that all switches lead as before is not followed again. Owns copies; one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "regulation/any_traffic.h"

namespace heddle::regulation {

class TriedLoads {
 public:
  explicit TriedLoads(unsigned plane) : plane_{plane} {}

  /// As traffic.loads() has them, but for rounding. Always the same traffic, and tables of the same switches.
  [[nodiscard]] AnyTraffic::Loads loads(const AnyTraffic& traffic, const routing::ForwardingTables& tables);

 private:
  /// Hosts that are led otherwise than in the tables before.
  [[nodiscard]] std::vector<std::uint32_t> led_otherwise(const AnyTraffic& traffic,
                                                         const routing::ForwardingTables& tables) const;

  unsigned plane_;
  routing::ForwardingTables before_;
  AnyTraffic::ByPattern loads_;  ///< over these
};

}  // namespace heddle::regulation
