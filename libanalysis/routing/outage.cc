#include "routing/outage.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/disjoint_sets.h"
#include "base/random.h"
#include "routing/hop_map.h"
#include "routing/permutations.h"
#include "routing/quality.h"

namespace heddle::routing {
namespace {

bool is_switch(const Fabric& fabric, NodeIndex node) { return fabric.node(node).type == NodeType::Switch; }

bool is_host(const Fabric& fabric, NodeIndex node) {
  const Node& n = fabric.node(node);
  return n.type == NodeType::ChannelAdapter && !n.aggregation;
}

/// By NodeIndex.
DisjointSets pieces_of(const Fabric& fabric, const LinkSet& left) {
  DisjointSets pieces(fabric.nodes().size());
  for (std::uint32_t i = 0; i < fabric.links().size(); ++i) {
    if (!left.contains(LinkIndex{i})) continue;
    const Link& link = fabric.links()[i];
    pieces.join(link.a.node.raw(), link.b.node.raw());
  }
  return pieces;
}

/// Of hosts counted by `piece`, the ordered pairs of different pieces.
double pairs_apart(const std::vector<double>& by_piece) {
  double all = 0;
  double together = 0;
  for (const double hosts : by_piece) {
    all += hosts;
    together += hosts * hosts;
  }
  return all * all - together;
}

std::vector<NodeIndex> cut_off(const Fabric& fabric, DisjointSets& pieces) {
  std::vector<std::size_t> hosts(fabric.nodes().size());
  for (std::uint32_t i = 0; i < fabric.nodes().size(); ++i) {
    if (is_host(fabric, NodeIndex{i})) ++hosts[pieces.find(i)];
  }
  const auto main = static_cast<std::uint32_t>(std::max_element(hosts.begin(), hosts.end()) - hosts.begin());
  std::vector<NodeIndex> all;
  for (std::uint32_t i = 0; i < fabric.nodes().size(); ++i) {
    if (is_host(fabric, NodeIndex{i}) && pieces.find(i) != main) all.emplace_back(i);
  }
  return all;
}

std::vector<NodeIndex> on_one_cable(const Fabric& fabric, const LinkSet& left) {
  struct Cables {
    unsigned before = 0;
    unsigned after = 0;
    bool hosts = false;
  };
  std::vector<Cables> cables(fabric.nodes().size());
  for (std::uint32_t i = 0; i < fabric.links().size(); ++i) {
    const Link& link = fabric.links()[i];
    const bool between = is_switch(fabric, link.a.node) && is_switch(fabric, link.b.node);
    for (const NodeIndex node : {link.a.node, link.b.node}) {
      Cables& of = cables[node.raw()];
      if (between) {
        ++of.before;
        of.after += left.contains(LinkIndex{i}) ? 1 : 0;
      } else {
        of.hosts = true;
      }
    }
  }
  std::vector<NodeIndex> all;
  for (std::uint32_t i = 0; i < cables.size(); ++i) {
    const Cables& of = cables[i];
    if (is_switch(fabric, NodeIndex{i}) && of.hosts && of.before > 1 && of.after == 1) all.emplace_back(i);
  }
  return all;
}

std::size_t hosts_at(const Fabric& fabric, const std::vector<NodeIndex>& switches, const LinkSet& left) {
  std::set<NodeIndex> hosts;
  if (switches.empty()) return 0;
  for (std::uint32_t i = 0; i < fabric.links().size(); ++i) {
    if (!left.contains(LinkIndex{i})) continue;
    const Link& link = fabric.links()[i];
    for (const auto& [here, there] : {std::pair{link.a.node, link.b.node}, {link.b.node, link.a.node}}) {
      if (is_host(fabric, there) && std::ranges::binary_search(switches, here)) hosts.insert(there);
    }
  }
  return hosts.size();
}

/// Which switches reach a LID by their tables.
class Arrivals {
 public:
  Arrivals(const SwitchGraph& graph, const ForwardingTables& tables, const LinkSet& left)
      : size_{graph.size()}, tables_{tables}, left_{hops_over(graph, &left)}, hops_{graph}, columns_{size_} {}

  void look(const Target& to, Lid lid) {
    if (lid.raw() / lids_per_block != loaded_) {
      loaded_ = lid.raw() / lids_per_block;
      columns_.load(tables_, loaded_);
    }
    const std::uint8_t* column = columns_.column(lid);
    known_.assign(size_, Known::Nothing);
    known_[to.at.raw()] = column[to.at.raw()] == to.out.raw() ? Known::Arrives : Known::IsLost;
    for (std::uint32_t s = 0; s < known_.size(); ++s) follow(s, column);
  }
  [[nodiscard]] bool from(SwitchIndex s) const { return known_[s.raw()] == Known::Arrives; }

 private:
  enum class Known : std::uint8_t { Nothing, OnTheWay, Arrives, IsLost };

