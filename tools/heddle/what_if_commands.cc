// heddle what-if: what a fabric loses when switches or links fail, or are taken out.

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <memory>
#include <optional>
#include <ostream>
#include <tuple>

#include "fabric/generators.h"
#include "fabric/link_name.h"
#include "heddle/fabric_source.h"
#include "heddle/outage_view.h"
#include "heddle/route_inputs.h"
#include "heddle/table.h"
#include "routing/outage.h"

namespace heddle::cli {
namespace {

namespace json = boost::json;
using routing::Failure;
using routing::Outage;

struct WhatIfOptions {
  std::string fabric;
  std::vector<std::string> without;
  std::string each;
  std::string engine = "updn";
  std::vector<std::string> roots;
  std::optional<unsigned> lmc;
  std::size_t top = 20;
  unsigned samples = 50;
};

struct Named {
  std::string name;
  Failure failure;
  Outage outage;
};

/// Every single failure of this kind.
std::vector<Named> each_failure(const Fabric& fabric, const FabricNames& known, bool switches) {
  const auto is_switch = [&](NodeIndex node) { return fabric.node(node).type == NodeType::Switch; };
  std::vector<Named> all;
  if (switches) {
    for (std::uint32_t i = 0; i < fabric.nodes().size(); ++i) {
      const NodeIndex node{i};
      if (is_switch(node)) all.push_back({known.node(node), {{node}, {}}, {}});
    }
    return all;
  }
  for (std::uint32_t i = 0; i < fabric.links().size(); ++i) {
    const Link& link = fabric.links()[i];
    if (!is_switch(link.a.node) || !is_switch(link.b.node)) continue;
    all.push_back({known.link(LinkIndex{i}), {{}, {LinkIndex{i}}}, {}});
  }
  return all;
}

bool is_worse(const Named& x, const Named& y) {
  const auto badness = [](const Outage& o) {
    return std::tuple(o.cut_off.size(), o.pairs_cut + o.pairs_without_path, o.largest);
  };
  return badness(x.outage) > badness(y.outage);
}

void print_each(const std::vector<Named>& all, const Outage& now, std::size_t top, Context& context) {
  const auto harmless = std::count_if(all.begin(), all.end(), [](const Named& one) {
    return one.outage.cut_off.empty() && one.outage.pairs_without_path == 0;
  });
  *context.out << fmt::format("{} of {} leave every host its paths to all others\n", harmless, all.size());
  Table table{{{"WITHOUT"},
               {"CUT OFF", Align::Right},
               {"PAIRS CUT", Align::Right},
               {"NO PATH", Align::Right},
               {"ON ONE CABLE", Align::Right},
               {"BUSIEST", Align::Right}}};
  for (std::size_t i = 0; i < std::min(top, all.size()); ++i) {
    const Outage& o = all[i].outage;
    table.add({all[i].name, fmt::format("{}", o.cut_off.size()), fmt::format("{:.0f}", o.pairs_cut),
               fmt::format("{:.0f}", o.pairs_without_path), fmt::format("{}", o.on_one.size()),
               times(o.largest, now.largest)});
  }
  table.print(*context.out, context.colour);
  if (all.size() > top) *context.out << fmt::format("and {} more (--top)\n", all.size() - top);
}

Result<void> run_each(const WhatIfOptions& options, const Fabric& fabric, const FabricNames& known,
                      routing::Engine engine, const Outage& now, Context& context) {
  std::vector<Named> all = each_failure(fabric, known, options.each == "switch");
  for (Named& one : all) {
    auto found = routing::outage(fabric, one.failure, engine, {}, 0);
    if (!found) return fail(one.name, found.error());
    one.outage = *std::move(found);
  }
  std::stable_sort(all.begin(), all.end(), is_worse);
  if (context.format != Format::Json) {
    print_each(all, now, options.top, context);
    return {};
  }
  json::array failures;
  for (const Named& one : all) {
    json::object view = to_json(one.outage, known);
    view.erase("effective_bisection");
    view["without"] = one.name;
    failures.push_back(std::move(view));
  }
  print_json(json::object{{"now", to_json(now, known)}, {"failures", std::move(failures)}}, context);
  return {};
}

/// Errors: of FabricNames.
Result<routing::RouteOptions> with_roots(const std::vector<std::string>& names, const FabricNames& known,
                                         const Fabric& fabric) {
  routing::RouteOptions options;
  for (const std::string& name : names) {
    const auto node = known.find_node(name);
    if (!node) return fail("--roots", node.error());
    options.roots.push_back(fabric.node(*node).guid);
  }
  return options;
}

Result<void> run(const WhatIfOptions& options, Context& context) {
  const bool routes_anew = !options.roots.empty() || options.lmc;
  if (!options.each.empty() && (routes_anew || !options.without.empty()))
    return fail(ErrorCode::Invalid, "--fail-each goes with none of --without, --roots and --lmc");
  if (options.each.empty() && options.without.empty() && !routes_anew) {
    return fail(ErrorCode::Invalid,
                "one of --without NODE|LINK, --fail-each link|switch, --roots and --lmc is wanted");
  }
  const auto engine = engine_called(options.engine);
  if (!engine) return fail(engine.error());
  auto read = obtain_fabric(options.fabric, context);
  if (!read) return fail(read.error());
  auto fabric = has_lids(**read) ? read : assign_lids(**read, 0);
  if (!fabric) return fail(fabric.error());
  const FabricNames known(*fabric);
  const auto failure = failure_of(options.without, known);
  if (!failure) return fail("--without", failure.error());
  const auto now = routing::outage(**fabric, {}, *engine, {}, options.samples);
  if (!now) return fail(now.error());
  if (!options.each.empty()) return run_each(options, **fabric, known, *engine, *now, context);
  const auto changed = options.lmc ? assign_lids(**fabric, static_cast<std::uint8_t>(*options.lmc)) : fabric;
  if (!changed) return fail("--lmc", changed.error());
  const auto roots = with_roots(options.roots, known, **fabric);
  if (!roots) return fail(roots.error());
  const auto then = routing::outage(**changed, *failure, *engine, *roots, options.samples);
  if (!then) return fail(then.error());
  if (context.format == Format::Json) {
    print_json(json::object{{"now", to_json(*now, known)}, {"then", to_json(*then, known)}}, context);
  } else {
    print_outage(*now, *then, known, context);
  }
  return {};
}

}  // namespace

void add_what_if_commands(Program& program) {
  Context& context = program.context();
  const auto options = std::make_shared<WhatIfOptions>();
  auto* command =
      program.app().add_subcommand("what-if", "What the fabric loses when switches or links are taken out");
  command->add_option("--fabric", options->fabric,
                      "A topology file or generator; the running fabric if left out");
  command->add_option("--without", options->without,
                      "What is taken out, together: switches, hosts, links as in \"leaf-0/12\"");
  command->add_option("--fail-each", options->each, "Each switch, or each link between switches, by itself")
      ->check(CLI::IsMember({"link", "switch"}))
      ->option_text("link|switch");
  command->add_option("--engine", options->engine, "updn, ftree, dor or minhop")
      ->option_text("ENGINE [updn]");
  command->add_option("--roots", options->roots, "Then with these switches as the roots of updn or ftree");
  command->add_option("--lmc", options->lmc, "Then with 2^N LIDs for each host")
      ->check(CLI::Range(0, 7))
      ->option_text("N");
  command->add_option("--top", options->top, "Of --fail-each: so many of the worst")
      ->check(CLI::Range(1, 1'000'000))
      ->option_text("N [20]");
  command->add_option("--samples", options->samples, "Random pairings of hosts to measure")
      ->check(CLI::Range(0, 10'000))
      ->option_text("N [50]");
  command->footer(
      "The fabric is routed again without them, and every host is taken to send as much to every other one: "
      "what is\n"
      "measured at present does not count. Nothing in the fabric is changed.");
  Program::on(*command, [options, &context] { return run(*options, context); });
}

}  // namespace heddle::cli
