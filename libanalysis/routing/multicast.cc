#include "routing/multicast.h"

#include <algorithm>
#include <limits>

namespace heddle::routing {
namespace {

constexpr std::uint32_t far = std::numeric_limits<std::uint32_t>::max();

enum class Direction { Up, Down, Any };

class Grower {
 public:
  Grower(const SwitchGraph& graph, const Ranks& ranks, const LinkSet& permitted, std::uint32_t turn)
      : graph_{graph}, ranks_{ranks}, permitted_{permitted}, turn_{turn}, distance_(graph.size(), far) {}

  /// The switch nearest to all of them from which each is reached going down; no_switch if there is none.
  SwitchIndex common_root(const std::vector<SwitchIndex>& switches) {
    std::vector<std::uint32_t> reached(graph_.size(), 0);
    std::vector<std::uint32_t> farthest(graph_.size(), 0);
    for (const SwitchIndex s : switches) {
      search(s, Direction::Up);
      for (const SwitchIndex above : visited_) {
        ++reached[above.raw()];
        farthest[above.raw()] = std::max(farthest[above.raw()], distance_[above.raw()]);
      }
    }
    std::vector<SwitchIndex> best;
    std::uint32_t least = far;
    for (std::uint32_t i = 0; i < graph_.size(); ++i) {
      if (reached[i] != switches.size() || farthest[i] > least) continue;
      if (farthest[i] < least) best.clear();
      least = farthest[i];
      best.push_back(SwitchIndex{i});
    }
    return best.empty() ? no_switch : best[turn_ % best.size()];
  }

  /// Fills distance() and parents from `root`.
  void search(SwitchIndex root, Direction direction) {
    for (const SwitchIndex s : visited_) distance_[s.raw()] = far;
    parent_.resize(graph_.size());
    visited_.assign(1, root);
    distance_[root.raw()] = 0;
    for (std::size_t i = 0; i < visited_.size(); ++i) {
      const SwitchIndex s = visited_[i];
      const auto hops = graph_.hops(s);
      for (std::size_t h = 0; h < hops.size(); ++h) {
        const Hop& hop = hops[(h + turn_) % hops.size()];
        if (distance_[hop.peer.raw()] != far || !permitted_.contains(hop.link)) continue;
        if (direction == Direction::Up && !ranks_.above(hop.peer, s)) continue;
        if (direction == Direction::Down && !ranks_.above(s, hop.peer)) continue;
        distance_[hop.peer.raw()] = distance_[s.raw()] + 1;
        parent_[hop.peer.raw()] = {s, hop.link, hop.out, hop.in};
        visited_.push_back(hop.peer);
      }
    }
  }

  struct Branch {
    SwitchIndex from = no_switch;
    LinkIndex link = no_link;
    PortNum out;  ///< on `from`
    PortNum in;
  };
  [[nodiscard]] bool is_reached(SwitchIndex s) const { return distance_[s.raw()] != far; }
  [[nodiscard]] std::size_t reach() const { return visited_.size(); }
  [[nodiscard]] const Branch& branch(SwitchIndex s) const { return parent_[s.raw()]; }

 private:
  const SwitchGraph& graph_;
  const Ranks& ranks_;
  const LinkSet& permitted_;
  std::uint32_t turn_;
  std::vector<std::uint32_t> distance_;
  std::vector<Branch> parent_;
  std::vector<SwitchIndex> visited_;
};

std::vector<SwitchIndex> switches_of(std::span<const MulticastMember> members) {
  std::vector<SwitchIndex> switches;
  for (const MulticastMember& member : members) switches.push_back(member.at);
  std::sort(switches.begin(), switches.end());
  switches.erase(std::unique(switches.begin(), switches.end()), switches.end());
  return switches;
}

}  // namespace

MulticastTree grow_tree(const SwitchGraph& graph, const Ranks& ranks, const LinkSet& permitted,
                        std::span<const MulticastMember> members, std::uint32_t turn) {
  MulticastTree tree;
  if (members.empty()) return tree;
  const std::vector<SwitchIndex> switches = switches_of(members);
  Grower grower(graph, ranks, permitted, turn);
  SwitchIndex root = grower.common_root(switches);
  tree.in_order = root != no_switch;
  if (!tree.in_order) {
    // Of the members' switches the one that reaches most: where the links fall apart, the larger part.
    std::size_t most = 0;
    for (const SwitchIndex s : switches) {
      grower.search(s, Direction::Any);
      if (grower.reach() > most) {
        most = grower.reach();
        root = s;
      }
      if (most == graph.size()) break;
    }
  }
  grower.search(root, tree.in_order ? Direction::Down : Direction::Any);

  std::vector<bool> in_tree(graph.size(), false);
  in_tree[root.raw()] = true;
  for (const MulticastMember& member : members) {
    if (!grower.is_reached(member.at)) {
      ++tree.unreached;
      continue;
    }
    tree.ports.push_back({member.at, member.out});
    for (SwitchIndex s = member.at; !in_tree[s.raw()]; s = grower.branch(s).from) {
      const auto& branch = grower.branch(s);
      in_tree[s.raw()] = true;
      tree.links.push_back(branch.link);
      tree.ports.push_back({s, branch.in});
      tree.ports.push_back({branch.from, branch.out});
    }
  }
  std::sort(tree.ports.begin(), tree.ports.end());
  tree.ports.erase(std::unique(tree.ports.begin(), tree.ports.end()), tree.ports.end());
  return tree;
}

}  // namespace heddle::routing
