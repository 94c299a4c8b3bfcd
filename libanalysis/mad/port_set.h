/// How a PortInfo is set without changing what is not meant (facts/regulation.md 3). Pure.
#pragma once

#include <cstdint>

#include "mad/attributes.h"
#include "mad/survey.h"

namespace heddle::mad {

/// A Set writes the whole PortInfo: this is what the port has, with everything that has one at its "no
/// change" value.
[[nodiscard]] PortInfo unchanged(const PortInfo& has);

/// Attribute modifier of a Set(PortInfo): the port, and in bit 31 that extended speeds are understood, where
/// the node knows them.
[[nodiscard]] std::uint32_t modifier_for(const Survey& survey, LinkEnd end);

}  // namespace heddle::mad
