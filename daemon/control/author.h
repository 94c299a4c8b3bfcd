/// Who gives an order, as records and the log of decisions keep it: the user that the kernel says is at the
/// other end, which nobody can make up, and for whom, which the client says. Names are for whoever reads:
/// `heddle` looks them up. Pure.
#pragma once

#include <string>
#include <string_view>

#include "control/visitors.h"

namespace heddle::control {

/// "uid 1000"; "uid 0 for ada" where root's order was asked for with sudo. Printable, and short.
[[nodiscard]] std::string author(const Peer& peer, std::string_view claimed);

}  // namespace heddle::control
