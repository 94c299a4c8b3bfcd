#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "fabric/unique_names.h"
#include "load/glob.h"
#include "load/locality.h"
#include "load/switch_graph.h"

namespace heddle::load {
namespace {

bool plain(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) { return c >= ' ' && c <= '~'; });
}

bool belongs(const Node& node, std::string_view name, const NamedSet& named) {
  const std::string guid = to_string(node.guid);
  return std::ranges::any_of(named.patterns, [&](const std::string& pattern) {
    return glob_matches(pattern, node.description) || glob_matches(pattern, name) ||
           glob_matches(pattern, guid);
  });
}

/// Union-find with path halving.
class Parts {
 public:
  explicit Parts(std::size_t size) : parent_(size) { std::iota(parent_.begin(), parent_.end(), 0U); }
  std::uint32_t find(std::uint32_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::uint32_t a, std::uint32_t b) { parent_[find(a)] = find(b); }

 private:
  std::vector<std::uint32_t> parent_;
};

}  // namespace

class LocalitySetsBuilder {
 public:
  explicit LocalitySetsBuilder(const Fabric& fabric)
      : fabric_{fabric}, names_of_nodes_{unique_names(fabric)} {}

  void add_subtrees(const Tree& tree) {
    std::vector<std::vector<std::uint32_t>> children(fabric_.nodes().size());
    for (auto node = tree.order.rbegin(); node != tree.order.rend(); ++node) {
      const NodeIndex parent = tree.parent[node->raw()];
      LocalitySets::Set set = around(*node, [&](NodeIndex peer) { return peer == parent; });
      set.contained = std::move(children[node->raw()]);
      if (parent != no_node) children[parent.raw()].push_back(next());
      add("subtree/" + name_of(*node), std::move(set));
    }
  }

  // At each level, a pod is what hangs together when everything above is taken away.
  void add_pods(const Tiers& tiers, const SwitchNeighbours& neighbours) {
    Parts parts{fabric_.nodes().size()};
    std::vector<std::uint32_t> set_of(fabric_.nodes().size(), none);
    for (int level = 0; level < tiers.top; ++level) {
      const auto below = [&](NodeIndex n) {
        return tiers.level[n.raw()] >= 0 && tiers.level[n.raw()] <= level;
      };
      std::vector<NodeIndex> uppermost;
      std::vector<NodeIndex> members;
      for (std::uint32_t i = 0; i < neighbours.size(); ++i) {
        if (!below(NodeIndex{i})) continue;
        members.push_back(NodeIndex{i});
        if (tiers.level[i] == level) uppermost.push_back(NodeIndex{i});
        for (const NodeIndex peer : neighbours[i]) {
          if (below(peer)) parts.join(i, peer.raw());
        }
      }
      std::ranges::sort(uppermost, {}, [&](NodeIndex n) { return fabric_.node(n).guid; });
      std::vector<std::uint32_t> pod_of(fabric_.nodes().size(), none);
      const std::uint32_t first = next();
      std::vector<LocalitySets::Set> pods;
      std::vector<std::string> names;
      std::vector<std::size_t> switches;
      for (const NodeIndex node : uppermost) {
        std::uint32_t& pod = pod_of[parts.find(node.raw())];
        if (pod == none) {
          pod = static_cast<std::uint32_t>(pods.size());
          pods.emplace_back();
          names.push_back(name_of(node));
          switches.push_back(0);
        }
        ++switches[pod];
        LocalitySets::Set own = around(node, [&](NodeIndex peer) { return !below(peer); });
        append(pods[pod].endpoints, own.endpoints);
        append(pods[pod].borders, own.borders);
      }
      // Lower switches come with the pod of the level below that they are in.
      for (const NodeIndex node : members) {
        const std::uint32_t pod = pod_of[parts.find(node.raw())];
        if (tiers.level[node.raw()] == level || pod == none) continue;
        auto& contained = pods[pod].contained;
        const std::uint32_t inner = set_of[node.raw()];
        if (inner != none && std::ranges::find(contained, inner) == contained.end()) {
          contained.push_back(inner);
        }
      }
      for (const NodeIndex node : members) {
        const std::uint32_t pod = pod_of[parts.find(node.raw())];
        if (pod != none) set_of[node.raw()] = first + pod;
      }
      for (std::size_t i = 0; i < pods.size(); ++i) {
        const bool is_leaf = level == 0 && switches[i] == 1;
        const std::string kind = is_leaf ? "leaf" : "pod" + std::to_string(level);
        add(kind + "/" + names[i], std::move(pods[i]));
      }
    }
  }

