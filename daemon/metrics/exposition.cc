#include "metrics/exposition.h"

namespace heddle::metrics {
namespace {

bool concerns(const Family& family, const Node& node, const Selection& selection) {
  if (selection.ports != PortChoice::All && node.type != NodeType::Switch) return false;
  if (!selection.wants_node(node.guid)) return false;
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

/// What belongs to no node is in the first shard; ports that are gone belong to one.
bool concerns(const Family& family, const Selection& selection) {
  if (!selection.wants_family(family.name)) return false;
  const bool of_hosts = family.of == Family::Of::Hosts || family.name.starts_with("infiniband_hca_");
  if (of_hosts && selection.ports != PortChoice::All) return false;
  return family.of != Family::Of::Fabric || selection.first_shard() || family.name.starts_with("infiniband_");
}

}  // namespace

Exposition::Exposition(std::string daemon, Source source)
    : daemon_{std::move(daemon)}, source_{std::move(source)} {}

bool Exposition::next(std::string& out, std::size_t least) {
  const std::size_t enough = out.size() + least;
  out.append(daemon_);
  daemon_.clear();
  const auto end = [&] {
    if (source_.selection.format == Format::OpenMetrics && !ended_) out.append("# EOF\n");
    ended_ = true;
    return false;
  };
  if (!source_.sample) return end();
  const auto nodes = source_.labels->fabric().nodes();
  while (family_ < families().size()) {
    const Family& family = families()[family_];
    if (!concerns(family, source_.selection)) {
      ++family_;
      continue;
    }
    if (!headed_) append_head(family, source_.selection.format, out);
    headed_ = true;
    if (family.of == Family::Of::Fabric) {
      family.write(family, source_, no_node, out);
    } else {
      while (node_ < nodes.size()) {
        if (out.size() >= enough) return true;
        const NodeIndex node{static_cast<std::uint32_t>(node_++)};
        if (concerns(family, nodes[node.raw()], source_.selection)) family.write(family, source_, node, out);
      }
    }
    headed_ = false;
    node_ = 0;
    ++family_;
  }
  return end();
}

std::string Exposition::rest() {
  std::string out;
  while (next(out)) {
  }
  return out;
}

}  // namespace heddle::metrics
