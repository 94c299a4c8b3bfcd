#include "routing/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "base/disjoint_sets.h"
#include "base/printable.h"

namespace heddle::routing {
namespace {

/// One per pair of neighbours, whatever the number of cables; `id` is the same from both sides.
struct Edge {
  std::uint32_t peer;
  std::uint32_t id;
};

class Factoring {
 public:
  Factoring(const Fabric& fabric, const SwitchGraph& graph)
      : fabric_{fabric}, graph_{graph}, edges_(graph.size()) {
    for (std::uint32_t s = 0; s < graph.size(); ++s) {
      std::set<std::uint32_t> peers;
      for (const Hop& hop : graph.hops(SwitchIndex{s})) peers.insert(hop.peer.raw());
      for (const std::uint32_t peer : peers) {
        const std::uint32_t id = peer < s ? find_edge(peer, s)->id : edge_count_++;
        edges_[s].push_back({peer, id});
      }
    }
  }

  Result<Grid> run() {
    if (graph_.size() < 2) return fail(ErrorCode::Unsupported, "dimension order needs at least two switches");
    DisjointSets classes(edge_count_);
    for (std::uint32_t u = 0; u < graph_.size(); ++u) {
      for (const Edge& e : edges_[u]) {
        for (const Edge& f : edges_[u]) {
          if (e.peer < f.peer) relate(u, e, f, classes);
        }
      }
    }
    std::vector<std::uint32_t> names;
    for (std::uint32_t e = 0; e < edge_count_; ++e) {
      if (classes.find(e) == e) names.push_back(e);
    }
    if (names.size() > most_dimensions)
      return refuse(SwitchIndex{0}, "has cables in more than 12 dimensions");

    Grid grid;
    grid.place.assign(graph_.size() * names.size(), 0);
    for (std::size_t d = 0; d < names.size(); ++d) {
      if (auto good = add_dimension(grid, d, names, classes); !good) return fail(good.error());
    }
    if (auto good = check_product(grid, names, classes); !good) return fail(good.error());
    return grid;
  }

 private:
  static constexpr std::size_t most_dimensions = 12;

  [[nodiscard]] const Edge* find_edge(std::uint32_t s, std::uint32_t peer) const {
    for (const Edge& edge : edges_[s]) {
      if (edge.peer == peer) return &edge;
    }
    return nullptr;
  }

  tl::unexpected<Error> refuse(SwitchIndex s, const std::string& what) const {
    const Node& node = fabric_.node(graph_.node(s));
    return fail(ErrorCode::Unsupported,
                fmt::format("this is no mesh or torus: switch \"{}\" ({}) {}; use updn",
                            printable(node.description), to_string(node.guid), what));
  }

  /// Two edges of one switch: of different dimensions exactly if they span one square without diagonals.
  void relate(std::uint32_t u, const Edge& e, const Edge& f, DisjointSets& classes) {
    const Edge* fourth_from_e = nullptr;
    const Edge* fourth_from_f = nullptr;
    unsigned squares = 0;
    if (find_edge(e.peer, f.peer) == nullptr) {
      for (const Edge& onward : edges_[e.peer]) {
        if (onward.peer == u || find_edge(u, onward.peer) != nullptr) continue;
        const Edge* closing = find_edge(f.peer, onward.peer);
        if (closing == nullptr) continue;
        ++squares;
        fourth_from_e = &onward;
        fourth_from_f = closing;
      }
    }
    if (squares != 1) {
      classes.join(e.id, f.id);
      return;
    }
    classes.join(e.id, fourth_from_f->id);
    classes.join(f.id, fourth_from_e->id);
  }

