#include "fabric/planes.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace heddle {
namespace {

/// The switches that may be the planes of one system, by GUID.
using System = std::vector<NodeIndex>;

std::vector<System> systems_of(const Fabric& fabric) {
  std::map<std::pair<std::uint64_t, std::uint8_t>, System> by_housing;
  for (std::uint32_t i = 0; i < fabric.nodes().size(); ++i) {
    const Node& node = fabric.node(NodeIndex{i});
    if (node.type != NodeType::Switch || node.system_image_guid == 0) continue;
    by_housing[{node.system_image_guid, node.port_count}].push_back(NodeIndex{i});
  }
  std::vector<System> systems;
  for (auto& [housing, system] : by_housing) {
    if (system.size() < 2) continue;
    std::ranges::sort(system, {}, [&](NodeIndex node) { return fabric.node(node).guid; });
    systems.push_back(std::move(system));
  }
  return systems;
}

class Finder {
 public:
  explicit Finder(const Fabric& fabric) : fabric_{fabric}, systems_{systems_of(fabric)} {
    for (std::size_t s = 0; s < systems_.size(); ++s) {
      for (const NodeIndex node : systems_[s]) system_of_.emplace(node.raw(), s);
    }
  }

  /// The links of this port of all switches of the system, if they are planes.
  [[nodiscard]] std::optional<std::vector<LinkIndex>> planes_at(const System& system, PortNum port) const {
    std::vector<LinkIndex> links;
    std::vector<LinkEnd> ends;
    for (const NodeIndex node : system) {
      const LinkIndex link = fabric_.port(LinkEnd{node, port}).link;
      if (link == no_link || fabric_.link(link).speed != LinkSpeed::Xdr) return std::nullopt;
      links.push_back(link);
      ends.push_back(*fabric_.peer({node, port}));
    }
    return is_system(ends) || is_adapter(ends) ? std::optional{links} : std::nullopt;
  }

  [[nodiscard]] const std::vector<System>& systems() const { return systems_; }

 private:
  [[nodiscard]] bool is_system(const std::vector<LinkEnd>& ends) const {
    const auto system = system_of_.find(ends.front().node.raw());
    if (system == system_of_.end() || systems_[system->second].size() != ends.size()) return false;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (ends[i].node != systems_[system->second][i] || ends[i].port != ends.front().port) return false;
    }
    return true;
  }
  [[nodiscard]] bool is_adapter(const std::vector<LinkEnd>& ends) const {
    const Node& first = fabric_.node(ends.front().node);
    if (first.type != NodeType::ChannelAdapter) return false;
    for (std::size_t i = 1; i < ends.size(); ++i) {
      const Node& node = fabric_.node(ends[i].node);
      const bool same_housing =
          first.system_image_guid != 0 && node.system_image_guid == first.system_image_guid;
      if (node.type != NodeType::ChannelAdapter || (ends[i].node != ends.front().node && !same_housing)) {
        return false;
      }
    }
    return true;
  }

  const Fabric& fabric_;
  std::vector<System> systems_;
  std::unordered_map<std::uint32_t, std::size_t> system_of_;
};

}  // namespace

Planes::Planes(const Fabric& fabric) {
  const auto is_xdr = [](const Link& link) { return link.speed == LinkSpeed::Xdr; };
  if (std::ranges::none_of(fabric.links(), is_xdr)) return;
  const Finder finder{fabric};
  if (finder.systems().empty()) return;
  planes_.resize(fabric.links().size());
  for (const System& system : finder.systems()) {
    for (unsigned p = 1; p <= fabric.node(system.front()).port_count; ++p) {
      const auto links = finder.planes_at(system, PortNum{static_cast<std::uint8_t>(p)});
      if (!links) continue;
      for (unsigned i = 0; i < links->size(); ++i) {
        planes_[(*links)[i].raw()] = {i + 1, static_cast<unsigned>(links->size())};
      }
    }
  }
}

}  // namespace heddle
