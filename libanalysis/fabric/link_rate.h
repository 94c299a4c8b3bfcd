/// Width and speed of a link, and the data rate that follows from them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"

namespace heddle {

enum class LinkWidth : std::uint8_t { None, X1, X2, X4, X8, X12 };

/// In the order of their rates per lane. FDR10 is 64b/66b at QDR's signalling rate.
enum class LinkSpeed : std::uint8_t { None, Sdr, Ddr, Qdr, Fdr10, Fdr, Edr, Hdr, Ndr, Xdr };

[[nodiscard]] int lanes(LinkWidth width);

/// Data bits per second in one direction, after coding (facts/monitoring.md 1; IBA volume 2, 5.7 and 5.8).
[[nodiscard]] BitRate data_rate(LinkWidth width, LinkSpeed speed);

/// "4x", "HDR", and together "4xHDR", as ibnetdiscover prints them.
[[nodiscard]] std::string_view to_string(LinkWidth width);
[[nodiscard]] std::string_view to_string(LinkSpeed speed);
[[nodiscard]] std::optional<LinkWidth> link_width(std::string_view text);
[[nodiscard]] std::optional<LinkSpeed> link_speed(std::string_view text);

}  // namespace heddle
