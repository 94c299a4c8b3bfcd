/// Results of single points as lines of text: so that a campaign which was stopped goes on, and the parts of
/// one come together. Everything is whole numbers, floating-point values by their bits, so that what is read
/// is what was written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/experiment/experiment.h"

namespace heddle::packet {

/// FNV-1a, 64 bits: tells texts apart that nobody made to be confused.
[[nodiscard]] std::uint64_t fingerprint(std::string_view text, std::uint64_t before = 0xcbf29ce484222325ULL);

/// One line, with its fingerprint at the end.
[[nodiscard]] std::string write_point(const PointResult& result);

/// None for a line that was cut off or damaged.
[[nodiscard]] std::optional<PointResult> read_point(std::string_view line);

}  // namespace heddle::packet
