#include "metrics/exposition.h"

namespace heddle::metrics {
namespace {

bool concerns(const Family& family, const Node& node) {
  switch (family.of) {
    case Family::Of::Switches:
      return node.type == NodeType::Switch;
    case Family::Of::Hosts:
      return node.type != NodeType::Switch;
    case Family::Of::Nodes:
      return true;
    case Family::Of::Fabric:
      return false;
  }
  return false;
}

}  // namespace

Exposition::Exposition(std::string daemon, Source source)
    : daemon_{std::move(daemon)}, source_{std::move(source)} {}

bool Exposition::next(std::string& out, std::size_t least) {
  const std::size_t enough = out.size() + least;
  out.append(daemon_);
  daemon_.clear();
  if (!source_.sample) return false;
  const auto nodes = source_.labels->fabric().nodes();
  while (family_ < families().size()) {
    const Family& family = families()[family_];
    if (!headed_) append_head(family, out);
    headed_ = true;
    if (family.of == Family::Of::Fabric) {
      family.write(family, source_, no_node, out);
    } else {
      while (node_ < nodes.size()) {
        if (out.size() >= enough) return true;
        const NodeIndex node{static_cast<std::uint32_t>(node_++)};
        if (concerns(family, nodes[node.raw()])) family.write(family, source_, node, out);
      }
    }
    headed_ = false;
    node_ = 0;
    ++family_;
  }
  return false;
}

std::string Exposition::rest() {
  std::string out;
  while (next(out)) {
  }
  return out;
}

}  // namespace heddle::metrics