  /// What is met again on the way runs in a circle.
  void follow(std::uint32_t s, const std::uint8_t* column) {
    way_.clear();
    std::uint32_t at = s;
    while (known_[at] == Known::Nothing) {
      known_[at] = Known::OnTheWay;
      way_.push_back(at);
      const std::uint32_t hop = hops_.hop(at, column[at]);
      if (hop == HopMap::none || left_[hop] == 0) break;
      at = hops_.peer(hop);
    }
    const Known all = known_[at] == Known::Arrives ? Known::Arrives : Known::IsLost;
    for (const std::uint32_t passed : way_) known_[passed] = all;
  }

  std::size_t size_;
  const ForwardingTables& tables_;
  std::vector<char> left_;  ///< by hop
  HopMap hops_;
  Columns columns_;
  std::size_t loaded_ = static_cast<std::size_t>(-1);  ///< block of columns_
  std::vector<Known> known_;
  std::vector<std::uint32_t> way_;
};

/// Ordered pairs of host ports in one piece that no table leads from one to the other, by any of its LIDs.
double pairs_without_path(const Fabric& fabric, const SwitchGraph& graph, const ForwardingTables& tables,
                          const LinkSet& left, DisjointSets& pieces) {
  const auto is_there = [&](const Target& target) {
    return target.kind == TargetKind::Host && (target.link == no_link || left.contains(target.link));
  };
  std::vector<std::uint32_t> hosts(graph.size());
  for (const Target& target : graph.targets()) hosts[target.at.raw()] += is_there(target) ? 1 : 0;
  std::vector<std::uint32_t> piece_of(graph.size());
  for (std::uint32_t s = 0; s < graph.size(); ++s)
    piece_of[s] = pieces.find(graph.node(SwitchIndex{s}).raw());
  Arrivals arrivals{graph, tables, left};
  std::vector<char> arrives(graph.size());
  double pairs = 0;
  for (const Target& to : graph.targets()) {
    if (!is_there(to)) continue;
    const std::uint32_t piece = pieces.find(fabric.port(to.port).node.raw());
    arrives.assign(graph.size(), 1);
    for (unsigned i = 0; i < to.lid_count(); ++i) {
      arrivals.look(to, Lid{static_cast<std::uint16_t>(to.base.raw() + i)});
      for (std::uint32_t s = 0; s < graph.size(); ++s) arrives[s] &= arrivals.from(SwitchIndex{s}) ? 1 : 0;
    }
    for (std::uint32_t s = 0; s < graph.size(); ++s) {
      if (arrives[s] != 0 || piece_of[s] != piece) continue;
      pairs += hosts[s] - (s == to.at.raw() ? 1 : 0);
    }
  }
  return pairs;
}

/// Over a hop that is not there.
bool leads_astray(const Loads& loads, const std::vector<char>& left) {
  for (std::size_t hop = 0; hop < left.size(); ++hop) {
    if (left[hop] == 0 && loads.hop[hop] > 0) return true;
  }
  return false;
}

/// As the daemon routes: where ports have several LIDs they are in two planes.
unsigned planes_of(const Fabric& fabric) {
  return std::ranges::any_of(fabric.ports(), [](const Port& port) { return port.lmc > 0; }) ? 2 : 1;
}

}  // namespace

LinkSet links_left(const Fabric& fabric, const Failure& failure) {
  LinkSet left = LinkSet::all(fabric);
  for (const LinkIndex link : failure.links) left.erase(link);
  std::vector<bool> failed(fabric.nodes().size());
  for (const NodeIndex node : failure.nodes) failed[node.raw()] = true;
  for (std::uint32_t i = 0; i < fabric.links().size(); ++i) {
    const Link& link = fabric.links()[i];
    if (failed[link.a.node.raw()] || failed[link.b.node.raw()]) left.erase(LinkIndex{i});
  }
  return left;
}

Outage outage_of(const Fabric& fabric, const SwitchGraph& graph, const ForwardingTables& tables,
                 const LinkSet& left, unsigned samples) {
  Outage found;
  DisjointSets pieces = pieces_of(fabric, left);
  found.cut_off = cut_off(fabric, pieces);
  found.on_one = on_one_cable(fabric, left);
  found.hosts_on_one = hosts_at(fabric, found.on_one, left);
  std::vector<double> ports(fabric.nodes().size());
  for (const Target& target : graph.targets()) {
    if (target.kind == TargetKind::Host) ++ports[pieces.find(fabric.port(target.port).node.raw())];
  }
  found.pairs_cut = pairs_apart(ports);
  const Loads loads = all_to_all(graph, tables);
  found.largest = loads.largest();
  // Where all that everybody sends to all arrives, nobody is without a path.
  if (loads.lost > 0 || leads_astray(loads, hops_over(graph, &left)))
    found.pairs_without_path = pairs_without_path(fabric, graph, tables, left, pieces);
  if (samples > 0) {
    Random random(1);
    found.bisection = effective_bisection(graph, tables, samples, random);
  }
  return found;
}

Result<Outage> outage(const Fabric& fabric, const Failure& failure, Engine engine, RouteOptions options,
                      unsigned samples) {
  const LinkSet left = links_left(fabric, failure);
  options.planes = planes_of(fabric);
  const auto routes = route(fabric, left, engine, options);
  if (!routes) return fail(routes.error());
  return outage_of(fabric, routes->graph, routes->tables, left, samples);
}

}  // namespace heddle::routing
