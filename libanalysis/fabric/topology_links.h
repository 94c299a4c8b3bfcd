/// Nodes as a list of links tells of them: each line names both ends, and a node comes into being when it is
/// first named. For the readers of ibdiagnet's and iblinkinfo's texts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fabric/topology_records.h"
#include "fabric/topology_scanner.h"

namespace heddle::topology {

/// Takes the next line off a text.
[[nodiscard]] std::string_view take_line(std::string_view& text);

/// Looks at the lines that a text begins with, for what tells formats apart.
template <class Matches>
[[nodiscard]] bool begins_with_a_line(std::string_view text, Matches matches) {
  constexpr int most = 200;
  for (int i = 0; i < most && !text.empty(); ++i) {
    std::string_view line = take_line(text);
    while (!line.empty() && is_space(line.front())) line.remove_prefix(1);
    if (matches(line)) return true;
  }
  return false;
}

class LinkNodes {
 public:
  explicit LinkNodes(const std::string& file) { records_.files.push_back(file); }

  /// The node of this GUID, added if it is not there. A reference into a growing list: do not keep it.
  NodeRecord& node(NodeGuid guid, NodeType type, std::string_view description, Place place);
  [[nodiscard]] Findings& findings() { return records_.findings; }
  [[nodiscard]] std::string at(Place place) const { return records_.at(place); }
  [[nodiscard]] std::vector<NodeRecord>& nodes() { return records_.nodes; }
  [[nodiscard]] Records take() { return std::move(records_); }

 private:
  Records records_;
  std::unordered_map<NodeGuid, std::size_t> by_guid_;
};

}  // namespace heddle::topology
