#include "load/switches_like.h"

#include <fmt/format.h>

#include "base/printable.h"
#include "load/glob.h"

namespace heddle::load {

bool is_pattern(std::string_view text) { return text.find_first_of("*?[") != std::string_view::npos; }

Result<std::vector<NodeIndex>> switches_like(std::string_view pattern, const FabricNames& known) {
  std::vector<NodeIndex> found;
  const Fabric& fabric = known.fabric();
  for (std::uint32_t i = 0; i < fabric.nodes().size(); ++i) {
    const Node& node = fabric.node(NodeIndex{i});
    if (node.type != NodeType::Switch) continue;
    if (glob_matches(pattern, known.node(NodeIndex{i})) || glob_matches(pattern, node.description))
      found.push_back(NodeIndex{i});
  }
  if (found.empty())
    return fail(ErrorCode::NotFound,
                fmt::format("no switch's name fits the pattern '{}'", printable(pattern)));
  return found;
}

}  // namespace heddle::load
