// Codes of width, speed and VLs in PortInfo (IBA 14.2.5.6).

#include <array>

#include "mad/attributes.h"
#include "mad/link_capability.h"

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
  std::uint8_t ext2;  ///< LinkSpeedExt*2
};
constexpr std::array speed_codes{SpeedCode{LinkSpeed::Sdr, 1, 0, 0}, SpeedCode{LinkSpeed::Ddr, 2, 0, 0},
                                 SpeedCode{LinkSpeed::Qdr, 4, 0, 0}, SpeedCode{LinkSpeed::Fdr, 4, 1, 0},
                                 SpeedCode{LinkSpeed::Edr, 4, 2, 0}, SpeedCode{LinkSpeed::Hdr, 4, 4, 0},
                                 SpeedCode{LinkSpeed::Ndr, 4, 8, 0}, SpeedCode{LinkSpeed::Xdr, 4, 0, 1}};
/// Extended speeds that come before XDR: what its ports can run at besides.
constexpr std::uint8_t all_before_xdr = 0xf;

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
  // A code that means nothing is no speed, and certainly not the QDR that stands beside it.
  if (info.link_speed_ext2_active != 0) {
    return info.link_speed_ext2_active == 1 ? LinkSpeed::Xdr : LinkSpeed::None;
  }
  if (info.link_speed_ext_active != 0) {
    for (const auto& row : speed_codes) {
      if (row.ext != 0 && row.ext == info.link_speed_ext_active) return row.speed;
    }
    return LinkSpeed::None;
  }
  if (info.link_speed_active == 4 && ext != nullptr && (ext->link_speed_active & 1U) != 0)
    return LinkSpeed::Fdr10;
  for (const auto& row : speed_codes) {
    if (row.ext == 0 && row.ext2 == 0 && row.base == info.link_speed_active) return row.speed;
  }
  return LinkSpeed::None;
}

bool hides_speed(const PortInfo& info, std::uint32_t capability_mask) {
  return (capability_mask & port_cap::extended_speeds) != 0 && info.link_speed_ext_supported == 0 &&
         info.link_speed_ext2_supported == 0;
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
    info.link_speed_ext_supported = row.ext2 != 0 ? all_before_xdr : up_to(row.ext);
    info.link_speed_ext_enabled = info.link_speed_ext_supported;
    info.link_speed_ext2_active = row.ext2;
    info.link_speed_ext2_supported = row.ext2;
    info.link_speed_ext2_enabled = row.ext2;
  }
}

namespace {

struct Masks {
  std::uint8_t width;
  std::uint8_t base;
  std::uint8_t ext;
  std::uint8_t ext2;
};

/// IBA 14.2.5.6: of what can be enabled, some codes stand for all that is supported, or for none of it.
Masks masks_of(const PortInfo& info, By by) {
  constexpr std::uint8_t all_widths = 255;
  constexpr std::uint8_t all_speeds = 15;
  constexpr std::uint8_t no_extended = 30;
  constexpr std::uint8_t all_extended = 31;
  const Masks supported{info.link_width_supported, info.link_speed_supported, info.link_speed_ext_supported,
                        info.link_speed_ext2_supported};
  if (by == By::Supported) return supported;
  Masks enabled{info.link_width_enabled, info.link_speed_enabled, info.link_speed_ext_enabled,
                info.link_speed_ext2_enabled};
  if (enabled.width == all_widths) enabled.width = supported.width;
  if (enabled.base == all_speeds) enabled.base = supported.base;
  if (enabled.ext == all_extended) enabled.ext = supported.ext;
  if (enabled.ext == no_extended) enabled.ext = 0;
  return enabled;
}

}  // namespace

LinkMode best_common(const PortInfo& a, const PortInfo& b, By by) {
  const Masks of_a = masks_of(a, by);
  const Masks of_b = masks_of(b, by);
  LinkMode best;
  for (const auto& row : width_codes) {
    if ((of_a.width & of_b.width & row.bit) != 0 && lanes(row.width) > lanes(best.width)) {
      best.width = row.width;
    }
  }
  for (const auto& row : speed_codes) {
    // A row names the one mask that tells its speed from the others.
    const unsigned both = row.ext2 != 0  ? of_a.ext2 & of_b.ext2 & row.ext2
                          : row.ext != 0 ? of_a.ext & of_b.ext & row.ext
                                         : of_a.base & of_b.base & row.base;
    if (both != 0 && row.speed > best.speed) best.speed = row.speed;
  }
  return best;
}

int data_vls(std::uint8_t code) {
  constexpr std::array counts{0, 1, 2, 4, 8, 15};
  return code < counts.size() ? counts[code] : 0;
}

}  // namespace heddle::mad
