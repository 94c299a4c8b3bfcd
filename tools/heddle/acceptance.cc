#include "heddle/acceptance.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <utility>

#include "cabling/view.h"
#include "fabric/generators.h"
#include "fabric/link_name.h"
#include "heddle/cabling_output.h"
#include "heddle/cabling_source.h"
#include "heddle/client.h"
#include "heddle/health_text.h"
#include "heddle/json_access.h"
#include "heddle/proof_view.h"
#include "heddle/route_inputs.h"
#include "heddle/table.h"
#include "heddle/twin_source.h"
#include "routing/engine.h"
#include "routing/proof.h"
#include "twin/bandwidth.h"

namespace heddle::cli {
namespace {

namespace json = boost::json;
using End = TestCase::End;

AcceptPart not_judged(std::string name, const std::string& why) {
  AcceptPart part{std::move(name), Verdict::NotJudged, why, {}, {}, {}};
  part.tests = {part.name, {{.of = part.name, .name = part.name, .end = End::Error, .why = why}}};
  return part;
}

AcceptPart not_asked(std::string name, const std::string& why) {
  AcceptPart part = not_judged(std::move(name), why);
  part.verdict = Verdict::NotAsked;
  part.tests.cases.front().end = End::Skipped;
  return part;
}

/// The last line says how many there are, those before it which.
void take_text(AcceptPart& part, std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  const auto last = text.rfind('\n');
  part.summary = last == std::string::npos ? text : text.substr(last + 1);
  if (last != std::string::npos) part.details = text.substr(0, last + 1);
}

AcceptPart judge_cables(const AcceptOptions& options, const Result<std::shared_ptr<const Fabric>>& fabric,
                        const Context& context) {
  if (!fabric) return not_judged("cables", fabric.error().message);
  const auto compared = compare_cables(options.plan, **fabric, context);
  if (!compared) return not_judged("cables", compared.error().message);
  const cabling::CableCheck& check = compared->check;
  AcceptPart part{"cables",
                  check.same() ? Verdict::Passed : Verdict::Failed,
                  {},
                  {},
                  cabling::view(check),
                  {suite_of_cables(compared->plan), cabling_cases(check)}};
  take_text(part, cabling_text(check));
  return part;
}

AcceptPart judge_health(const AcceptOptions& options, const Context& context) {
  if (!options.fabric.empty()) return not_asked("health", "nobody measures a fabric in a file");
  const auto answer = Client{context.socket}.get("/v1/health");
  if (!answer) return not_judged("health", answer.error().message);
  if (!answer->is_object()) return not_judged("health", "heddled says nothing of it");
  AcceptPart part{"health",
                  truth_at(*answer, "well") ? Verdict::Passed : Verdict::Failed,
                  {},
                  {},
                  answer->get_object(),
                  {"health", {}}};
  take_text(part, health_text(*answer));
  for (const json::value& finding : array_at(*answer, "findings")) {
    part.tests.cases.push_back({"health", text_at(finding, "where"), End::Failed, text_at(finding, "rule"),
                                text_at(finding, "what")});
  }
  if (part.tests.cases.empty()) part.tests.cases.push_back({.of = "health", .name = "nothing is wrong"});
  return part;
}

/// What the last two parts are judged by.
struct Routed {
  twin::Source twin;
  routing::SwitchGraph graph;
  std::string by;  ///< whose tables these are
};

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

/// Errors: also where nobody has read all tables.
Result<Routed> routed(const AcceptOptions& options, const Result<std::shared_ptr<const Fabric>>& fabric,
                      const Context& context) {
  if (!fabric) return fail(fabric.error());
  auto twin = options.fabric.empty() ? obtain_twin("", context) : routed_file(options, *fabric);
  if (!twin) return fail(twin.error());
  if (!twin->tables)
    return fail(ErrorCode::Unreachable, "nobody has read the tables back yet: try again in a minute");
  if (twin->unread > 0) {
    return fail(ErrorCode::Unreachable,
                fmt::format("{} switches did not answer when their tables were read", twin->unread));
  }
  if (twin->outdated) {
    return fail(ErrorCode::Unreachable,
                "the fabric has changed since its tables were read back: try again in a minute");
  }
  auto graph = routing::SwitchGraph::make(*twin->fabric);
  if (!graph) return fail(graph.error());
  std::string by = fmt::format("tables read back {} ago", human_seconds(twin->tables_age));
  if (!options.fabric.empty())
    by = options.lfts.empty() ? "tables as " + options.engine + " makes them" : "tables of " + options.lfts;
  return Routed{*std::move(twin), *std::move(graph), std::move(by)};
}

AcceptPart judge_proof(const Routed& routed) {
  routing::ProofOptions options;
  options.active = &routed.twin.active;
  const routing::Proof proof = routing::prove(routed.graph, *routed.twin.tables, options);
  AcceptPart part{"routes", proof.holds() ? Verdict::Passed : Verdict::Failed, {}, {}, {}, {"routes", {}}};
  const bool circles = std::ranges::any_of(
      proof.findings, [](const routing::Finding& found) { return found.fault == routing::Fault::Deadlock; });
  part.summary = fmt::format("{} paths, {} broken; {} of buffers on one VL; {}", proof.paths, proof.broken,
                             circles ? "a cycle" : "no cycle", routed.by);
  part.view = {{"tables", routed.by},
               {"paths", proof.paths},
               {"broken_paths", proof.broken},
               {"findings", findings_view(proof, routed.graph)}};
  for (const routing::Finding& finding : proof.findings) {
    const std::string said = routing::describe(finding, *routed.twin.fabric, routed.graph);
    part.details += said + '\n';
    part.tests.cases.push_back({"routes", said.substr(0, said.find('\n')), End::Failed, "refuted", said});
  }
  if (proof.holds()) {
    part.tests.cases.push_back({.of = "routes", .name = "every path arrives"});
    part.tests.cases.push_back({.of = "routes", .name = "no cycle of buffers on one VL"});
  }
  return part;
}

std::string bandwidth_summary(const twin::BandwidthRun& run, const FabricNames& known) {
  return fmt::format("each of {} hosts sends {} to {} others, {} of it arrives; {} gets least, {}", run.hosts,
                     human(BitRate{run.each}), run.receivers, human(Ratio{run.carried / run.wanted}),
                     known.node(run.worst), human(Ratio{run.least}));
}

json::object bandwidth_view(const twin::BandwidthRun& run, const FabricNames& known, const Fabric& fabric,
                            double least) {
  json::object view{{"hosts", run.hosts},
                    {"receivers", run.receivers},
                    {"each_bytes_per_second", run.each / 8},
                    {"flows", run.flows},
                    {"unroutable", run.unroutable},
                    {"wanted_bytes_per_second", run.wanted / 8},
                    {"carried_bytes_per_second", run.carried / 8},
                    {"worst_host", known.node(run.worst)},
                    {"worst_share", run.least},
                    {"least_share", least}};
  view["busiest_link"] = nullptr;
  if (run.busiest != no_port) view["busiest_link"] = known.link(fabric.port(run.busiest).link);
  view["busiest_share"] = run.largest;
  return view;
}

AcceptPart judge_bandwidth(const Routed& routed, const AcceptOptions& options) {
  const Fabric& fabric = *routed.twin.fabric;
  const auto run =
      twin::run_bandwidth(fabric, routed.graph, *routed.twin.tables, routed.twin.active, routed.twin.plane);
  if (!run) return not_judged("bandwidth", run.error().message);
  if (run->worst == no_node) return not_judged("bandwidth", "there are not two hosts");
  const FabricNames known{routed.twin.fabric};
  const double least = options.least / 100;
  const bool good = run->unroutable == 0 && run->least >= least;
  AcceptPart part{"bandwidth", good ? Verdict::Passed : Verdict::Failed,   bandwidth_summary(*run, known),
                  {},          bandwidth_view(*run, known, fabric, least), {"bandwidth", {}}};
  if (run->unroutable > 0) part.details += fmt::format("{} flows have no way\n", run->unroutable);
  if (run->least < least)
    part.details += fmt::format("{} gets less than {}\n", known.node(run->worst), human(Ratio{least}));
  if (!good && run->busiest != no_port) {
    part.details += fmt::format("busiest: {}, {}\n", known.link(fabric.port(run->busiest).link),
                                human(Ratio{run->largest}));
  }
  part.tests.cases.push_back({"bandwidth", "every host gets its share", good ? End::Passed : End::Failed,
                              "bandwidth", part.details});
  return part;
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::Passed:
      return "passed";
    case Verdict::Failed:
      return "failed";
    case Verdict::NotJudged:
      return "not_judged";
    case Verdict::NotAsked:
      return "not_asked";
  }
  return "unknown";
}

std::vector<AcceptPart> judge_acceptance(const AcceptOptions& options, const Context& context) {
  std::vector<AcceptPart> parts;
  const auto fabric = obtain_cables(options.fabric, context);
  parts.push_back(judge_cables(options, fabric, context));
  parts.push_back(judge_health(options, context));
  const auto tables = routed(options, fabric, context);
  if (!tables) {
    for (const char* name : {"routes", "bandwidth"})
      parts.push_back(not_judged(name, tables.error().message));
    return parts;
  }
  parts.push_back(judge_proof(*tables));
  parts.push_back(judge_bandwidth(*tables, options));
  return parts;
}

Verdict judge_all(const std::vector<AcceptPart>& parts) {
  for (const Verdict worst : {Verdict::Failed, Verdict::NotJudged}) {
    if (std::ranges::any_of(parts, [&](const AcceptPart& part) { return part.verdict == worst; }))
      return worst;
  }
  return Verdict::Passed;
}

}  // namespace heddle::cli
