/// DTable, the deficit-table scheduler (thesis, chapter 4): a table of (SL, weight) and one deficit counter
/// per SL. Weights and sizes count credits of 64 bytes. IBA 1.4, 7.6.10 has an enhanced arbiter of the same
/// kind.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "qos/arbiter.h"

namespace heddle::qos {

inline constexpr std::uint32_t credit_bytes = 64;

struct DTableEntry {
  Lane lane;
  std::uint32_t weight = 0;  ///< credits
  friend bool operator==(const DTableEntry&, const DTableEntry&) = default;
};
using DTable = std::vector<DTableEntry>;

class DTableArbiter {
 public:
  /// At most 256 entries are used.
  explicit DTableArbiter(DTable table);

  /// A lane is active while its head is not 0. An entry may be passed several times before its lane's counter
  /// covers a large message.
  [[nodiscard]] std::optional<Pick> select(Heads heads);

  /// Credits that the lane saved up in its last turn.
  [[nodiscard]] std::uint32_t deficit(Lane lane) const { return deficit_[lane.raw()]; }

 private:
  /// Ends the turn of the entry in service.
  void leave(Heads heads);

  DTable table_;
  std::array<std::uint32_t, max_lanes> deficit_{};
  std::size_t entry_ = 0;
  std::uint64_t accumulated_ = 0;
  bool in_turn_ = false;
};

}  // namespace heddle::qos
