/// What the fabric loses when something is taken out, in text and in JSON: for what-if, and for drains.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "fabric/link_name.h"
#include "heddle/command.h"
#include "routing/outage.h"

namespace heddle::cli {

/// What fails, by names of nodes and links. Errors: of FabricNames, for what is neither.
[[nodiscard]] Result<routing::Failure> failure_of(const std::vector<std::string>& names,
                                                  const FabricNames& known);

[[nodiscard]] boost::json::object to_json(const routing::Outage& outage, const FabricNames& known);
void print_outage(const routing::Outage& now, const routing::Outage& then, const FabricNames& known,
                  Context& context);
/// Of a load, beside that of the whole fabric.
[[nodiscard]] std::string times(double load, double now);

}  // namespace heddle::cli