  /// Places are the parts that remain when the cables of the dimension are taken away.
  Result<void> add_dimension(Grid& grid, std::size_t d, const std::vector<std::uint32_t>& names,
                             DisjointSets& classes) {
    DisjointSets parts(graph_.size());
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      for (const Edge& edge : edges_[s]) {
        if (classes.find(edge.id) != names[d]) parts.join(s, edge.peer);
      }
    }
    std::vector<std::uint32_t> part(graph_.size(), 0);
    std::vector<std::uint32_t> first;  // the switch that names the part
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      if (parts.find(s) == s) first.push_back(s);
    }
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      part[s] = static_cast<std::uint32_t>(std::lower_bound(first.begin(), first.end(), parts.find(s)) -
                                           first.begin());
    }
    std::vector<std::set<std::uint32_t>> beside(first.size());
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      for (const Edge& edge : edges_[s]) {
        if (classes.find(edge.id) != names[d]) continue;
        if (part[s] == part[edge.peer])
          return refuse(SwitchIndex{s}, "has a cable that leaves its row and stays in it");
        beside[part[s]].insert(part[edge.peer]);
      }
    }
    const auto n = static_cast<std::uint32_t>(first.size());
    std::uint32_t ends = 0;
    std::uint32_t start = 0;
    bool complete = true;
    bool row = true;
    for (std::uint32_t p = 0; p < n; ++p) {
      complete = complete && beside[p].size() == n - 1;
      row = row && beside[p].size() <= 2;
      if (beside[p].size() == 1 && ends++ == 0) start = p;
    }
    Dimension dimension{DimensionForm::Complete, n};
    std::vector<std::uint32_t> place(n);
    std::iota(place.begin(), place.end(), 0U);
    if (!complete) {
      if (!row)
        return refuse(SwitchIndex{first[0]},
                      "is in a row that is neither straight, nor a ring, nor fully joined");
      dimension.form = ends == 0 ? DimensionForm::Ring : DimensionForm::Row;
      std::uint32_t before = n;
      std::uint32_t p = start;
      for (std::uint32_t i = 0; i < n; ++i) {
        place[p] = i;
        std::uint32_t next = n;
        for (const std::uint32_t q : beside[p]) {
          if (q != before && (next == n || q < next)) next = q;
        }
        before = p;
        p = next;
        if (p == n) break;
      }
    }
    grid.dimensions.push_back(dimension);
    for (std::uint32_t s = 0; s < graph_.size(); ++s) grid.place[s * names.size() + d] = place[part[s]];
    return {};
  }

  /// Every combination of places is one switch, and every switch has its cable to each next place.
  Result<void> check_product(Grid& grid, const std::vector<std::uint32_t>& names, DisjointSets& classes) {
    std::size_t product = 1;
    for (const Dimension& dimension : grid.dimensions) {
      product *= dimension.size;
      if (product > graph_.size()) break;
    }
    if (product != graph_.size()) {
      return refuse(SwitchIndex{0}, fmt::format("and the {} others do not fill a grid", graph_.size() - 1));
    }
    grid.at.assign(product, no_switch);
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      std::size_t cell = 0;
      std::size_t factor = 1;
      for (std::size_t d = 0; d < grid.dimensions.size(); ++d) {
        cell += grid.place_of(SwitchIndex{s}, d) * factor;
        factor *= grid.dimensions[d].size;
      }
      if (grid.at[cell] != no_switch) return refuse(SwitchIndex{s}, "has the place of another switch");
      grid.at[cell] = SwitchIndex{s};
    }
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      std::size_t expected = 0;
      for (std::size_t d = 0; d < grid.dimensions.size(); ++d) {
        const auto [form, size] = grid.dimensions[d];
        const std::uint32_t p = grid.place_of(SwitchIndex{s}, d);
        if (form == DimensionForm::Complete) {
          expected += size - 1;
        } else {
          expected += form == DimensionForm::Ring || (p != 0 && p + 1 != size) ? 2 : 1;
        }
      }
      bool straight = edges_[s].size() == expected;
      for (const Edge& edge : edges_[s]) {
        for (std::size_t d = 0; d < grid.dimensions.size(); ++d) {
          const bool along = names[d] == classes.find(edge.id);
          const bool same = grid.place_of(SwitchIndex{s}, d) == grid.place_of(SwitchIndex{edge.peer}, d);
          straight = straight && along != same;
        }
      }
      if (!straight) return refuse(SwitchIndex{s}, "lacks a cable to one of its neighbours in the grid");
    }
    return {};
  }

  const Fabric& fabric_;
  const SwitchGraph& graph_;
  std::vector<std::vector<Edge>> edges_;
  std::uint32_t edge_count_ = 0;
};

}  // namespace

SwitchIndex Grid::moved(SwitchIndex s, std::size_t d, std::uint32_t p) const {
  std::size_t cell = 0;
  std::size_t factor = 1;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    cell += (i == d ? p : place_of(s, i)) * factor;
    factor *= dimensions[i].size;
  }
  return at[cell];
}

Result<Grid> find_grid(const Fabric& fabric, const SwitchGraph& graph) {
  return Factoring(fabric, graph).run();
}

}  // namespace heddle::routing
