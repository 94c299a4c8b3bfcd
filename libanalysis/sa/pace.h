/// How often ports may ask for tables. Each port has an allowance of records that are looked at for it, which
/// comes back with time; questions about one pair or one port cost none. So a host that asks for everything
/// without end has a small share of a processor, and takes nothing from others. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "base/units.h"

namespace heddle::sa {

struct PaceOptions {
  double burst = 500'000;      ///< records; a port that has not asked for long has so many
  double per_second = 50'000;  ///< records
  /// Of fabrics so large that the above is less: whole tables.
  double tables_at_once = 4;
  double tables_per_second = 0.5;
};

class Pace {
 public:
  explicit Pace(const PaceOptions& options) : options_{options} {}

  enum class Turn : std::uint8_t {
    Granted,   ///< the records are spent
    UnderWay,  ///< refused, and asked before, when it was granted: that answer is on its way
    Refused,
  };
  /// Whether `lid` may have `records` of the fabric's `all` looked at now, for a transaction of its.
  [[nodiscard]] Turn take(Lid lid, std::uint32_t transaction, std::size_t records, std::size_t all,
                          Instant now);

 private:
  struct Allowance {
    double left = 0;
    Instant at{};
    std::uint32_t granted = 0;  ///< the last transaction
  };
  PaceOptions options_;
  std::unordered_map<Lid, Allowance> of_;  ///< as many as there are LIDs at most
};

}  // namespace heddle::sa