  void add_named(const NamedSet& named) {
    std::vector<bool> member(fabric_.nodes().size());
    std::vector<std::uint32_t> members;
    for (std::uint32_t i = 0; i < member.size(); ++i) {
      if (!belongs(fabric_.nodes()[i], names_of_nodes_[i], named)) continue;
      member[i] = true;
      members.push_back(i);
    }
    LocalitySets::Set set;
    Parts parts{member.size()};
    for (const std::uint32_t i : members) {
      const Node& node = fabric_.nodes()[i];
      for (int p = 1; p <= node.port_count; ++p) {
        const LinkEnd end{NodeIndex{i}, PortNum{static_cast<std::uint8_t>(p)}};
        const auto peer = fabric_.peer(end);
        if (!peer) continue;
        if (node.type != NodeType::Switch) set.endpoints.push_back(fabric_.port_index(end));
        if (member[peer->node.raw()]) {
          parts.join(i, peer->node.raw());
        } else {
          set.borders.push_back(fabric_.port_index(end));
        }
      }
    }
    if (members.empty()) {
      warn(named, "matches no node: check its patterns");
    } else if (std::ranges::any_of(
                   members, [&](std::uint32_t i) { return parts.find(i) != parts.find(members.front()); })) {
      warn(named,
           "is not connected: add the switches between its nodes, or its locality counts traffic "
           "between its parts as leaving it");
    }
    add(named.name, std::move(set));
  }

  std::shared_ptr<const LocalitySets> take() {
    sets_->names_ = std::move(names_);
    return std::move(sets_);
  }

 private:
  static constexpr std::uint32_t none = 0xffffffffU;

  [[nodiscard]] std::uint32_t next() const { return static_cast<std::uint32_t>(sets_->sets_.size()); }

  static void append(std::vector<PortIndex>& to, const std::vector<PortIndex>& from) {
    to.insert(to.end(), from.begin(), from.end());
  }

  [[nodiscard]] std::string name_of(NodeIndex i) const {
    const std::string& name = names_of_nodes_[i.raw()];
    return plain(name) ? name : to_string(fabric_.node(i).guid);
  }

  // Of one switch: the ports of the hosts that it has, and its own ports towards a switch that is outside.
  template <class Outside>
  [[nodiscard]] LocalitySets::Set around(NodeIndex node, Outside outside) const {
    LocalitySets::Set set;
    for (int p = 1; p <= fabric_.node(node).port_count; ++p) {
      const LinkEnd end{node, PortNum{static_cast<std::uint8_t>(p)}};
      const auto peer = fabric_.peer(end);
      if (!peer) continue;
      if (fabric_.node(peer->node).type != NodeType::Switch) {
        set.endpoints.push_back(fabric_.port_index(*peer));
      } else if (outside(peer->node)) {
        set.borders.push_back(fabric_.port_index(end));
      }
    }
    return set;
  }

  void warn(const NamedSet& named, const std::string& what) {
    sets_->warnings_.push_back("locality set '" + named.name + "' " + what);
  }

  void add(std::string name, LocalitySets::Set set) {
    std::string unique = name;
    for (int copy = 2; !taken_.insert(unique).second; ++copy) unique = name + "#" + std::to_string(copy);
    names_->push_back(std::move(unique));
    sets_->sets_.push_back(std::move(set));
  }

  const Fabric& fabric_;
  std::vector<std::string> names_of_nodes_;  ///< in the forms that tell them apart
  std::shared_ptr<LocalitySets> sets_ = std::make_shared<LocalitySets>();
  std::shared_ptr<std::vector<std::string>> names_ = std::make_shared<std::vector<std::string>>();
  std::unordered_set<std::string> taken_;
};

std::vector<PortIndex> LocalitySets::endpoints(std::size_t set) const {
  std::vector<PortIndex> all = sets_[set].endpoints;
  for (const std::uint32_t inner : sets_[set].contained) {
    const auto more = endpoints(inner);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

std::shared_ptr<const LocalitySets> LocalitySets::find(const Fabric& fabric,
                                                       std::span<const NamedSet> named) {
  LocalitySetsBuilder builder{fabric};
  const SwitchNeighbours neighbours = switch_neighbours(fabric);
  if (const auto tree = find_tree(fabric, neighbours)) {
    builder.add_subtrees(*tree);
  } else if (const auto tiers = find_tiers(fabric, neighbours)) {
    builder.add_pods(*tiers, neighbours);
  }
  for (const NamedSet& set : named) builder.add_named(set);
  return builder.take();
}

}  // namespace heddle::load
