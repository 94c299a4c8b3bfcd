/// How a PortInfo is set without changing what is not meant (facts/regulation.md 3). Pure.
#pragma once

#include <cstdint>

#include "mad/attributes.h"
#include "mad/survey.h"

namespace heddle::mad {

/// A Set writes the whole PortInfo: this is what the port has, with everything that has one at its "no
/// change" value. The M_Key is the one that the Set is sent with, whatever the port says: one that hides it
/// answers 0, and with another one nobody could set the port any more (IBA 14.2.4).
[[nodiscard]] PortInfo unchanged(const PortInfo& has, std::uint64_t m_key);

/// Attribute modifier of a Set(PortInfo): the port, and in bit 31 that extended speeds are understood, where
/// the node knows them.
[[nodiscard]] std::uint32_t modifier_for(const Survey& survey, LinkEnd end);

}  // namespace heddle::mad
