#include "twin/router.h"

#include <algorithm>
#include <unordered_map>

#include "fabric/change.h"
#include "planned/subnet.h"
#include "routing/updn.h"

namespace heddle::twin {
namespace {

using routing::Engine;
using routing::ForwardingTables;
using routing::LinkSet;
using routing::SwitchGraph;
using routing::SwitchIndex;

/// Good enough to look no further.
constexpr double the_same = 0.999;

routing::UpDownOptions up_down(const RouterOptions& options) {
  routing::UpDownOptions made;
  made.ranks = options.order.ranks;
  made.planes = options.order.planes;
  made.turns = options.order.turns;
  return made;
}

/// The same links in another snapshot of the same fabric.
LinkSet in_other(const Fabric& fabric, const LinkSet& links, const Fabric& other) {
  auto result = LinkSet::none(other);
  for (std::uint32_t i = 0; i < fabric.links().size(); ++i) {
    if (!links.contains(LinkIndex{i})) continue;
    const PortIndex port = other.find_port(fabric.ref(fabric.links()[i].a));
    if (port != no_port && other.port(port).link != no_link) result.insert(other.port(port).link);
  }
  return result;
}

/// Keeps its router: later sets of links cost only what depends on them.
class UpDown {
 public:
  UpDown(std::shared_ptr<const Fabric> fabric, std::shared_ptr<const Fabric> routed, RouterOptions options)
      : fabric_{std::move(fabric)}, routed_{std::move(routed)}, options_{std::move(options)} {}

  Result<ForwardingTables> operator()(const LinkSet& active) {
    if (!router_) {
      auto made = routing::UpDownRouter::make(*routed_, up_down(options_));
      if (!made) return fail(made.error());
      router_ = std::make_shared<routing::UpDownRouter>(*std::move(made));
    }
    const LinkSet links = routed_ == fabric_ ? active : in_other(*fabric_, active, *routed_);
    for (unsigned plane = 0; plane < router_->planes(); ++plane) router_->route(plane, links);
    if (routed_ == fabric_) return router_->tables();
    const auto graph = SwitchGraph::make(*fabric_);
    if (!graph) return fail(graph.error());
    return reordered(router_->tables(), *graph);
  }

 private:
  std::shared_ptr<const Fabric> fabric_;
  std::shared_ptr<const Fabric> routed_;
  RouterOptions options_;
  std::shared_ptr<routing::UpDownRouter> router_;
};

auto by_engine(std::shared_ptr<const Fabric> fabric, Engine engine, std::vector<NodeGuid> roots) {
  const bool planes = std::ranges::any_of(fabric->ports(), [](const Port& port) { return port.lmc > 0; });
  return [fabric = std::move(fabric), engine, roots = std::move(roots),
          planes](const LinkSet& active) -> Result<ForwardingTables> {
    routing::RouteOptions options;
    options.roots = roots;
    options.planes = planes ? 2 : 1;
    auto routes = routing::route(*fabric, active, engine, options);
    if (!routes) return fail(routes.error());
    return std::move(routes->tables);
  };
}

}  // namespace

ForwardingTables reordered(const ForwardingTables& tables, const SwitchGraph& graph) {
  std::unordered_map<NodeGuid, std::uint32_t> at;
  for (std::uint32_t s = 0; s < tables.switch_count(); ++s) at.emplace(tables.switches()[s], s);
  ForwardingTables result{graph};
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    const auto from = at.find(graph.guid(SwitchIndex{s}));
    if (from == at.end()) continue;
    const auto row = tables.row(SwitchIndex{from->second});
    const auto to = result.row(SwitchIndex{s});
    std::copy_n(row.begin(), std::min(row.size(), to.size()), to.begin());
  }
  return result;
}

double agreement(const SwitchGraph& graph, const ForwardingTables& in_force, const ForwardingTables& made) {
  std::size_t all = 0;
  std::size_t same = 0;
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    const SwitchIndex sw{s};
    const auto row = in_force.row(sw);
    if (std::ranges::all_of(row, [](std::uint8_t port) { return port == no_path.raw(); })) continue;
    for (const routing::Target& target : graph.targets()) {
      if (target.kind != routing::TargetKind::Host) continue;
      for (unsigned i = 0; i < target.lid_count(); ++i) {
        const Lid lid{static_cast<std::uint16_t>(target.base.raw() + i)};
        ++all;
        same += in_force.port(sw, lid) == made.port(sw, lid) ? 1 : 0;
      }
    }
  }
  return all == 0 ? 0 : static_cast<double>(same) / static_cast<double>(all);
}

std::vector<Router> Router::candidates(const std::shared_ptr<const Fabric>& fabric,
                                       const RouterOptions& options) {
  std::vector<Router> all;
  if (options.engine) {
    all.push_back(
        Router{std::string(to_string(*options.engine)), by_engine(fabric, *options.engine, options.roots)});
    return all;
  }
  if (!options.order.ranks.empty()) {
    all.push_back(Router{"heddled", UpDown{fabric, fabric, options}});
    const planned::Subnet subnet = planned::make_subnet(planned::records_of(*fabric), {});
    all.push_back(Router{"heddled beside OpenSM", UpDown{fabric, subnet.fabric, options}});
  }
  for (const Engine engine : {Engine::UpDown, Engine::FatTree, Engine::MinHop, Engine::DimOrder})
    all.push_back(Router{std::string(to_string(engine)), by_engine(fabric, engine, {})});
  return all;
}

Result<ForwardingTables> Router::tables(const LinkSet& active) const {
  if (found_ && active == found_by_) return *found_;
  return make_(active);
}

Result<Router> Router::find(std::shared_ptr<const Fabric> fabric, const LinkSet& active,
                            const ForwardingTables* in_force, const RouterOptions& options) {
  const auto graph = SwitchGraph::make(*fabric);
  if (!graph) return fail(graph.error());
  std::optional<Router> best;
  std::optional<Error> why;
  for (Router& candidate : candidates(fabric, options)) {
    auto made = candidate.make_(active);
    if (!made) {
      if (!why) why = made.error();
      continue;
    }
    candidate.found_by_ = active;
    candidate.found_ = std::make_shared<const ForwardingTables>(*std::move(made));
    if (in_force == nullptr) return std::move(candidate);
    candidate.agreement_ = twin::agreement(*graph, *in_force, *candidate.found_);
    const bool better = !best || *candidate.agreement_ > *best->agreement_;
    if (better) best = std::move(candidate);
    if (*best->agreement_ >= the_same) break;
  }
  if (!best) return fail(*why);
  return *std::move(best);
}

}  // namespace heddle::twin
