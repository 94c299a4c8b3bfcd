/// Tables as the members of a JSON object, wherever they are written so: in what operators push, in what is
/// kept, in the plan for OpenSM's plugin. Pure.
#pragma once

#include <boost/json/object.hpp>

#include "base/result.h"
#include "qos/tables.h"

namespace heddle::qos {

/// Reads "vlarb_high": [[vl, weight], ...], "vlarb_low" (if there), "high_limit" and "sl2vl" (if there);
/// other members are others' business. Errors (Invalid) begin with the member's name.
[[nodiscard]] Result<Tables> read_tables(const boost::json::object& object);

}  // namespace heddle::qos
