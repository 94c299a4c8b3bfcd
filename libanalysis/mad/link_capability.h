/// What two ports could agree on, by their PortInfos.
#pragma once

#include <cstdint>

#include "fabric/link_rate.h"
#include "mad/attributes.h"

namespace heddle::mad {

struct LinkMode {
  LinkWidth width = LinkWidth::None;
  LinkSpeed speed = LinkSpeed::None;  ///< never FDR10, which PortInfo does not tell from QDR
  friend constexpr bool operator==(const LinkMode&, const LinkMode&) = default;
};

enum class By : std::uint8_t {
  Enabled,    ///< what both are allowed
  Supported,  ///< what both are able to
};

/// The widest and fastest that both ends have; None where they have nothing in common.
[[nodiscard]] LinkMode best_common(const PortInfo& a, const PortInfo& b, By by);

}  // namespace heddle::mad
