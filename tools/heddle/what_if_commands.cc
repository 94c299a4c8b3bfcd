// heddle what-if: a twin of the fabric, and what becomes of it when switches or links fail or are taken out,
// when it is routed or regulated in another way, when a job or QoS tables come.

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <future>
#include <iterator>
#include <memory>
#include <optional>
#include <ostream>
#include <thread>

#include "fabric/link_name.h"
#include "heddle/orders.h"
#include "heddle/qos_options.h"
#include "heddle/route_inputs.h"
#include "heddle/twin_source.h"
#include "heddle/what_if_view.h"
#include "qos/programming.h"
#include "twin/change.h"
#include "twin/failures.h"
#include "twin/told.h"

namespace heddle::cli {
namespace {

namespace json = boost::json;

struct WhatIfOptions {
  std::string fabric;
  std::vector<std::string> without;
  std::string each;
  std::string engine;
  std::vector<std::string> roots;
  std::optional<unsigned> lmc;
  std::string flows;
  std::string at;
  std::string qos;
  std::string regulate;
  std::vector<std::string> jobs;
  std::size_t top = 20;
  std::optional<unsigned> samples;
};

/// Made by whoever has made what is in force; of a file, by the engine.
Result<twin::Run> run_of(const twin::Source& source, const std::optional<routing::Engine>& engine) {
  return twin::Run::make(source, twin::engine_for(source, engine), {});
}

/// On all cores, each with a router of its own. What is as bad stands in the order of the fabric.
Result<std::vector<twin::Failed>> all_failures(const twin::Run& run,
                                               const std::optional<routing::Engine>& engine,
                                               const FabricNames& known, twin::FailureKind kind,
                                               twin::Views views) {
  const std::size_t parts = std::clamp(std::thread::hardware_concurrency(), 1U, 16U);
  std::vector<std::future<Result<std::vector<twin::Failed>>>> under_way;
  for (std::size_t i = 0; i < parts; ++i) {
    auto own = run_of(run.source(), engine);
    if (!own) return fail(own.error());
    own->take_over_from(run);
    under_way.push_back(
        std::async(std::launch::async, [own = *std::move(own), &known, kind, views, i, parts] {
          return twin::fail_each(own, known, kind, views, {i, parts});
        }));
  }
  std::vector<twin::Failed> all;
  std::optional<Error> wrong;
  for (auto& each : under_way) {
    auto some = each.get();
    if (!some) {
      wrong = some.error();
    } else {
      std::ranges::move(*some, std::back_inserter(all));
    }
  }
  if (wrong) return fail(*wrong);
  std::ranges::sort(all, {}, &twin::Failed::number);
  twin::sort_by_harm(all);
  return all;
}

Result<void> run_each(const WhatIfOptions& options, const std::optional<routing::Engine>& engine,
                      const twin::Run& run, const FabricNames& known, const twin::State& now,
                      Context& context) {
  const auto kind = options.each == "switch" ? twin::FailureKind::Switches : twin::FailureKind::Links;
  const bool as_json = context.format == Format::Json;
  auto all = all_failures(run, engine, known, kind, as_json ? twin::Views::Wanted : twin::Views::No);
  if (!all) return fail(all.error());
  if (!as_json) {
    print_each(*all, now, options.top, context);
    return {};
  }
  json::array failures;
  for (twin::Failed& one : *all) {
    one.view.erase("effective_bisection");
    one.view["without"] = one.name;
    failures.push_back(std::move(one.view));
  }
  json::object answer = twin::view(run);
  answer["now"] = twin::view(now, known);
  answer["failures"] = std::move(failures);
  print_json(answer, context);
  return {};
}

Result<void> check(const WhatIfOptions& options, const twin::Change& change) {
  // Of a file, an engine is how it is routed anyhow.
  twin::Change besides = change;
  besides.engine.reset();
  const bool alone = !options.each.empty();
  if (alone && !besides.is_none()) {
    return fail(ErrorCode::Invalid,
                "--fail-each goes with none of --without, --roots, --lmc, --qos, --regulate and --add-job");
  }
  if (!alone && (options.fabric.empty() ? change : besides).is_none()) {
    return fail(ErrorCode::Invalid,
                "one of --without NODE|LINK, --fail-each link|switch, --roots, --lmc, --qos, --regulate, "
                "--add-job and, of the running fabric, --engine is wanted");
  }
  return twin::check(change);
}

Result<void> take_traffic(const WhatIfOptions& options, twin::Run& run) {
  if (options.flows.empty()) return run.estimate_traffic();
  auto scenario = sim::load_scenario(options.flows);
  if (!scenario) return fail("--flows", scenario.error());
  Picoseconds at{0};
  if (!options.at.empty()) {
    const auto length = length_from(options.at);
    if (!length) return fail("--at", length.error());
    constexpr double longest = 100.0 * 86'400;  // no scenario is as long, and more than this does not fit
    at = Picoseconds{static_cast<std::int64_t>(std::min(*length, longest) * 1e12)};
  }
  return run.give_traffic(*scenario, at);
}

Result<twin::Change> change_of(const WhatIfOptions& options) {
  twin::Change change;
  change.without = options.without;
  change.roots = options.roots;
  change.jobs = options.jobs;
  change.lmc = options.lmc;
  if (!options.engine.empty()) {
    const auto engine = engine_called(options.engine);
    if (!engine) return fail(engine.error());
    change.engine = *engine;
  }
  if (!options.regulate.empty()) change.regulate = regulation::select_policy_from(options.regulate);
  if (!options.qos.empty()) {
    const auto text = read_text(options.qos);
    if (!text) return fail(text.error());
    const auto plan = qos::parse_plan(*text, options.qos);
    if (!plan) return fail(plan.error());
    change.qos = *plan;
  }
  return change;
}

Result<void> run(const WhatIfOptions& options, Context& context) {
  const auto change = change_of(options);
  if (!change) return fail(change.error());
  if (const auto good = check(options, *change); !good) return fail(good.error());
  auto source = obtain_twin(options.fabric, context);
  if (!source) return fail(source.error());
  const FabricNames known{source->fabric};
  // Roots are of what would be; an engine, of a file, also of what is.
  const bool only_then = source->tables.has_value() || !change->roots.empty();
  const auto engine = options.fabric.empty() ? std::nullopt : change->engine;
  auto is = run_of(*source, engine);
  if (!is) return fail(is.error());
  if (const auto taken = take_traffic(options, *is); !taken) return fail(taken.error());
  is->measure_bisection(options.each.empty() ? options.samples.value_or(twin::enough_samples(*source->fabric))
                                             : 0);
  auto becomes = only_then && change->routes_anew() ? twin::routed_by(*is, *change, known) : is;
  if (!becomes) return fail(becomes.error());
  // Both take as long; what regulation does follows from what is.
  auto is_now = std::async(std::launch::async, [&is] { return is->now(); });
  const bool needs_now = !options.regulate.empty() || !options.each.empty();
  if (needs_now) is_now.wait();
  std::optional<Result<twin::State>> then;
  if (!needs_now) then = twin::after(*becomes, *change, known, nullptr);
  const auto now = is_now.get();
  if (!now) return fail(now.error());
  if (!options.each.empty()) return run_each(options, engine, *is, known, *now, context);
  if (!then) then = twin::after(*becomes, *change, known, &*now);
  if (!*then) return fail(then->error());
  if (context.format == Format::Json) {
    json::object answer = twin::view(*is);
    answer["now"] = twin::view(*now, known);
    answer["then"] = twin::view(**then, known);
    answer["hosts_that_lose"] = twin::losers_view(*now, **then, known, options.top);
    print_json(answer, context);
  } else {
    if (options.fabric.empty()) print_twin(*is, context);
    print_states(*now, **then, known, context);
  }
  return {};
}

}  // namespace

void add_what_if_commands(Program& program) {
  Context& context = program.context();
  const auto options = std::make_shared<WhatIfOptions>();
  auto* command = program.app().add_subcommand(
      "what-if", "What the fabric would be like without switches or links, or otherwise changed");
  command->add_option("--fabric", options->fabric,
                      "A topology file or generator; the running fabric if left out");
  command->add_option("--without", options->without,
                      "What is taken out, together: switches, hosts, links as in \"leaf-0/12\"");
  command->add_option("--fail-each", options->each, "Each switch, or each link between switches, by itself")
      ->check(CLI::IsMember({"link", "switch"}))
      ->option_text("link|switch");
  command
      ->add_option("--engine", options->engine,
                   "Routed by updn, ftree, dor or minhop; else by whoever routes it, of a file updn")
      ->option_text("ENGINE");
  command->add_option("--roots", options->roots, "Then with these switches as the roots of updn or ftree");
  command->add_option("--lmc", options->lmc, "Then with 2^N LIDs for each host")
      ->check(CLI::Range(0, 7))
      ->option_text("N");
  command
      ->add_option("--flows", options->flows,
                   "The traffic, as a scenario's file; else estimated from the loads of the running fabric")
      ->option_text("FILE");
  command->add_option("--at", options->at, "So far into the scenario, as 90s or 5min")
      ->needs("--flows")
      ->check(wrong_length);
  command->add_option("--qos", options->qos, "Then with these QoS tables at all ports, as for qos push")
      ->option_text("PLAN");
  command->add_option("--regulate", options->regulate, "Then with only the links on that this policy keeps")
      ->check(CLI::IsMember({"trunk", "general"}))
      ->option_text("trunk|general");
  command
      ->add_option(
          "--add-job", options->jobs,
          "Then with a job more: its hosts, as node[1-8] or node*, a pattern, and the share of their "
          "links that they send")
      ->option_text("HOSTS:PATTERN:LOAD");
  command->add_option("--top", options->top, "Of --fail-each, and of hosts that lose: so many of the worst")
      ->check(CLI::Range(1, 1'000'000))
      ->option_text("N [20]");
  command->add_option("--samples", options->samples, "Random pairings of hosts to measure")
      ->check(CLI::Range(0, 10'000))
      ->option_text("N [as many as make 100,000 pairs, 50 at most]");
  command->footer(
      "Of the running fabric a twin is made: its tables as they were read back, loads as they were measured, "
      "and "
      "flows\nthat explain them. Beside that, every host is taken to send as much to every other one. "
      "Nothing in "
      "the fabric is changed.");
  Program::on(*command, [options, &context] { return run(*options, context); });
}

}  // namespace heddle::cli
