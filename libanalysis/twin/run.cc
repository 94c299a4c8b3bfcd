#include "twin/run.h"

#include <algorithm>
#include <utility>

#include "fabric/change.h"
#include "fabric/generators.h"
#include "power/power_model.h"
#include "regulation/link_policy.h"
#include "routing/proof.h"
#include "twin/flow_loads.h"
#include "twin/scenario_flows.h"

namespace heddle::twin {
namespace {

using routing::ForwardingTables;
using routing::LinkSet;
using routing::SwitchGraph;

bool has_circles(const SwitchGraph& graph, const ForwardingTables& tables, const LinkSet& active) {
  routing::ProofOptions options;
  options.active = &active;
  const routing::Proof proof = routing::prove(graph, tables, options);
  return std::ranges::any_of(proof.findings, [](const routing::Finding& finding) {
    return finding.fault == routing::Fault::Loop || finding.fault == routing::Fault::Deadlock;
  });
}

std::optional<double> watts_over(const Source& source, const LinkSet& active) {
  if (!source.watts_all_on) return std::nullopt;
  double watts = *source.watts_all_on;
  for (std::uint32_t i = 0; i < source.watts.size(); ++i) {
    if (!active.contains(LinkIndex{i})) watts -= source.watts[i];
  }
  return watts;
}

}  // namespace

unsigned enough_samples(const Fabric& fabric) {
  constexpr std::size_t pairs = 100'000;
  constexpr std::size_t most = 50;
  const std::size_t hosts = std::max<std::size_t>(1, fabric.channel_adapter_count());
  return static_cast<unsigned>(std::clamp<std::size_t>(pairs / hosts, 1, most));
}

Result<Run> Run::make(Source source, std::optional<routing::Engine> engine, std::vector<NodeGuid> roots) {
  RouterOptions options;
  options.order = source.order;
  options.engine = engine;
  options.roots = std::move(roots);
  auto router =
      Router::find(source.fabric, source.active, source.tables ? &*source.tables : nullptr, options);
  if (!router) return fail(router.error());
  return Run{std::move(source), *std::move(router)};
}

Result<void> Run::estimate_traffic() {
  if (source_.leaving.empty()) return {};
  auto order = source_.order;
  order.tables = routing::TablesWanted::No;
  const auto network = regulation::Network::make(source_.fabric, order);
  if (!network) return fail(network.error());
  const auto loads = loads_of(**network, source_.leaving);
  const auto tables =
      source_.tables ? Result<ForwardingTables>{*source_.tables} : router_.tables(source_.active);
  if (!tables) return fail(tables.error());
  traffic_.source = TrafficUsed::Source::Estimated;
  traffic_.uneven = unevenness(**network, loads, *tables, source_.plane);
  traffic_.flows = estimate_flows(**network, loads, *tables, source_.plane);
  return {};
}

Result<void> Run::give_traffic(const sim::Scenario& scenario, Picoseconds at) {
  auto flows = flows_at(scenario, *source_.fabric, at);
  if (!flows) return fail("--flows", flows.error());
  traffic_.source = TrafficUsed::Source::Given;
  traffic_.flows = *std::move(flows);
  return {};
}

void Run::add_flows(const std::vector<sim::TrafficFlow>& flows) {
  traffic_.flows.insert(traffic_.flows.end(), flows.begin(), flows.end());
}

Result<State> Run::look(std::shared_ptr<const Fabric> fabric, const LinkSet& active, ForwardingTables tables,
                        unsigned plane) const {
  auto graph = SwitchGraph::make(*fabric);
  if (!graph) return fail(graph.error());
  State state{std::move(fabric), *std::move(graph), active, std::move(tables), {}, false, {}, {}};
  state.outage = routing::outage_of(*state.fabric, state.graph, state.tables, active, samples_);
  state.circles = has_circles(state.graph, state.tables, active);
  state.watts = watts_over(source_, active);
  if (traffic_.source == TrafficUsed::Source::None && traffic_.flows.empty()) return state;
  const View view{*state.fabric, state.graph, state.tables, active, qos_};
  auto found = predict_flows(view, traffic_.flows, plane);
  if (!found) return fail("--flows", found.error());
  state.traffic = *std::move(found);
  return state;
}

LinkSet Run::left(const routing::Failure& failure) const {
  LinkSet left = source_.active;
  LinkSet::for_each_difference(LinkSet::all(*source_.fabric), routing::links_left(*source_.fabric, failure),
                               [&](LinkIndex link) { left.erase(link); });
  return left;
}

Result<State> Run::now() const { return over(source_.active, Tables::InForce); }

Result<State> Run::over(const LinkSet& active, Tables tables) const {
  if (tables == Tables::InForce && source_.tables)
    return look(source_.fabric, active, *source_.tables, source_.plane);
  auto made = router_.tables(active);
  if (!made) return fail(made.error());
  const unsigned plane = tables == Tables::Anew ? source_.next_plane : source_.plane;
  return look(source_.fabric, active, *std::move(made), plane);
}

Result<State> Run::with_lmc(unsigned lmc, const LinkSet& active,
                            std::optional<routing::Engine> engine) const {
  const auto fabric = assign_lids(*source_.fabric, static_cast<std::uint8_t>(lmc));
  if (!fabric) return fail("--lmc", fabric.error());
  RouterOptions options;
  options.engine = engine.value_or(routing::Engine::UpDown);
  const auto router = Router::find(*fabric, active, nullptr, options);
  if (!router) return fail(router.error());
  auto tables = router->tables(active);
  if (!tables) return fail(tables.error());
  return look(*fabric, active, *std::move(tables), 0);
}

Result<LinkSet> Run::regulated(regulation::SelectPolicy policy, const State& now) const {
  const auto made = regulation::Network::make(source_.fabric, source_.order);
  if (!made) return fail(made.error());
  regulation::Network& network = **made;
  const bool given = traffic_.source == TrafficUsed::Source::Given && now.traffic;
  const auto loads = loads_of(network, given ? now.traffic->load : source_.leaving);
  regulation::PolicyOptions policies;
  for (const PortRef& port : source_.kept) {
    const PortIndex index = source_.fabric->find_port(port);
    const LinkIndex link = index == no_port ? no_link : source_.fabric->port(index).link;
    if (link != no_link) policies.pinned.insert(link_ref(*source_.fabric, source_.fabric->link(link)));
  }
  const auto exempt = regulation::exemptions(*source_.fabric, policies, {}, {});
  const auto traffic = regulation::estimate_traffic(network, loads, now.tables, {.plane = source_.plane});
  regulation::SelectionProblem problem;
  problem.network = &network;
  problem.power = &source_.power;
  problem.exempt = exempt;
  const LinkSet all = LinkSet::all(*source_.fabric);
  problem.available = &all;
  problem.current = &source_.active;
  problem.loads = &loads;
  problem.traffic = &traffic;
  regulation::SelectOptions options;
  options.policy = policy;
  options.thresholds = source_.thresholds;
  options.plane = source_.plane;
  auto selection = regulation::select_links(problem, options);
  if (!selection) return fail("--regulate", selection.error());
  return std::move(selection->active);
}

}  // namespace heddle::twin
