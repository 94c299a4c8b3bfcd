#include "fabric/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "fabric/links.h"

namespace heddle {
namespace {

/// Union of nodes by path halving.
class Islands {
 public:
  explicit Islands(std::size_t nodes) : parent_(nodes), count_{nodes} {
    std::iota(parent_.begin(), parent_.end(), 0U);
  }
  void join(NodeIndex a, NodeIndex b) {
    const std::uint32_t x = root(a.raw());
    const std::uint32_t y = root(b.raw());
    if (x == y) return;
    parent_[x] = y;
    --count_;
  }
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  std::uint32_t root(std::uint32_t node) {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
  }

  std::vector<std::uint32_t> parent_;
  std::size_t count_;
};

}  // namespace

FabricSummary summarize(const Fabric& fabric) {
  FabricSummary summary;
  summary.switches = fabric.switch_count();
  summary.channel_adapters = fabric.channel_adapter_count();
  summary.routers = fabric.nodes().size() - summary.switches - summary.channel_adapters;
  summary.links = fabric.links().size();
  summary.ports = fabric.ports().size() - fabric.nodes().size();
  for (const Node& node : fabric.nodes()) {
    if (node.aggregation) ++summary.aggregation_nodes;
    if (node.type == NodeType::Switch) ++summary.switches_by_ports[node.port_count];
  }
  const auto has_lid = [](const Port& port) { return port.lid != no_lid; };
  summary.lids = static_cast<std::size_t>(std::ranges::count_if(fabric.ports(), has_lid));
  Islands islands{fabric.nodes().size()};
  for (const Link& link : fabric.links()) {
    islands.join(link.a.node, link.b.node);
    ++summary.links_by_rate[{link.width, link.speed}];
    if (joins_switches(fabric, link)) ++summary.switch_links;
  }
  summary.islands = islands.count();
  return summary;
}

std::string to_string(const FabricSummary& s) {
  const auto counted = [](std::size_t count, const char* one, const char* more) {
    return fmt::format("{} {}", count, count == 1 ? one : more);
  };
  std::string text = counted(s.switches, "switch", "switches");
  const char* separator = " (";
  for (const auto& [ports, switches] : s.switches_by_ports) {
    text += fmt::format("{}{} with {} ports", std::exchange(separator, ", "), switches, ports);
  }
  if (s.switches > 0) text += ")";
  text += '\n' + counted(s.channel_adapters, "channel adapter", "channel adapters");
  if (s.aggregation_nodes > 0) text += fmt::format(", {} of them aggregation nodes", s.aggregation_nodes);
  if (s.routers > 0) text += '\n' + counted(s.routers, "router", "routers");
  text += '\n' + counted(s.links, "link", "links") +
          fmt::format(", {} of them between switches\n", s.switch_links);
  for (const auto& [rate, links] : s.links_by_rate) {
    text += fmt::format("  {} at {}{}\n", links, to_string(rate.first), to_string(rate.second));
  }
  text += counted(s.ports, "port", "ports") + fmt::format(", {} with a LID\n", s.lids);
  if (s.islands > 1) text += fmt::format("{} parts that no cable joins\n", s.islands);
  return text;
}

}  // namespace heddle
