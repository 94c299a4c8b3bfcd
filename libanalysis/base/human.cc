#include "base/human.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace heddle {
namespace {

std::string scaled(double value, const char* unit) {
  if (!std::isfinite(value)) return "-";
  constexpr std::array prefixes{"", "k", "M", "G", "T", "P"};
  std::size_t prefix = 0;
  while (std::abs(value) >= 999.95 && prefix + 1 < prefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  return prefix == 0 ? fmt::format("{:.0f} {}", value, unit)
                     : fmt::format("{:.1f} {}{}", value, prefixes[prefix], unit);
}

}  // namespace

std::string human(BitRate rate) { return scaled(rate.value(), "bit/s"); }
std::string human(Ratio ratio) {
  if (!std::isfinite(ratio.value())) return "-";
  const double tenths = std::round(ratio.value() * 1000);
  return fmt::format("{:.1f} %", tenths == 0 ? 0.0 : ratio.value() * 100);  // never "-0.0 %"
}
std::string human_bytes(double bytes) { return scaled(bytes, "B"); }

std::string human_seconds(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  if (seconds < 1e-3) return fmt::format("{:.0f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.1f} ms", seconds * 1e3);
  if (seconds < 120) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long long>(seconds);
  if (whole < 2 * 3600) return fmt::format("{} min", whole / 60);
  if (whole < 48 * 3600) return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
  return fmt::format("{} days", whole / 86400);
}

std::string human_ber(double rate) {
  if (std::isnan(rate)) return "unknown";
  return rate == 0 ? "0" : fmt::format("{:.1e}", rate);
}

}  // namespace heddle
