#include "routing/dor.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.h"
#include "routing/grid.h"

namespace heddle::routing {
namespace {

class DimOrder {
 public:
  DimOrder(const Fabric& fabric, const SwitchGraph& graph, const LinkSet& active, Grid grid)
      : fabric_{fabric}, graph_{graph}, active_{active}, grid_{std::move(grid)} {
    for (std::size_t d = 0; d < grid_.dimensions.size(); ++d) {
      const auto [form, size] = grid_.dimensions[d];
      if (form == DimensionForm::Ring && size > 4) rings_.push_back(d);
    }
  }

  [[nodiscard]] std::size_t rings() const { return rings_.size(); }

  Result<ForwardingTables> tables() {
    ForwardingTables tables(graph_);
    std::vector<std::uint32_t> dealt(graph_.hop_count(), 0);
    for (std::uint32_t i = 0; i < graph_.size(); ++i) {
      const SwitchIndex s{i};
      for (const Target& target : graph_.targets()) {
        if (target.link != no_link && !active_.contains(target.link)) continue;
        const SwitchIndex next = next_switch(s, target.at);
        for (unsigned k = 0; k < target.lid_count(); ++k) {
          const Lid lid{static_cast<std::uint16_t>(target.base.raw() + k)};
          if (s == target.at) {
            tables.set(s, lid, target.out);
            continue;
          }
          const Hop* hop = least_used(s, next, dealt);
          if (hop == nullptr) return no_link_left(s, next);
          dealt[index(s, *hop)] += target.kind == TargetKind::Host ? 1U : 0U;
          tables.set(s, lid, hop->out);
        }
      }
    }
    return tables;
  }

  [[nodiscard]] VlTables vl_tables() const {
    std::size_t ports = 0;
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      ports = std::max<std::size_t>(ports, fabric_.node(graph_.node(SwitchIndex{s})).port_count);
    }
    VlTables vls(graph_.size(), ports);
    for (std::uint32_t i = 0; i < graph_.size(); ++i) {
      const SwitchIndex s{i};
      for (std::uint32_t j = 0; j < graph_.size(); ++j)
        vls.set_path_sl(s, SwitchIndex{j}, path_sl(s, SwitchIndex{j}));
      for (const Hop& hop : graph_.hops(s)) {
        for (std::size_t bit = 0; bit < rings_.size(); ++bit) {
          if (grid_.place_of(s, rings_[bit]) == grid_.place_of(hop.peer, rings_[bit])) continue;
          for (unsigned in = 0; in <= fabric_.node(graph_.node(s)).port_count; ++in) {
            for (std::uint8_t sl = 0; sl < VlTables::levels; ++sl) {
              vls.set_vl(s, PortNum{static_cast<std::uint8_t>(in)}, hop.out, Sl{sl},
                         Vl{static_cast<std::uint8_t>(sl >> bit & 1U)});
            }
          }
        }
      }
    }
    return vls;
  }

 private:
  /// The next place on the way from `from` to `to` in a dimension. Half way round, even places go forwards.
  [[nodiscard]] std::uint32_t step(std::size_t d, std::uint32_t from, std::uint32_t to) const {
    const auto [form, size] = grid_.dimensions[d];
    switch (form) {
      case DimensionForm::Complete:
        return to;
      case DimensionForm::Row:
        return from < to ? from + 1 : from - 1;
      case DimensionForm::Ring:
        break;
    }
    const std::uint32_t forwards = (to + size - from) % size;
    const bool forward = forwards * 2 == size ? from % 2 == 0 : forwards * 2 < size;
    return forward ? (from + 1) % size : (from + size - 1) % size;
  }

  [[nodiscard]] SwitchIndex next_switch(SwitchIndex s, SwitchIndex to) const {
    for (std::size_t d = 0; d < grid_.dimensions.size(); ++d) {
      const std::uint32_t here = grid_.place_of(s, d);
      const std::uint32_t there = grid_.place_of(to, d);
      if (here != there) return grid_.moved(s, d, step(d, here, there));
    }
    return s;
  }

  /// A bit for each ring in which the way passes between the last place and the first.
  [[nodiscard]] Sl path_sl(SwitchIndex from, SwitchIndex to) const {
    std::uint8_t sl = 0;
    for (std::size_t bit = 0; bit < rings_.size(); ++bit) {
      const std::size_t d = rings_[bit];
      const std::uint32_t size = grid_.dimensions[d].size;
      std::uint32_t p = grid_.place_of(from, d);
      while (p != grid_.place_of(to, d)) {
        const std::uint32_t q = step(d, p, grid_.place_of(to, d));
        if (p + q + 1 == size && (p == 0 || q == 0)) sl = static_cast<std::uint8_t>(sl | 1U << bit);
        p = q;
      }
    }
    return Sl{sl};
  }

  [[nodiscard]] std::size_t index(SwitchIndex s, const Hop& hop) const {
    return graph_.first_hop(s) + static_cast<std::size_t>(&hop - graph_.hops(s).data());
  }

  [[nodiscard]] const Hop* least_used(SwitchIndex s, SwitchIndex next,
                                      const std::vector<std::uint32_t>& dealt) const {
    const Hop* best = nullptr;
    for (const Hop& hop : graph_.hops(s)) {
      if (hop.peer != next || !active_.contains(hop.link)) continue;
      if (best == nullptr || dealt[index(s, hop)] < dealt[index(s, *best)]) best = &hop;
    }
    return best;
  }

  [[nodiscard]] tl::unexpected<Error> no_link_left(SwitchIndex s, SwitchIndex next) const {
    const Node& x = fabric_.node(graph_.node(s));
    const Node& y = fabric_.node(graph_.node(next));
    return fail(
        ErrorCode::Unsupported,
        fmt::format(
            "no active link is left between \"{}\" ({}) and \"{}\" ({}), and dimension order cannot go "
            "around; use updn",
            printable(x.description), to_string(x.guid), printable(y.description), to_string(y.guid)));
  }

  const Fabric& fabric_;
  const SwitchGraph& graph_;
  const LinkSet& active_;
  Grid grid_;
  std::vector<std::size_t> rings_;  ///< dimensions that need a bit of the SL
};

}  // namespace

Result<DimOrderRoutes> route_dimension_order(const Fabric& fabric, const SwitchGraph& graph,
                                             const LinkSet& active, unsigned vls) {
  auto grid = find_grid(fabric, graph);
  if (!grid) return fail(grid.error());
  DimOrder order(fabric, graph, active, std::move(*grid));
  if (order.rings() != 0 && vls < 2) {
    return fail(
        ErrorCode::Unsupported,
        "dimension order needs two data VLs on rings of five and more switches, and there is one; use updn");
  }
  if (order.rings() > 4) {
    return fail(ErrorCode::Unsupported,
                "a service level has four bits, too few for more than four rings; use updn");
  }
  auto tables = order.tables();
  if (!tables) return fail(tables.error());
  DimOrderRoutes routes{std::move(*tables), std::nullopt};
  if (order.rings() != 0) routes.vls = order.vl_tables();
  return routes;
}

}  // namespace heddle::routing
