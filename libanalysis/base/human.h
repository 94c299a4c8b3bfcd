/// Quantities as a person reads them.
#pragma once

#include <string>

#include "base/units.h"

namespace heddle {

/// "12.3 Gbit/s", "45.1 %", "3.2 GB", "1.5 ms"; "-" for what is not a number.
[[nodiscard]] std::string human(BitRate rate);
[[nodiscard]] std::string human(Ratio ratio);
[[nodiscard]] std::string human_bytes(double bytes);
[[nodiscard]] std::string human_seconds(double seconds);
/// A bit error rate: "1.2e-12", "0"; "unknown" for what is not a number.
[[nodiscard]] std::string human_ber(double rate);

}  // namespace heddle
