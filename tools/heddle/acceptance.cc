#include "heddle/acceptance.h"

#include <utility>

#include "acceptance/judge.h"
#include "fabric/generators.h"
#include "heddle/cabling_source.h"
#include "heddle/client.h"
#include "heddle/route_inputs.h"
#include "heddle/twin_source.h"
#include "routing/engine.h"

namespace heddle::cli {
namespace {

using acceptance::Part;
using acceptance::Routed;

Part judge_cables(const AcceptOptions& options, const Result<std::shared_ptr<const Fabric>>& fabric,
                  const Context& context) {
  if (!fabric) return acceptance::not_judged("cables", fabric.error().message);
  const auto compared = compare_cables(options.plan, **fabric, context);
  if (!compared) return acceptance::not_judged("cables", compared.error().message);
  return acceptance::judge_cables(compared->check, compared->plan);
}

Part judge_health(const AcceptOptions& options, const Context& context) {
  if (!options.fabric.empty()) return acceptance::not_asked("health", "nobody measures a fabric in a file");
  const auto answer = Client{context.socket}.get("/v1/health");
  if (!answer) return acceptance::not_judged("health", answer.error().message);
  return acceptance::judge_health(*answer);
}

/// Of a dump. Errors: of reading it.
Result<void> take_dump(const std::string& file, twin::Source& twin) {
  const auto dump = read_lfts(file);
  if (!dump) return fail(dump.error());
  auto fabric = with_lids(twin.fabric, *dump);
  if (!fabric) return fail(fabric.error());
  twin.fabric = *std::move(fabric);
  const auto graph = routing::SwitchGraph::make(*twin.fabric);
  if (!graph) return fail(graph.error());
  auto tables = routing::tables_of(*dump, *twin.fabric, *graph);
  if (!tables) return fail(tables.error());
  twin.tables = *std::move(tables);
  return {};
}

/// As an engine makes them. Errors: of the engine.
Result<void> take_engine(const std::string& name, twin::Source& twin) {
  const auto engine = engine_called(name);
  if (!engine) return fail(engine.error());
  auto fabric = has_lids(*twin.fabric) ? Result<std::shared_ptr<const Fabric>>{twin.fabric}
                                       : assign_lids(*twin.fabric, 0);
  if (!fabric) return fail(fabric.error());
  twin.fabric = *std::move(fabric);
  auto routes = routing::route(*twin.fabric, twin.active, *engine, {});
  if (!routes) return fail(routes.error());
  twin.tables = std::move(routes->tables);
  return {};
}

Result<twin::Source> routed_file(const AcceptOptions& options, std::shared_ptr<const Fabric> fabric) {
  twin::Source twin;
  twin.fabric = std::move(fabric);
  twin.active = routing::LinkSet::all(*twin.fabric);
  const auto taken = options.lfts.empty() ? take_engine(options.engine, twin) : take_dump(options.lfts, twin);
  if (!taken) return fail(taken.error());
  return twin;
}

Result<Routed> routed(const AcceptOptions& options, const Result<std::shared_ptr<const Fabric>>& fabric,
                      const Context& context) {
  if (!fabric) return fail(fabric.error());
  auto twin = options.fabric.empty() ? obtain_twin("", context) : routed_file(options, *fabric);
  if (!twin) return fail(twin.error());
  auto routed = acceptance::read_back(*std::move(twin));
  if (routed && !options.fabric.empty()) {
    routed->by =
        options.lfts.empty() ? "tables as " + options.engine + " makes them" : "tables of " + options.lfts;
  }
  return routed;
}

}  // namespace

std::vector<Part> judge_acceptance(const AcceptOptions& options, const Context& context) {
  std::vector<Part> parts;
  const auto fabric = obtain_cables(options.fabric, context);
  parts.push_back(judge_cables(options, fabric, context));
  parts.push_back(judge_health(options, context));
  const auto tables = routed(options, fabric, context);
  if (!tables) {
    for (const char* name : {"routes", "bandwidth"})
      parts.push_back(acceptance::not_judged(name, tables.error().message));
    return parts;
  }
  parts.push_back(acceptance::judge_routes(*tables));
  const FabricNames known{tables->twin.fabric};
  parts.push_back(acceptance::judge_bandwidth(*tables, known, Ratio{options.least / 100}));
  return parts;
}

}  // namespace heddle::cli
