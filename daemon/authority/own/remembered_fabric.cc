#include "authority/own/remembered_fabric.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "fabric/links.h"

namespace heddle::provision {
namespace {

class Addition {
 public:
  Addition(const Fabric& seen, std::span<const SeenCable> cables) : seen_{seen} {
    for (const SeenCable& cable : cables) {
      if (is_free(cable.known.link.a) && is_free(cable.known.link.b)) free_.push_back(&cable);
    }
    join();
    std::erase_if(free_, [this](const SeenCable* cable) {
      return !is_there(cable->known.link.a.node) || !is_there(cable->known.link.b.node);
    });
  }

  [[nodiscard]] bool empty() const { return free_.empty(); }

  [[nodiscard]] std::shared_ptr<const Fabric> build(std::span<const PortLid> lids) const {
    FabricBuilder builder;
    for (const Node& node : seen_.nodes()) {
      const auto index = builder.add_node(node);
      for (unsigned p = 0; index && p <= node.port_count; ++p)
        (void)builder.set_port(*index, seen_.port(PortIndex{node.first_port.raw() + p}));
    }
    add_switches(builder, lids);
    for (const Link& link : seen_.links()) (void)builder.add_link(link.a, link.b, link.width, link.speed);
    const auto usual = usual_rate();
    for (const SeenCable* const cable : free_) {
      const LinkEnd a = end_of(builder, cable->known.link.a);
      const LinkEnd b = end_of(builder, cable->known.link.b);
      const auto [width, speed] =
          cable->known.width == LinkWidth::None ? usual : std::pair{cable->known.width, cable->known.speed};
      (void)builder.add_link(a, b, width, speed);
      set_as_found(builder, a);
      set_as_found(builder, b);
    }
    return builder.build(seen_.epoch());
  }

 private:
  /// That most cables between switches have.
  [[nodiscard]] std::pair<LinkWidth, LinkSpeed> usual_rate() const {
    std::map<std::pair<LinkWidth, LinkSpeed>, std::size_t> counts;
    for (const Link& link : seen_.links())
      if (joins_switches(seen_, link)) ++counts[{link.width, link.speed}];
    const auto most =
        std::ranges::max_element(counts, {}, [](const auto& counted) { return counted.second; });
    return most == counts.end() ? std::pair{LinkWidth::None, LinkSpeed::None} : most->first;
  }

  struct Switch {
    std::string description;
    PortNum most;
  };

  [[nodiscard]] bool is_there(NodeGuid node) const {
    return seen_.find_node(node) != no_node || added_.contains(node);
  }
  [[nodiscard]] bool is_free(const PortRef& end) const {
    const NodeIndex node = seen_.find_node(end.node);
    if (node == no_node) return end.port != PortNum{0} && end.port.raw() < no_path.raw();
    return seen_.node(node).type == NodeType::Switch && seen_.find_port(end) != no_port &&
           end.port != PortNum{0} && !is_cabled(seen_, end);
  }
  void add(const PortRef& end, const std::string& name) {
    if (seen_.find_node(end.node) != no_node) return;
    Switch& added = added_.try_emplace(end.node, Switch{name, end.port}).first->second;
    added.most = std::max(added.most, end.port);
  }
  /// From switch to switch, until there are no more.
  void join() {
    std::multimap<NodeGuid, const SeenCable*> by_node;
    std::vector<NodeGuid> reached;
    for (const SeenCable* const cable : free_) {
      for (const PortRef& end : {cable->known.link.a, cable->known.link.b}) {
        by_node.emplace(end.node, cable);
        if (seen_.find_node(end.node) != no_node) reached.push_back(end.node);
      }
    }
    std::set<NodeGuid> done;
    while (!reached.empty()) {
      const NodeGuid at = reached.back();
      reached.pop_back();
      if (!done.insert(at).second) continue;
      for (auto [it, end] = by_node.equal_range(at); it != end; ++it) {
        const SeenCable& cable = *it->second;
        add(cable.known.link.a, cable.a);
        add(cable.known.link.b, cable.b);
        for (const PortRef& next : {cable.known.link.a, cable.known.link.b}) reached.push_back(next.node);
      }
    }
  }
  void add_switches(FabricBuilder& builder, std::span<const PortLid> lids) const {
    for (const auto& [guid, added] : added_) {
      Node node;
      node.guid = guid;
      node.type = NodeType::Switch;
      node.port_count = added.most.raw();
      node.description = added.description;
      (void)builder.add_node(std::move(node));
    }
    for (const auto& [ref, lid] : lids) {
      if (!added_.contains(ref.node) || ref.port != PortNum{0}) continue;
      if (lid == no_lid || last_unicast_lid < lid || seen_.find_port(lid) != no_port) continue;
      Port port = builder.port(builder.find_node(ref.node), PortNum{0});
      port.lid = lid;
      (void)builder.set_port(port.node, port);
    }
  }
  /// Whoever makes a builder's cable calls its ends Active.
  void set_as_found(FabricBuilder& builder, LinkEnd end) const {
    const bool is_seen = end.node.raw() < seen_.nodes().size();
    Port port = is_seen ? seen_.port(end) : Port{};
    port.num = end.port;
    (void)builder.set_port(end.node, port);
  }
  [[nodiscard]] static LinkEnd end_of(const FabricBuilder& builder, const PortRef& ref) {
    return {builder.find_node(ref.node), ref.port};
  }

  const Fabric& seen_;
  std::vector<const SeenCable*> free_;
  std::map<NodeGuid, Switch> added_;
};

}  // namespace

std::shared_ptr<const Fabric> with_remembered(std::shared_ptr<const Fabric> seen,
                                              std::span<const SeenCable> cables,
                                              std::span<const PortLid> lids) {
  const Addition addition{*seen, cables};
  return addition.empty() ? seen : addition.build(lids);
}

}  // namespace heddle::provision
