#include "heddle/fabric_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "base/text.h"
#include "fabric/dot.h"
#include "fabric/ibnetdiscover.h"
#include "fabric/link_name.h"
#include "fabric/unique_names.h"

namespace heddle::cli {
namespace {

namespace json = boost::json;

std::string_view type_name(const Node& node) {
  switch (node.type) {
    case NodeType::Switch:
      return "switch";
    case NodeType::Router:
      return "router";
    case NodeType::ChannelAdapter:
      break;
  }
  return node.aggregation ? "aggregation" : "ca";
}

std::span<const Port> ports_of(const Fabric& fabric, const Node& node) {
  return fabric.ports().subspan(node.first_port.raw(), node.port_count + 1U);
}

Lid first_lid(const Fabric& fabric, const Node& node) {
  const auto ports = ports_of(fabric, node);
  const auto port = std::ranges::find_if(ports, [](const Port& p) { return p.lid != no_lid; });
  return port == ports.end() ? no_lid : port->lid;
}

json::object end_json(const Fabric& fabric, LinkEnd end, const ShownNames& names) {
  const Node& node = fabric.node(end.node);
  return {{"node", names.of(node)},
          {"guid", to_string(node.guid)},
          {"port", end.port.raw()},
          {"type", type_name(node)}};
}

json::object fabric_json(const Fabric& fabric, const NodeNames& given) {
  const ShownNames names{given, fabric};
  json::array nodes;
  for (const Node& node : fabric.nodes()) {
    const auto external = ports_of(fabric, node).subspan(1);
    const auto cabled = std::ranges::count_if(external, [](const Port& p) { return p.link != no_link; });
    nodes.push_back({{"name", names.of(node)},
                     {"guid", to_string(node.guid)},
                     {"type", type_name(node)},
                     {"lid", first_lid(fabric, node).raw()},
                     {"ports", node.port_count},
                     {"cabled", cabled},
                     {"active", std::ranges::count(external, PortState::Active, &Port::state)}});
  }
  json::array links;
  for (const Link& link : fabric.links()) {
    links.push_back({{"a", end_json(fabric, link.a, names)},
                     {"b", end_json(fabric, link.b, names)},
                     {"width", to_string(link.width)},
                     {"speed", to_string(link.speed)}});
  }
  return {{"epoch", fabric.epoch()}, {"nodes", std::move(nodes)}, {"links", std::move(links)}};
}

std::string listing(const std::shared_ptr<const Fabric>& fabric, const NodeNames& names) {
  const FabricNames texts{fabric, names};
  std::string text;
  for (std::uint32_t n = 0; n < fabric->nodes().size(); ++n) {
    const Node& node = fabric->nodes()[n];
    append_to(text, "{} {} {} ports {} lid {}\n", type_name(node), to_string(node.guid),
              texts.node(NodeIndex{n}), node.port_count, first_lid(*fabric, node).raw());
  }
  for (std::uint32_t l = 0; l < fabric->links().size(); ++l) {
    const Link& link = fabric->links()[l];
    append_to(text, "link {} {}{}\n", texts.link(LinkIndex{l}), to_string(link.width), to_string(link.speed));
  }
  return text;
}

json::array guids_json(const std::vector<NodeGuid>& guids) {
  json::array result;
  for (const NodeGuid guid : guids) result.emplace_back(to_string(guid));
  return result;
}

json::array links_json(const std::vector<LinkRef>& links) {
  json::array result;
  for (const LinkRef& link : links) result.push_back({{"a", to_string(link.a)}, {"b", to_string(link.b)}});
  return result;
}

json::object status_json(const PortStatus& status) {
  return {{"state", to_string(status.state)}, {"physical", to_string(status.physical)},
          {"width", to_string(status.width)}, {"speed", to_string(status.speed)},
          {"lid", status.lid.raw()},          {"lmc", status.lmc}};
}

}  // namespace

std::string fabric_text(const std::shared_ptr<const Fabric>& fabric, FabricFormat format,
                        const NodeNames& names) {
  switch (format) {
    case FabricFormat::Text:
      break;
    case FabricFormat::Json:
      return json::serialize(fabric_json(*fabric, names)) + "\n";
    case FabricFormat::Dot:
      return write_dot(*fabric, names);
    case FabricFormat::Ibnetdiscover:
      return write_ibnetdiscover(*fabric);
    case FabricFormat::SlurmTopology:  // have warnings besides their text: the command writes them
    case FabricFormat::SlurmBlocks:
      break;
  }
  return listing(fabric, names);
}

json::object summary_json(const FabricSummary& s) {
  json::object switches_by_ports;
  for (const auto& [ports, switches] : s.switches_by_ports)
    switches_by_ports[std::to_string(ports)] = switches;
  json::object links_by_rate;
  for (const auto& [rate, links] : s.links_by_rate) {
    links_by_rate[fmt::format("{}{}", to_string(rate.first), to_string(rate.second))] = links;
  }
  return {{"switches", s.switches},
          {"channel_adapters", s.channel_adapters},
          {"aggregation_nodes", s.aggregation_nodes},
          {"routers", s.routers},
          {"links", s.links},
          {"switch_links", s.switch_links},
          {"ports", s.ports},
          {"lids", s.lids},
          {"islands", s.islands},
          {"switches_by_ports", std::move(switches_by_ports)},
          {"links_by_rate", std::move(links_by_rate)}};
}

json::object change_json(const FabricChange& change) {
  json::array ports;
  for (const PortChange& port : change.ports_changed) {
    ports.push_back({{"port", to_string(port.port)},
                     {"before", status_json(port.before)},
                     {"after", status_json(port.after)}});
  }
  return {{"same", change.empty()},
          {"nodes_added", guids_json(change.nodes_added)},
          {"nodes_removed", guids_json(change.nodes_removed)},
          {"nodes_renamed", guids_json(change.nodes_renamed)},
          {"links_added", links_json(change.links_added)},
          {"links_removed", links_json(change.links_removed)},
          {"ports_changed", std::move(ports)}};
}

}  // namespace heddle::cli
