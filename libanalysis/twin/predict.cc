#include "twin/predict.h"

#include <algorithm>

#include "sim/flow/flow_plane.h"

namespace heddle::twin {
namespace {

/// What is lost less than by this share of what was got is no loss.
constexpr double least_loss = 0.01;
/// Of links that are full alike the first is told, whatever sums were rounded to.
constexpr double rounding = 1e-9;

bool is_switch(const Fabric& fabric, PortIndex port) {
  return fabric.node(fabric.port(port).node).type == NodeType::Switch;
}

bool joins_switches(const Fabric& fabric, PortIndex port) {
  const LinkIndex index = fabric.port(port).link;
  if (index == no_link) return false;
  const Link& link = fabric.link(index);
  return is_switch(fabric, fabric.port_index(link.a)) && is_switch(fabric, fabric.port_index(link.b));
}

}  // namespace

void find_busiest(const View& view, Prediction& found) {
  const Fabric& fabric = view.description();
  found.share.assign(fabric.ports().size(), 0);
  for (std::uint32_t i = 0; i < fabric.ports().size(); ++i) {
    const PortIndex port{i};
    if (!view.forwards(port)) continue;
    const double rate = view.rate(port).value();
    found.share[i] = rate > 0 ? found.load[i] / rate : 0;
    if (!joins_switches(fabric, port)) {
      found.largest_of_hosts = std::max(found.largest_of_hosts, found.share[i]);
    } else if (found.busiest == no_port || found.share[i] > found.largest * (1 + rounding)) {
      found.largest = found.share[i];
      found.busiest = port;
    }
  }
}

std::vector<PortIndex> Prediction::busiest_links(const Fabric& fabric, std::size_t most) const {
  std::vector<PortIndex> ports;
  for (std::uint32_t i = 0; i < share.size(); ++i) {
    if (share[i] > 0 && joins_switches(fabric, PortIndex{i})) ports.emplace_back(i);
  }
  std::ranges::stable_sort(ports, std::greater{}, [&](PortIndex port) { return share[port.raw()]; });
  ports.resize(std::min(ports.size(), most));
  return ports;
}

Result<Prediction> predict(const View& view, const Fill& fill, Picoseconds at, unsigned plane_in_use) {
  sim::FlowPlane plane{view};
  plane.open_on(static_cast<std::uint8_t>(plane_in_use));
  if (const auto filled = fill(plane); !filled) return fail(filled.error());
  plane.advance(at);
  const Fabric& fabric = view.description();
  Prediction found;
  const sim::FlowFigures figures = plane.figures(at);
  found.flows = figures.flows;
  found.unroutable = figures.unroutable;
  found.wanted = figures.wanted.value();
  found.carried = figures.delivered.value();
  found.load.assign(fabric.ports().size(), 0);
  for (std::uint32_t i = 0; i < fabric.ports().size(); ++i) {
    if (view.forwards(PortIndex{i})) found.load[i] = plane.sent(PortIndex{i}, at).value();
  }
  find_busiest(view, found);
  found.of_host.assign(fabric.nodes().size(), 0);
  for (const sim::TrafficId id : plane.ids()) {
    const double rate = plane.rate(id, at).value();
    for (const PortIndex end : {plane.flow(id).from, plane.flow(id).to})
      found.of_host[fabric.port(end).node.raw()] += rate;
  }
  plane.set_schedule(nullptr);
  return found;
}

std::vector<Loser> losers(const Prediction& before, const Prediction& after) {
  std::vector<Loser> all;
  for (std::uint32_t i = 0; i < before.of_host.size(); ++i) {
    const double had = before.of_host[i];
    if (after.of_host[i] < had * (1 - least_loss)) all.push_back({NodeIndex{i}, had, after.of_host[i]});
  }
  std::ranges::stable_sort(all, std::greater{},
                           [](const Loser& loser) { return loser.before - loser.after; });
  return all;
}

}  // namespace heddle::twin
