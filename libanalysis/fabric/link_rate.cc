#include "fabric/link_rate.h"

#include <array>

namespace heddle {
namespace {

struct WidthRow {
  LinkWidth width;
  int lanes;
  std::string_view name;
};
constexpr std::array width_rows{
    WidthRow{LinkWidth::None, 0, "-"}, WidthRow{LinkWidth::X1, 1, "1x"}, WidthRow{LinkWidth::X2, 2, "2x"},
    WidthRow{LinkWidth::X4, 4, "4x"},  WidthRow{LinkWidth::X8, 8, "8x"}, WidthRow{LinkWidth::X12, 12, "12x"},
};

struct SpeedRow {
  LinkSpeed speed;
  double gbit_per_lane;
  std::string_view name;
};
constexpr std::array speed_rows{
    SpeedRow{LinkSpeed::None, 0, "-"},       SpeedRow{LinkSpeed::Sdr, 2, "SDR"},
    SpeedRow{LinkSpeed::Ddr, 4, "DDR"},      SpeedRow{LinkSpeed::Qdr, 8, "QDR"},
    SpeedRow{LinkSpeed::Fdr10, 10, "FDR10"}, SpeedRow{LinkSpeed::Fdr, 13.64, "FDR"},
    SpeedRow{LinkSpeed::Edr, 25, "EDR"},     SpeedRow{LinkSpeed::Hdr, 50, "HDR"},
    SpeedRow{LinkSpeed::Ndr, 100, "NDR"},    SpeedRow{LinkSpeed::Xdr, 200, "XDR"},
};

const WidthRow& row(LinkWidth width) { return width_rows.at(static_cast<std::size_t>(width)); }
const SpeedRow& row(LinkSpeed speed) { return speed_rows.at(static_cast<std::size_t>(speed)); }

}  // namespace

int lanes(LinkWidth width) { return row(width).lanes; }

BitRate data_rate(LinkWidth width, LinkSpeed speed) {
  return BitRate{row(speed).gbit_per_lane * 1e9 * row(width).lanes};
}

std::string_view to_string(LinkWidth width) { return row(width).name; }
std::string_view to_string(LinkSpeed speed) { return row(speed).name; }

std::optional<LinkWidth> link_width(std::string_view text) {
  for (const auto& candidate : width_rows) {
    if (candidate.name == text) return candidate.width;
  }
  return std::nullopt;
}

std::optional<LinkSpeed> link_speed(std::string_view text) {
  for (const auto& candidate : speed_rows) {
    if (candidate.name == text) return candidate.speed;
  }
  return std::nullopt;
}

}  // namespace heddle
