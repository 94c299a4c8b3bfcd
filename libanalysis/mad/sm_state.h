/// States of a subnet manager in words.
#pragma once

#include <string_view>

#include "mad/attributes.h"

namespace heddle::mad {

[[nodiscard]] std::string_view to_string(SmInfo::State state);

}  // namespace heddle::mad
