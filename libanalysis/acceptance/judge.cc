#include "acceptance/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <utility>

#include "acceptance/cabling_report.h"
#include "acceptance/health_text.h"
#include "acceptance/proof_view.h"
#include "base/human.h"
#include "base/json_access.h"
#include "cabling/view.h"
#include "routing/proof.h"
#include "twin/bandwidth.h"

namespace heddle::acceptance {
namespace {

namespace json = boost::json;
using End = TestCase::End;

/// The last line says how many there are, those before it which.
void take_text(Part& part, std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  const auto last = text.rfind('\n');
  part.summary = last == std::string::npos ? text : text.substr(last + 1);
  if (last != std::string::npos) part.details = text.substr(0, last + 1);
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

}  // namespace

Part judge_cables(const cabling::CableCheck& check, const std::string& plan) {
  Part part{"cables",
            check.same() ? Verdict::Passed : Verdict::Failed,
            {},
            {},
            cabling::view(check),
            {suite_of_cables(plan), cabling_cases(check)}};
  take_text(part, cabling_text(check));
  return part;
}

Part judge_health(const json::value& health) {
  if (!health.is_object()) return not_judged("health", "heddled says nothing of it");
  Part part{"health",
            truth_at(health, "well") ? Verdict::Passed : Verdict::Failed,
            {},
            {},
            health.get_object(),
            {"health", {}}};
  take_text(part, health_text(health));
  for (const json::value& finding : array_at(health, "findings")) {
    part.tests.cases.push_back({"health", text_at(finding, "where"), End::Failed, text_at(finding, "rule"),
                                text_at(finding, "what")});
  }
  if (part.tests.cases.empty()) part.tests.cases.push_back({.of = "health", .name = "nothing is wrong"});
  return part;
}

Result<Routed> read_back(twin::Source twin) {
  if (!twin.tables)
    return fail(ErrorCode::Unreachable, "nobody has read the tables back yet: try again in a minute");
  if (twin.unread > 0) {
    return fail(ErrorCode::Unreachable,
                fmt::format("{} switches did not answer when their tables were read", twin.unread));
  }
  if (twin.outdated) {
    return fail(ErrorCode::Unreachable,
                "the fabric has changed since its tables were read back: try again in a minute");
  }
  auto graph = routing::SwitchGraph::make(*twin.fabric);
  if (!graph) return fail(graph.error());
  std::string by = fmt::format("tables read back {} ago", human_seconds(twin.tables_age));
  return Routed{std::move(twin), *std::move(graph), std::move(by)};
}

Part judge_routes(const Routed& routed) {
  routing::ProofOptions options;
  options.active = &routed.twin.active;
  const routing::Proof proof = routing::prove(routed.graph, *routed.twin.tables, options);
  Part part{"routes", proof.holds() ? Verdict::Passed : Verdict::Failed, {}, {}, {}, {"routes", {}}};
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

Part judge_bandwidth(const Routed& routed, const FabricNames& known, Ratio enough) {
  const Fabric& fabric = *routed.twin.fabric;
  const auto run =
      twin::run_bandwidth(fabric, routed.graph, *routed.twin.tables, routed.twin.active, routed.twin.plane);
  if (!run) return not_judged("bandwidth", run.error().message);
  if (run->worst == no_node) return not_judged("bandwidth", "there are not two hosts");
  const double least = enough.value();
  const bool good = run->unroutable == 0 && run->least >= least;
  Part part{"bandwidth", good ? Verdict::Passed : Verdict::Failed,   bandwidth_summary(*run, known),
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

}  // namespace heddle::acceptance
