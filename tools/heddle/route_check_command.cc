// heddle route check: proves or refutes tables from files.

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <memory>
#include <ostream>

#include "acceptance/proof_view.h"
#include "heddle/route_commands.h"
#include "heddle/route_inputs.h"
#include "heddle/table.h"
#include "routing/permutations.h"
#include "routing/proof.h"
#include "routing/quality.h"

namespace heddle::cli {
namespace {

namespace json = boost::json;

struct CheckOptions {
  std::string fabric;
  std::vector<std::string> lfts;
  std::vector<std::string> transition;
  std::vector<std::string> without;
  std::vector<unsigned> managers;
  std::size_t findings = 3;
  bool needed = false;
  unsigned samples = 50;
};

/// One dump's tables in figures.
struct CheckedQuality {
  double over_mean = 1;
  double over_bound = 1;
  Ratio bisection;
  routing::ShiftBandwidth shift;
};

CheckedQuality measure(const routing::SwitchGraph& graph, const routing::ForwardingTables& tables,
                       const routing::LinkSet& active, unsigned samples) {
  const routing::Loads loads = routing::all_to_all(graph, tables);
  const double mean = loads.mean(graph, active);
  const double bound = routing::lower_bound(graph, active);
  CheckedQuality quality;
  if (mean > 0) quality.over_mean = loads.largest() / mean;
  if (bound > 0) quality.over_bound = loads.largest() / bound;
  Random random(1);
  quality.bisection = routing::effective_bisection(graph, tables, samples, random);
  quality.shift = routing::shift_bandwidth(graph, tables, samples);
  return quality;
}

json::array each_of(const std::vector<CheckedQuality>& qualities, auto value) {
  json::array result;
  for (const CheckedQuality& quality : qualities) result.emplace_back(value(quality));
  return result;
}

void print(const routing::Proof& proof, const std::vector<CheckedQuality>& qualities,
           const CheckOptions& options, const Fabric& fabric, const routing::SwitchGraph& graph,
           Context& context) {
  if (context.format == Format::Json) {
    print_json(
        json::object{{"holds", proof.holds()},
                     {"paths", proof.paths},
                     {"broken_paths", proof.broken},
                     {"largest_over_mean", each_of(qualities, [](auto& q) { return q.over_mean; })},
                     {"largest_over_bound", each_of(qualities, [](auto& q) { return q.over_bound; })},
                     {"effective_bisection", each_of(qualities, [](auto& q) { return q.bisection.value(); })},
                     {"shift_mean", each_of(qualities, [](auto& q) { return q.shift.mean.value(); })},
                     {"shift_worst", each_of(qualities, [](auto& q) { return q.shift.worst.value(); })},
                     {"findings", acceptance::findings_view(proof, graph)}},
        context);
    return;
  }
  for (const routing::Finding& finding : proof.findings) {
    if (options.transition.size() > 2)
      *context.out << fmt::format("between {} and {}: ", options.transition[finding.stage],
                                  options.transition[finding.stage + 1]);
    *context.out << routing::describe(finding, fabric, graph) << '\n';
  }
  *context.out << fmt::format("{} paths, {} broken\n", proof.paths, proof.broken);
  for (std::size_t i = 0; i < qualities.size(); ++i) {
    const CheckedQuality& quality = qualities[i];
    *context.out << fmt::format("{}: largest over mean load {:.3f}\n", options.lfts[i], quality.over_mean);
    *context.out << fmt::format("{}: largest over bound {:.3f}, bisection {}, shift {}, worst {}\n",
                                options.lfts[i], quality.over_bound, human(quality.bisection),
                                human(quality.shift.mean), human(quality.shift.worst));
  }
  if (proof.holds()) {
    *context.out << (options.transition.empty()
                         ? "proved: every path arrives, no loop, no cycle of channel dependencies\n"
                         : "proved: so it is in every mixture of old and new entries\n");
  }
}

Result<void> run(const CheckOptions& options, Context& context) {
  const bool moves = !options.transition.empty();
  if (moves == !options.lfts.empty()) {
    return fail(ErrorCode::Invalid, "either --lfts or --transition is wanted");
  }
  const std::vector<std::string>& files = moves ? options.transition : options.lfts;
  std::vector<routing::LftDump> dumps;
  for (const std::string& file : files) {
    auto dump = read_lfts(file);
    if (!dump) return fail(dump.error());
    dumps.push_back(std::move(*dump));
  }
  const auto as_it_is = fabric_as_it_is(options.fabric, context);
  if (!as_it_is) return fail(as_it_is.error());
  const auto fabric = with_lids(*as_it_is, dumps.front());
  if (!fabric) return fail(fabric.error());
  const auto active = links_without(*fabric, options.without);
  if (!active) return fail(active.error());
  const auto graph = routing::SwitchGraph::make(**fabric);
  if (!graph) return fail(graph.error());
  std::vector<routing::ForwardingTables> tables;
  for (const routing::LftDump& dump : dumps) {
    auto one = routing::tables_of(dump, **fabric, *graph);
    if (!one) return fail(one.error());
    tables.push_back(std::move(*one));
  }
  std::vector<const routing::ForwardingTables*> pointers;
  for (const routing::ForwardingTables& each : tables) pointers.push_back(&each);

  routing::ProofOptions wanted;
  wanted.active = &*active;
  wanted.most_findings = options.findings;
  if (options.needed) wanted.followed = routing::Followed::Needed;
  for (const unsigned lid : options.managers) wanted.managers.push_back(Lid{static_cast<std::uint16_t>(lid)});
  const routing::Proof proof =
      moves ? routing::prove_stages(*graph, pointers, wanted) : routing::prove(*graph, pointers, wanted);
  std::vector<CheckedQuality> qualities;
  for (std::size_t i = 0; !moves && i < tables.size(); ++i)
    qualities.push_back(measure(*graph, tables[i], *active, options.samples));
  print(proof, qualities, options, **fabric, *graph, context);
  if (!proof.holds()) return fail(ErrorCode::Refused, "the tables are refuted");
  return {};
}

}  // namespace

void add_route_check(Program& program, CLI::App& group) {
  Context& context = program.context();
  const auto options = std::make_shared<CheckOptions>();
  auto* command = group.add_subcommand("check", "Prove or refute tables, of OpenSM or of anyone");
  command
      ->add_option("--fabric", options->fabric,
                   "A topology file; without LIDs in it, those of the tables are taken")
      ->required();
  command->add_option("--lfts", options->lfts, "Tables as opensm-lfts.dump; several are in use side by side");
  command
      ->add_option("--transition", options->transition,
                   "OLD [STAGE ...] NEW: every mixture of each two that follow one another")
      ->expected(2, 1000);
  command->add_option("--without", options->without, "Links that are off");
  command
      ->add_option("--manager", options->managers,
                   "LIDs that every switch must reach, and that must reach every switch")
      ->check(CLI::Range(1, 0xbfff));
  command->add_flag(
      "--needed", options->needed,
      "Follow only what must arrive, between hosts and to and from --manager: not what hosts may send "
      "to other switches and to aggregation nodes");
  command->add_option("--findings", options->findings, "Counter-examples to show of each kind")
      ->option_text("N [3]");
  command->add_option("--samples", options->samples, "Random pairings, and shifts of all hosts, to measure")
      ->option_text("N [50]");
  Program::on(*command, [options, &context] { return run(*options, context); });
}

}  // namespace heddle::cli
