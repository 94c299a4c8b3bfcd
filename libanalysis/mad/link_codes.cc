// Codes of width, speed and VLs in PortInfo (IBA 14.2.5.6).

#include <array>

#include "mad/attributes.h"

namespace heddle::mad {
namespace {

struct WidthCode {
  LinkWidth width;
  std::uint8_t bit;
};
constexpr std::array width_codes{WidthCode{LinkWidth::X1, 1}, WidthCode{LinkWidth::X4, 2},
                                 WidthCode{LinkWidth::X8, 4}, WidthCode{LinkWidth::X12, 8},
                                 WidthCode{LinkWidth::X2, 16}};

struct SpeedCode {
  LinkSpeed speed;
  std::uint8_t base;  ///< LinkSpeed*
  std::uint8_t ext;   ///< LinkSpeedExt*
};
constexpr std::array speed_codes{SpeedCode{LinkSpeed::Sdr, 1, 0}, SpeedCode{LinkSpeed::Ddr, 2, 0},
                                 SpeedCode{LinkSpeed::Qdr, 4, 0}, SpeedCode{LinkSpeed::Fdr, 4, 1},
                                 SpeedCode{LinkSpeed::Edr, 4, 2}, SpeedCode{LinkSpeed::Hdr, 4, 4},
                                 SpeedCode{LinkSpeed::Ndr, 4, 8}};

/// All bits up to and including the highest one of `code`.
std::uint8_t up_to(std::uint8_t code) {
  unsigned mask = code;
  mask |= mask >> 1U;
  mask |= mask >> 2U;
  mask |= mask >> 4U;
  return static_cast<std::uint8_t>(mask);
}

}  // namespace

LinkWidth active_width(const PortInfo& info) {
  for (const auto& row : width_codes) {
    if (row.bit == info.link_width_active) return row.width;
  }
  return LinkWidth::None;
}

LinkSpeed active_speed(const PortInfo& info, const MlnxExtPortInfo* ext) {
  // The extended speed counts only where the port says that it has them.
  if ((info.capability_mask & port_cap::extended_speeds) != 0 && info.link_speed_ext_active != 0) {
    for (const auto& row : speed_codes) {
      if (row.ext != 0 && row.ext == info.link_speed_ext_active) return row.speed;
    }
    return LinkSpeed::None;
  }
  if (info.link_speed_active == 4 && ext != nullptr && (ext->link_speed_active & 1U) != 0)
    return LinkSpeed::Fdr10;
  for (const auto& row : speed_codes) {
    if (row.ext == 0 && row.base == info.link_speed_active) return row.speed;
  }
  return LinkSpeed::None;
}

void set_width(LinkWidth width, PortInfo& info) {
  for (const auto& row : width_codes) {
    if (row.width != width) continue;
    info.link_width_active = row.bit;
    // Any port falls back to 1x when lanes fail.
    info.link_width_supported = static_cast<std::uint8_t>(row.bit | 1U);
    info.link_width_enabled = info.link_width_supported;
  }
}

void set_speed(LinkSpeed speed, PortInfo& info) {
  if (speed == LinkSpeed::Fdr10) speed = LinkSpeed::Qdr;
  for (const auto& row : speed_codes) {
    if (row.speed != speed) continue;
    info.link_speed_active = row.base;
    info.link_speed_supported = up_to(row.base);
    info.link_speed_enabled = info.link_speed_supported;
    info.link_speed_ext_active = row.ext;
    info.link_speed_ext_supported = up_to(row.ext);
    info.link_speed_ext_enabled = info.link_speed_ext_supported;
    if (row.ext != 0) info.capability_mask |= port_cap::extended_speeds;
  }
}

int data_vls(std::uint8_t code) {
  constexpr std::array counts{0, 1, 2, 4, 8, 15};
  return code < counts.size() ? counts[code] : 0;
}

}  // namespace heddle::mad
