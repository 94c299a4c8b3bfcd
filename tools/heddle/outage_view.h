/// What the fabric loses when something is taken out, in text: for what-if, and for drains.
#pragma once

#include <string>

#include "fabric/link_name.h"
#include "heddle/command.h"
#include "routing/outage.h"

namespace heddle::cli {

void print_outage(const routing::Outage& now, const routing::Outage& then, const FabricNames& known,
                  Context& context);
/// Of a load, beside that of the whole fabric.
[[nodiscard]] std::string times(double load, double now);

}  // namespace heddle::cli
