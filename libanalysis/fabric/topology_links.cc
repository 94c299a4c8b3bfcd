#include "fabric/topology_links.h"

#include <utility>

namespace heddle::topology {

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  while (!line.empty() && is_space(line.back())) line.remove_suffix(1);
  return line;
}

NodeRecord& LinkNodes::node(NodeGuid guid, NodeType type, std::string_view description, Place place) {
  const auto [known, is_first] = by_guid_.emplace(guid, records_.nodes.size());
  if (!is_first) return records_.nodes[known->second];
  NodeRecord record;
  record.place = place;
  record.name = to_string(guid);
  record.node.guid = guid;
  record.node.type = type;
  record.node.description = description;
  record.node.port_count = 1;  // that a line tells of
  record.port0_guid = PortGuid{guid.raw()};
  records_.nodes.push_back(std::move(record));
  return records_.nodes.back();
}

}  // namespace heddle::topology
