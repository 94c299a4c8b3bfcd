#include "heddle/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <ostream>

namespace heddle::cli {
namespace {

std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

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

void Table::add(std::vector<std::string> cells) {
  assert(cells.size() <= columns_.size());
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

void Table::print(std::ostream& out, Colour colour) const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = width_of(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, width_of(row[c]));
    widths.push_back(width);
  }
  const auto line = [&](const auto& cell_at) {
    std::string text;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::string& cell = cell_at(c);
      const std::string padding(widths[c] - width_of(cell), ' ');
      if (c > 0) text += "  ";
      text += columns_[c].align == Align::Right ? padding + cell : cell + padding;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  };
  const std::string title = line([&](std::size_t c) -> const std::string& { return columns_[c].title; });
  out << (colour == Colour::On ? "\033[1m" + title + "\033[0m" : title) << '\n';
  for (const auto& row : rows_) {
    out << line([&](std::size_t c) -> const std::string& { return row[c]; }) << '\n';
  }
}

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

}  // namespace heddle::cli
