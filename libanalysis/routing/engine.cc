#include "routing/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/printable.h"
#include "routing/dor.h"
#include "routing/minhop.h"
#include "routing/updn.h"

namespace heddle::routing {
namespace {

constexpr std::array<std::pair<Engine, std::string_view>, 4> names{{{Engine::UpDown, "updn"},
                                                                    {Engine::FatTree, "ftree"},
                                                                    {Engine::DimOrder, "dor"},
                                                                    {Engine::MinHop, "minhop"}}};

std::string name_of(const Fabric& fabric, const SwitchGraph& graph, SwitchIndex s) {
  return fmt::format("\"{}\" ({})", printable(fabric.node(graph.node(s)).description),
                     to_string(graph.guid(s)));
}

/// A possibly damaged fat tree: cables join neighbouring levels only, and hosts hang at the lowest.
Result<void> check_tree(const Fabric& fabric, const SwitchGraph& graph, const Ranks& ranks) {
  std::uint16_t lowest = 0;
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    if (graph.hosts_at(SwitchIndex{i}) != 0) lowest = std::max(lowest, ranks.rank(SwitchIndex{i}));
  }
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    const SwitchIndex s{i};
    if (graph.hosts_at(s) != 0 && ranks.rank(s) != lowest) {
      return fail(
          ErrorCode::Unsupported,
          fmt::format(
              "no fat tree: hosts hang at {}, level {} from the top, and others at level {}; use updn",
              name_of(fabric, graph, s), ranks.rank(s), lowest));
    }
    for (const Hop& hop : graph.hops(s)) {
      const int levels = int{ranks.rank(hop.peer)} - int{ranks.rank(s)};
      if (levels == 1 || levels == -1) continue;
      return fail(ErrorCode::Unsupported,
                  fmt::format("no fat tree: a cable joins {} and {}, which are not one level apart; use updn",
                              name_of(fabric, graph, s), name_of(fabric, graph, hop.peer)));
    }
  }
  return {};
}

void warn_of_gaps(const Fabric& fabric, const UpDownRouter& router, std::vector<std::string>& warnings) {
  const SwitchGraph& graph = router.graph();
  const auto gaps = router.unconnected();
  if (!gaps.empty()) {
    warnings.push_back(fmt::format("{} pairs of host switches have no path, first {} to {}", gaps.size(),
                                   name_of(fabric, graph, gaps.front().first),
                                   name_of(fabric, graph, gaps.front().second)));
  }
  const auto left = router.mends().left();
  const auto is_for_managers = [&](const auto& pair) {
    return graph.hosts_at(pair.first) == 0 || graph.hosts_at(pair.second) == 0;
  };
  const auto count = std::count_if(left.begin(), left.end(), is_for_managers);
  if (count == 0) return;
  const auto first = std::find_if(left.begin(), left.end(), is_for_managers);
  warnings.push_back(
      fmt::format("{} pairs of a switch and a switch with hosts have no path by LID, first {} to {}: a "
                  "manager there uses "
                  "directed routes",
                  count, name_of(fabric, graph, first->first), name_of(fabric, graph, first->second)));
}

}  // namespace

std::string_view to_string(Engine engine) {
  for (const auto& [value, name] : names) {
    if (value == engine) return name;
  }
  return "unknown";
}

std::optional<Engine> engine_from(std::string_view name) {
  for (const auto& [value, text] : names) {
    if (text == name) return value;
  }
  return std::nullopt;
}

Result<Routes> route(const Fabric& fabric, const LinkSet& active, Engine engine,
                     const RouteOptions& options) {
  if (engine == Engine::UpDown || engine == Engine::FatTree) {
    auto router = UpDownRouter::make(fabric, {options.roots, {}, options.planes});
    if (!router) return fail(router.error());
    if (engine == Engine::FatTree) {
      if (auto good = check_tree(fabric, router->graph(), router->ranks()); !good) return fail(good.error());
    }
    router->update(active);
    Routes routes{router->graph(), router->tables(), router->ranks(), std::nullopt, {}};
    warn_of_gaps(fabric, *router, routes.warnings);
    return routes;
  }
  auto graph = SwitchGraph::make(fabric);
  if (!graph) return fail(graph.error());
  if (engine == Engine::DimOrder) {
    auto order = route_dimension_order(fabric, *graph, active, options.vls);
    if (!order) return fail(order.error());
    return Routes{std::move(*graph), std::move(order->tables), std::nullopt, std::move(order->vls), {}};
  }
  ForwardingTables tables = route_minhop(*graph, active);
  return Routes{
      std::move(*graph), std::move(tables), std::nullopt, std::nullopt, {std::string(minhop_warning)}};
}

}  // namespace heddle::routing
