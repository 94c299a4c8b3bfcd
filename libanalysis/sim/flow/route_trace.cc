#include "sim/flow/route_trace.h"

#include <algorithm>

namespace heddle::sim {
namespace {

/// Never used for data (IBA 7.6.4); a packet whose SL maps to it is dropped.
constexpr Vl management_vl{15};

/// Leaves each port once: the way into the loop and one round. Precondition: the last port is in the loop,
/// and stands there at least twice.
void cut_loop(std::vector<RouteHop>& hops) {
  const auto same_port = [&](const RouteHop& hop) { return hop.port == hops.back().port; };
  const auto before = std::find_if(hops.rbegin() + 1, hops.rend(), same_port);
  const auto round = static_cast<std::size_t>(before - hops.rbegin());
  std::size_t entry = 0;
  while (hops[entry].port != hops[entry + round].port) ++entry;
  hops.resize(entry + round);
}

}  // namespace

void trace_route(const ForwardingView& view, PortIndex from, Lid to, Sl sl, RouteTrace& trace) {
  const Fabric& fabric = view.description();
  trace.end = RouteEnd::NoRoute;
  trace.hops.clear();
  const PortIndex goal = to == no_lid ? no_port : view.port_of(to);
  PortIndex port = from;
  PortNum in{0};
  // A packet that meets more switches than there are goes round in a loop; after twice as many, the last port
  // has come up before.
  for (std::size_t hops = 0; hops <= 2 * fabric.switch_count() + 1; ++hops) {
    const Port& out = fabric.port(port);
    const Vl vl = view.vl(out.node, in, out.num, sl);
    trace.hops.push_back({port, vl});
    if (!view.forwards(port)) {
      trace.end = RouteEnd::LinkOff;
      return;
    }
    if (goal == no_port || vl >= management_vl) return;
    const LinkEnd entry = *fabric.peer(LinkEnd{out.node, out.num});
    const Node& node = fabric.node(entry.node);
    if (node.type != NodeType::Switch) {
      if (fabric.port_index(entry) == goal) trace.end = RouteEnd::Delivered;
      return;
    }
    if (goal == node.first_port) {
      trace.end = RouteEnd::Delivered;
      return;
    }
    const PortNum next = view.output(entry.node, to);
    if (next.raw() == 0 || next.raw() > node.port_count) return;
    port = fabric.port_index(entry.node, next);
    if (fabric.port(port).link == no_link) {
      trace.hops.push_back({port, vl});
      trace.end = RouteEnd::LinkOff;
      return;
    }
    in = entry.port;
  }
  cut_loop(trace.hops);
}

}  // namespace heddle::sim
