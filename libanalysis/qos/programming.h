/// What ports are programmed with, as one thing: arbitration tables, LimitOfHighPriority and SL2VL; and its
/// form as the `qos` part of a plan (docs/qos.md). Plain values; pure.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "qos/tables.h"

namespace heddle::qos {

struct Programming {
  VlArbitration tables;
  Sl2Vl map;
  friend bool operator==(const Programming&, const Programming&) = default;
};

/// A VLArbitrationTable MAD has 32 entries (IBA 14.2.5.9): low 1 and 2, high 3 and 4. Precondition: no more
/// than max_entries in a table; entries that it has not are of weight 0.
inline constexpr std::size_t block_count = 4;
inline constexpr std::size_t entries_per_block = 32;
using ArbBlock = std::array<ArbEntry, entries_per_block>;
[[nodiscard]] std::array<ArbBlock, block_count> blocks_of(const VlArbitration& tables);

/// Beyond the checks of its parts: every SL that is not dropped is on a VL that a table serves. Errors
/// (Invalid): the first that fails, naming table and entry, or the SL.
[[nodiscard]] Result<void> check(const Programming& programming, const PortCapability& port);

/// Reads `{"qos": {"vlarb_high": [[vl, weight], ...], "vlarb_low": [...], "high_limit": n, "sl2vl": [...]}}`;
/// other keys beside `qos` belong to others. `name` is the file's. Errors (Invalid): what is not JSON by
/// line, everything else by key; tables that `check` refuses.
[[nodiscard]] Result<Programming> parse_plan(std::string_view text, const std::string& name);

/// What parse_plan reads.
[[nodiscard]] std::string plan_text(const Programming& programming);

}  // namespace heddle::qos
