#include "web/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <map>
#include <utility>

#include "base/text.h"
#include "web/digest.h"
#include "web/layout.h"

namespace heddle::web {
namespace {

std::string json_text(const std::string& text) { return boost::json::serialize(boost::json::string(text)); }

template <class Range, class Write>
void list(std::string& text, const char* name, const Range& range, Write write) {
  append_to(text, R"("{}":[)", name);
  bool first = true;
  for (const auto& item : range) {
    if (!std::exchange(first, false)) text += ',';
    write(item);
  }
  text += ']';
}

template <class Range>
void numbers(std::string& text, const char* name, const Range& range) {
  list(text, name, range, [&](auto item) { append_to(text, "{}", item); });
}

char type_letter(const Node& node) {
  if (node.type == NodeType::Switch) return 's';
  if (node.type == NodeType::Router) return 'r';
  return node.aggregation ? 'a' : 'c';
}

unsigned lid_of(const Fabric& fabric, const Node& node) {
  for (unsigned p = 0; p <= node.port_count; ++p) {
    const Port& port = fabric.port(PortIndex{node.first_port.raw() + p});
    if (port.lid != no_lid) return port.lid.raw();
  }
  return 0;
}

void write_nodes(std::string& text, const control::DaemonState& state, const Fabric& fabric) {
  text += R"("nodes":{)";
  list(text, "name", fabric.nodes(), [&](const Node& node) { text += json_text(state.name(node)); });
  text += ',';
  list(text, "guid", fabric.nodes(),
       [&](const Node& node) { append_to(text, R"("{}")", to_string(node.guid)); });
  text += R"(,"type":")";
  for (const Node& node : fabric.nodes()) text += type_letter(node);
  text += "\",";
  list(text, "lid", fabric.nodes(), [&](const Node& node) { append_to(text, "{}", lid_of(fabric, node)); });
  text += ',';
  list(text, "ports", fabric.nodes(), [&](const Node& node) { append_to(text, "{}", node.port_count); });
  text += '}';
}

void write_links(std::string& text, const Fabric& fabric) {
  std::map<std::pair<LinkWidth, LinkSpeed>, std::size_t> rates;
  for (const Link& link : fabric.links()) rates.try_emplace({link.width, link.speed}, 0);
  std::size_t next = 0;
  for (auto& [rate, index] : rates) index = next++;
  const auto column = [&](const char* name, auto figure) {
    list(text, name, fabric.links(), [&](const Link& link) { append_to(text, "{}", figure(link)); });
  };
  text += R"("links":{)";
  column("a", [](const Link& link) { return link.a.node.raw(); });
  text += ',';
  column("a_port", [](const Link& link) { return link.a.port.raw(); });
  text += ',';
  column("b", [](const Link& link) { return link.b.node.raw(); });
  text += ',';
  column("b_port", [](const Link& link) { return link.b.port.raw(); });
  text += ',';
  column("rate", [&](const Link& link) { return rates.at({link.width, link.speed}); });
  text += "},";
  list(text, "rates", rates, [&](const auto& entry) {
    const auto [width, speed] = entry.first;
    append_to(text, R"({{"width":"{}","speed":"{}","gbit":{}}})", to_string(width), to_string(speed),
              data_rate(width, speed).value() / 1e9);
  });
}

void write_layout(std::string& text, const Fabric& fabric) {
  const Layout layout = find_layout(fabric);
  text += R"("layout":{)";
  switch (layout.kind) {
    case Layout::Kind::Levels:
      text += R"("kind":"levels",)";
      numbers(text, "level", layout.level);
      break;
    case Layout::Kind::Grid:
      text += R"("kind":"grid",)";
      numbers(text, "sizes", layout.sizes);
      text += ',';
      numbers(text, "place", layout.place);
      break;
    case Layout::Kind::Free:
      text += R"("kind":"free")";
      break;
  }
  text += '}';
}

/// The switches that hosts of the set hang at, and those with a cable that leaves it.
std::vector<std::uint32_t> switches_of(const Fabric& fabric, const std::vector<PortIndex>& endpoints,
                                       std::span<const PortIndex> borders) {
  std::vector<std::uint32_t> nodes;
  const auto add = [&](NodeIndex node) {
    if (fabric.node(node).type == NodeType::Switch) nodes.push_back(node.raw());
  };
  for (const PortIndex port : endpoints) {
    const Port& end = fabric.port(port);
    if (const auto peer = fabric.peer({end.node, end.num})) add(peer->node);
  }
  for (const PortIndex port : borders) add(fabric.port(port).node);
  std::ranges::sort(nodes);
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

void write_sets(std::string& text, const control::DaemonState& state, const Fabric& fabric) {
  const auto& names = state.sample->set_names;
  std::vector<std::size_t> positions(names ? names->size() : 0);
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = i;
  // The sampler may be on its way to another fabric.
  const bool known = state.sets && names && state.sets->names() == names;
  list(text, "sets", positions, [&](std::size_t i) {
    const auto endpoints = known ? state.sets->endpoints(i) : std::vector<PortIndex>{};
    const auto borders = known ? state.sets->borders(i) : std::span<const PortIndex>{};
    append_to(text, R"({{"name":{},"hosts":{},)", json_text((*names)[i]), endpoints.size());
    numbers(text, "switches", switches_of(fabric, endpoints, borders));
    text += '}';
  });
}

}  // namespace

Topology make_topology(const control::DaemonState& state) {
  const Fabric& fabric = *state.sample->fabric;
  std::string text;
  write_nodes(text, state, fabric);
  text += ',';
  write_links(text, fabric);
  text += ',';
  write_layout(text, fabric);
  text += ',';
  write_sets(text, state, fabric);
  Topology topology;
  topology.shape = hex_digest(text);
  topology.text =
      std::make_shared<const std::string>(fmt::format(R"({{"shape":"{}",{}}})", topology.shape, text));
  return topology;
}

}  // namespace heddle::web
