// heddle route compute, heddle route compare: tables from the engines, and how good they are.

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <chrono>
#include <fstream>
#include <memory>
#include <ostream>

#include "heddle/route_commands.h"
#include "heddle/route_inputs.h"
#include "heddle/table.h"
#include "routing/engine.h"
#include "routing/permutations.h"
#include "routing/proof.h"
#include "routing/quality.h"

namespace heddle::cli {
namespace {

namespace json = boost::json;

struct ComputeOptions {
  std::string fabric;
  std::string engine = "updn";
  std::optional<unsigned> lmc;
  std::string roots;
  std::vector<std::string> without;
  std::string lfts;
  unsigned vls = 8;
  unsigned samples = 50;
};

/// One engine's tables in figures.
struct ComputeReport {
  std::string engine;
  double seconds = 0;
  double largest = 0;
  double over_mean = 0;
  double over_bound = 0;
  bool sampled = false;  ///< bisection and shift are figures
  Ratio bisection;
  routing::ShiftBandwidth shift;
  unsigned vls = 1;
  routing::Proof proof;
  std::vector<std::string> warnings;
  std::string refusal;  ///< why there are no tables
};

bool has_fault(const routing::Proof& proof, routing::Fault fault) {
  return std::any_of(proof.findings.begin(), proof.findings.end(),
                     [&](const routing::Finding& finding) { return finding.fault == fault; });
}

Result<routing::Routes> compute(const Fabric& fabric, const routing::LinkSet& active,
                                const ComputeOptions& options, routing::Engine engine, double& seconds) {
  routing::RouteOptions wanted;
  wanted.vls = options.vls;
  if (!options.roots.empty()) {
    auto roots = read_roots(options.roots);
    if (!roots) return fail(roots.error());
    wanted.roots = std::move(*roots);
  }
  const auto start = std::chrono::steady_clock::now();
  auto routes = routing::route(fabric, active, engine, wanted);
  seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return routes;
}

ComputeReport measure(const routing::Routes& routes, const routing::LinkSet& active, unsigned samples) {
  ComputeReport report;
  const routing::Loads loads = routing::all_to_all(routes.graph, routes.tables);
  report.largest = loads.largest();
  const double mean = loads.mean(routes.graph, active);
  const double bound = routing::lower_bound(routes.graph, active);
  report.over_mean = mean > 0 ? report.largest / mean : 1;
  report.over_bound = bound > 0 ? report.largest / bound : 1;
  Random random(1);
  report.sampled = samples > 0;
  report.bisection = routing::effective_bisection(routes.graph, routes.tables, samples, random);
  report.shift = routing::shift_bandwidth(routes.graph, routes.tables, samples);
  routing::ProofOptions options;
  options.active = &active;
  if (routes.vls) {
    options.vls = &*routes.vls;
    report.vls = routes.vls->vl_count();
  }
  report.proof = routing::prove(routes.graph, routes.tables, options);
  report.warnings = routes.warnings;
  return report;
}

json::value figure(const ComputeReport& report, Ratio ratio) {
  return report.sampled ? json::value(ratio.value()) : json::value();
}
std::string shown(const ComputeReport& report, Ratio ratio) { return report.sampled ? human(ratio) : "-"; }

json::object to_json(const ComputeReport& report) {
  if (!report.refusal.empty()) return {{"engine", report.engine}, {"refused", report.refusal}};
  json::array warnings;
  for (const std::string& warning : report.warnings) warnings.emplace_back(warning);
  return {{"engine", report.engine},
          {"seconds", report.seconds},
          {"largest_load", report.largest},
          {"largest_over_mean", report.over_mean},
          {"largest_over_bound", report.over_bound},
          {"effective_bisection", figure(report, report.bisection)},
          {"shift_mean", figure(report, report.shift.mean)},
          {"shift_worst", figure(report, report.shift.worst)},
          {"vls", report.vls},
          {"paths", report.proof.paths},
          {"broken_paths", report.proof.broken},
          {"loop_free", !has_fault(report.proof, routing::Fault::Loop)},
          {"deadlock_free", !has_fault(report.proof, routing::Fault::Deadlock)},
          {"warnings", std::move(warnings)}};
}

std::string verdict(const routing::Proof& proof) {
  if (has_fault(proof, routing::Fault::Loop)) return "loops";
  if (has_fault(proof, routing::Fault::Deadlock)) return "can deadlock";
  return proof.holds() ? "proved" : "incomplete";
}

void print(const std::vector<ComputeReport>& reports, Context& context) {
  Table table{{{"ENGINE"},
               {"TIME", Align::Right},
               {"LARGEST/MEAN", Align::Right},
               {"LARGEST/BOUND", Align::Right},
               {"BISECTION", Align::Right},
               {"SHIFT", Align::Right},
               {"WORST", Align::Right},
               {"VLS", Align::Right},
               {"BROKEN", Align::Right},
               {"PROOF"}}};
  for (const ComputeReport& report : reports) {
    if (!report.refusal.empty()) {
      table.add({report.engine, "-", "-", "-", "-", "-", "-", "-", "-", "refused"});
      continue;
    }
    table.add({report.engine, human_seconds(report.seconds), fmt::format("{:.3f}", report.over_mean),
               fmt::format("{:.3f}", report.over_bound), shown(report, report.bisection),
               shown(report, report.shift.mean), shown(report, report.shift.worst),
               fmt::format("{}", report.vls), fmt::format("{}", report.proof.broken), verdict(report.proof)});
  }
  table.print(*context.out, context.colour);
  for (const ComputeReport& report : reports) {
    if (!report.refusal.empty()) *context.out << report.engine << ": " << report.refusal << '\n';
  }
}

void warn(const ComputeReport& report, Context& context) {
  for (const std::string& warning : report.warnings) *context.err << "heddle: warning: " << warning << '\n';
}

Result<void> run_compute(const ComputeOptions& options, Context& context) {
  const auto engine = engine_called(options.engine);
  if (!engine) return fail(engine.error());
  const auto fabric = fabric_with_lids(options.fabric, options.lmc, context);
  if (!fabric) return fail(fabric.error());
  const auto active = links_without(*fabric, options.without);
  if (!active) return fail(active.error());
  double seconds = 0;
  const auto routes = compute(**fabric, *active, options, *engine, seconds);
  if (!routes) return fail(routes.error());
  if (!options.lfts.empty()) {
    std::ofstream file{options.lfts, std::ios::binary};
    file << routing::write_lft_dump(**fabric, routes->graph, routes->tables) << std::flush;
    if (!file) return fail(ErrorCode::Io, fmt::format("{}: cannot be written", options.lfts));
  }
  ComputeReport report = measure(*routes, *active, options.samples);
  report.engine = options.engine;
  report.seconds = seconds;
  warn(report, context);
  if (context.format == Format::Json) {
    print_json(to_json(report), context);
  } else {
    print({report}, context);
  }
  return {};
}

Result<void> run_compare(const ComputeOptions& options, Context& context) {
  const auto fabric = fabric_with_lids(options.fabric, options.lmc, context);
  if (!fabric) return fail(fabric.error());
  const auto active = links_without(*fabric, options.without);
  if (!active) return fail(active.error());
  std::vector<ComputeReport> reports;
  for (const auto engine : {routing::Engine::UpDown, routing::Engine::FatTree, routing::Engine::DimOrder,
                            routing::Engine::MinHop}) {
    ComputeReport report;
    double seconds = 0;
    const auto routes = compute(**fabric, *active, options, engine, seconds);
    if (routes) {
      report = measure(*routes, *active, options.samples);
      report.seconds = seconds;
    } else if (routes.error().code == ErrorCode::Unsupported) {
      report.refusal = routes.error().message;
    } else {
      return fail(routes.error());
    }
    report.engine = to_string(engine);
    reports.push_back(std::move(report));
  }
  if (context.format == Format::Json) {
    json::array all;
    for (const ComputeReport& report : reports) all.push_back(to_json(report));
    print_json(all, context);
  } else {
    print(reports, context);
  }
  return {};
}

void add_shared(CLI::App& command, ComputeOptions& options) {
  command.add_option("--fabric", options.fabric, route_fabric_help)->required();
  command.add_option("--lmc", options.lmc, "Assign LIDs, 2^LMC to each port of a channel adapter")
      ->check(CLI::Range(0, 7));
  command.add_option("--roots", options.roots, "GUIDs of the roots, one a line, as OpenSM's root_guid_file")
      ->check(CLI::ExistingFile);
  command.add_option("--without", options.without,
                     "Links that are off, as in \"leaf-0/12\" or \"leaf-0/12 -- spine-1/4\"");
  command.add_option("--vls", options.vls, "Data VLs of the fabric")
      ->check(CLI::Range(1, 15))
      ->option_text("N [8]");
  command.add_option("--samples", options.samples, "Random pairings, and shifts of all hosts, to measure")
      ->check(CLI::Range(0, 10'000))
      ->option_text("N [50]");
}

}  // namespace

void add_route_compute(Program& program, CLI::App& group) {
  Context& context = program.context();
  const auto options = std::make_shared<ComputeOptions>();
  auto* command = group.add_subcommand("compute", "Tables of one engine, measured and proved");
  add_shared(*command, *options);
  command->add_option("--engine", options->engine, "updn, ftree, dor or minhop")
      ->option_text("ENGINE [updn]");
  command->add_option("--lfts", options->lfts, "Write the tables to this file, as opensm-lfts.dump");
  Program::on(*command, [options, &context] { return run_compute(*options, context); });
}

void add_route_compare(Program& program, CLI::App& group) {
  Context& context = program.context();
  const auto options = std::make_shared<ComputeOptions>();
  auto* command = group.add_subcommand("compare", "All engines side by side");
  add_shared(*command, *options);
  Program::on(*command, [options, &context] { return run_compare(*options, context); });
}

}  // namespace heddle::cli
