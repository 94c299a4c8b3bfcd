#include "mad/survey.h"

#include <fmt/format.h>

#include "base/printable.h"
#include "mad/header.h"

namespace heddle {

std::optional<std::vector<PortNum>> route_to(const Survey& survey, LinkEnd end) {
  const SurveyNode& node = survey.node(end.node);
  if (node.is_switch()) return node.path;
  if (end.node == survey.local && end.port == node.info.local_port) return std::vector<PortNum>{};
  const auto peer = survey.fabric->peer(end);
  if (!peer || !survey.node(peer->node).is_switch()) return std::nullopt;
  std::vector<PortNum> path = survey.node(peer->node).path;
  if (path.size() >= mad::DirectedRoute::max_hops) return std::nullopt;
  path.push_back(peer->port);
  return path;
}

void take_routes(const Survey& from, Survey& to) {
  for (SurveyNode& node : to.nodes) {
    const NodeIndex there = from.fabric->find_node(node.guid());
    if (there != no_node) node.path = from.node(there).path;
  }
}

std::string name_of(const SurveyNode& node) {
  return fmt::format("{} ({})", in_quotes(node.description), to_string(node.guid()));
}

std::string name_of(const SurveyNode& node, PortNum port) {
  return fmt::format("port {} of {}", port.raw(), name_of(node));
}

}  // namespace heddle
