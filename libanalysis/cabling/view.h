/// What differs from a plan, as JSON (docs/cabling.md).
#pragma once

#include <boost/json/object.hpp>

#include "cabling/check.h"

namespace heddle::cabling {

[[nodiscard]] boost::json::object view(const CableCheck& check);

}  // namespace heddle::cabling
