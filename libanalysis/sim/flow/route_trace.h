/// The way of a packet through the forwarding tables, hop by hop, and where it ends.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "sim/flow/forwarding_view.h"

namespace heddle::sim {

enum class RouteEnd : std::uint8_t {
  Delivered,
  NoRoute,  ///< a table without an entry, a loop, a wrong node, a VL that carries no data, or no LID
  LinkOff,  ///< the last hop's link is not Active at both ends
};

/// An output port that the packet leaves by.
struct RouteHop {
  PortIndex port;
  Vl vl;
  friend constexpr bool operator==(const RouteHop&, const RouteHop&) = default;
};

struct RouteTrace {
  RouteEnd end = RouteEnd::NoRoute;
  std::vector<RouteHop> hops;  ///< the source's own port first; never empty
};

/// `from` is a port of a channel adapter or router that has a cable. Reuses the memory of `trace`.
void trace_route(const ForwardingView& view, PortIndex from, Lid to, Sl sl, RouteTrace& trace);

}  // namespace heddle::sim
