// Scenario files: TOML to Scenario. docs/scenarios.md describes every key.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/printable.h"
#include "sim/scenario.h"
#include "sim/scenario_values.h"

namespace heddle::sim {
namespace {

/// Shorter times would make more events than work.
constexpr Picoseconds shortest{1'000'000'000};
constexpr std::uint64_t most_destinations = 1024;
constexpr std::size_t most_phases = 10'000;
constexpr unsigned curve_steps = 96;

/// A day of a centre: quiet at night, most in the afternoon.
const std::vector<std::pair<double, double>> day_curve{{0, 0.35},  {0.125, 0.2}, {0.25, 0.3}, {0.375, 0.8},
                                                       {0.5, 0.9}, {0.625, 1},   {0.75, 0.7}, {1, 0.35}};

void read_part(TableReader& table, std::pair<double, double>& part) {
  const toml::node* node = table.take("part");
  if (node == nullptr) return;
  const auto* ends = node->as_array();
  const auto from = ends != nullptr && ends->size() == 2 ? ends->get(0)->value<double>() : std::nullopt;
  const auto to = from ? ends->get(1)->value<double>() : std::nullopt;
  if (to && *from >= 0 && *from < *to && *to <= 1) {
    part = {*from, *to};
  } else {
    table.wrong(*node, "part", "two numbers from 0 to 1, the smaller one first");
  }
}

HostSelection read_selection(TableReader& outer, const toml::node& node, std::string_view key) {
  HostSelection selection;
  if (node.is_string() || node.is_array()) {
    outer.read(key, selection.names);
  } else if (const auto* table = node.as_table()) {
    TableReader inner(*table, outer.file(), std::string(key));
    inner.read("names", selection.names);
    read_part(inner, selection.part);
    inner.read("fraction", selection.fraction, 0, 1);
    outer.adopt(inner.finish());
  } else {
    outer.wrong(node, key, "a name pattern, a list of them, or a table with names, part, fraction");
  }
  return selection;
}

void read_points(TableReader& table, const toml::array& array, LoadCurve& curve) {
  for (const auto& entry : array) {
    const auto* pair = entry.as_array();
    const auto x = pair != nullptr && pair->size() == 2 ? pair->get(0)->value<double>() : std::nullopt;
    const auto y = x ? pair->get(1)->value<double>() : std::nullopt;
    const bool rises = x && (curve.points.empty() || curve.points.back().first < *x);
    if (y && rises && *x >= 0 && *x <= 1 && *y >= 0 && *y <= 1000) {
      curve.points.emplace_back(*x, *y);
    } else {
      table.wrong(entry, "curve", "points [share of the period, factor] with shares that rise from 0 to 1");
    }
  }
}

void read_curve(TableReader& table, Phase& phase) {
  const toml::node* node = table.take("curve");
  Picoseconds period = phase.length == forever ? Picoseconds{86'400LL * 1'000'000'000'000} : phase.length;
  table.read("curve_period", period, shortest);
  Picoseconds step = std::max(shortest, period / curve_steps);
  table.read("curve_step", step, shortest);
  if (node == nullptr) {
    if (table.has("curve_period") || table.has("curve_step"))
      table.wrong("curve_period and curve_step need a curve");
    return;
  }
  phase.curve.period = period;
  phase.curve.step = step;
  const auto* name = node->as_string();
  const auto* array = node->as_array();
  if (name != nullptr && name->get() == "day") {
    phase.curve.points = day_curve;
  } else if (array != nullptr && !array->empty()) {
    read_points(table, *array, phase.curve);
  } else {
    table.wrong(*node, "curve", "\"day\" or a list of points");
  }
}

void read_flows(TableReader& table, Phase& phase) {
  const toml::node* node = table.take("flows");
  if (node == nullptr) {
    if (phase.pattern == Pattern::Flows) table.wrong("pattern \"flows\" needs a list of flows");
    return;
  }
  if (phase.pattern != Pattern::Flows) {
    table.wrong(*node, "flows", "left out, or go with pattern = \"flows\"");
    return;
  }
  const auto* array = node->as_array();
  if (array == nullptr || array->empty()) {
    table.wrong(*node, "flows", "a list of tables with from, to and load");
    return;
  }
  for (const auto& entry : *array) {
    const auto* flow_table = entry.as_table();
    if (flow_table == nullptr) {
      table.wrong(entry, "flows", "a list of tables with from, to and load");
      return;
    }
    TableReader inner(*flow_table, table.file(), "flow");
    ListedFlow flow;
    inner.read("from", flow.from);
    inner.read("to", flow.to);
    inner.read("load", flow.load, 0, 1);
    if (flow.from.empty() || flow.to.empty()) inner.wrong("needs from and to");
    table.adopt(inner.finish());
    phase.flows.push_back(std::move(flow));
  }
}

void read_pattern(TableReader& table, Phase& phase) {
  const toml::node* node = table.take("pattern");
  if (node == nullptr) return;
  const auto* name = node->as_string();
  const auto found = name != nullptr ? pattern(name->get()) : std::nullopt;
  if (!found) {
    table.wrong(
        *node, "pattern",
        "uniform, all-to-all, permutation, bit-reversal, bit-complement, transpose, tornado, neighbour, "
        "hotspot, incast or flows");
    return;
  }
  phase.pattern = *found;
}

bool takes_receivers(Pattern pattern) {
  return pattern == Pattern::Uniform || pattern == Pattern::Hotspot || pattern == Pattern::Incast;
}

/// What phases and jobs have in common: who talks to whom, and how much.
void read_traffic(TableReader& table, Phase& phase) {
  table.read("name", phase.name);
  read_pattern(table, phase);
  table.read("load", phase.load, 0, 1);
  if (const toml::node* node = table.take("hosts")) phase.hosts = read_selection(table, *node, "hosts");
  if (const toml::node* node = table.take("to")) {
    phase.to = read_selection(table, *node, "to");
    if (!takes_receivers(phase.pattern))
      table.wrong(*node, "to", "left out: it goes with uniform, hotspot and incast");
  }
  std::uint64_t sl = 0, destinations = phase.destinations, targets = phase.targets;
  table.read("sl", sl, 0, 15);
  table.read("destinations", destinations, 1, most_destinations);
  table.read("targets", targets, 1, 1'000'000);
  table.read("hot", phase.hot, 0, 1);
  table.read("seed", phase.seed, 0, ~std::uint64_t{0} >> 1U);
  table.read("change", phase.change, shortest);
  phase.sl = Sl{static_cast<std::uint8_t>(sl)};
  phase.destinations = static_cast<unsigned>(destinations);
  phase.targets = static_cast<unsigned>(targets);
  read_flows(table, phase);
}

Result<Phase> read_phase(const toml::table& node, const std::string& file, std::uint64_t seed) {
  TableReader table(node, file, "phase");
  Phase phase;
  phase.place = table.place(node);
  phase.seed = seed;
  read_traffic(table, phase);
  table.read("start", phase.start, Picoseconds{0});
  table.read("length", phase.length, shortest);
  table.read("repeat", phase.repeat, shortest);
  std::uint64_t rounds = 0;
  table.read("rounds", rounds, 1, 1'000'000'000);
  phase.rounds = static_cast<std::uint32_t>(rounds);
  if (table.has("repeat") && (phase.length == forever || phase.repeat < phase.length)) {
    table.wrong("repeat needs a length that is no longer than itself");
  }
  if (table.has("rounds") && !table.has("repeat")) table.wrong("rounds needs repeat");
  read_curve(table, phase);
  if (auto done = table.finish(); !done) return fail(done.error());
  return phase;
}

/// A job computes in silence, then communicates, so many times.
Result<Phase> read_job(const toml::table& node, const std::string& file, std::uint64_t seed) {
  TableReader table(node, file, "job");
  Phase phase;
  phase.place = table.place(node);
  phase.seed = seed;
  phase.pattern = Pattern::AllToAll;
  read_traffic(table, phase);
  Picoseconds start{0}, compute{0}, communicate{0};
  std::uint64_t iterations = 0;
  table.read("start", start, Picoseconds{0});
  table.read("compute", compute, Picoseconds{0});
  table.read("communicate", communicate, shortest);
  table.read("iterations", iterations, 1, 1'000'000'000);
  if (!table.has("communicate")) table.wrong("needs communicate: how long it communicates in each iteration");
  if (auto done = table.finish(); !done) return fail(done.error());
  phase.start = start + compute;
  phase.length = communicate;
  phase.repeat = compute + communicate;
  phase.rounds = static_cast<std::uint32_t>(iterations);
  return phase;
}

using ReadOne = Result<Phase> (*)(const toml::table&, const std::string&, std::uint64_t);

Result<void> read_list(TableReader& root, std::string_view key, ReadOne read_one, std::uint64_t seed,
                       Scenario& scenario) {
  const toml::node* node = root.take(key);
  if (node == nullptr) return {};
  const auto* array = node->as_array();
  const auto expected = [&](const toml::node& at) {
    return fail(ErrorCode::Invalid,
                fmt::format("{}: write [[{}]] above the keys of each one", root.place(at), key));
  };
  if (array == nullptr) return expected(*node);
  for (const auto& entry : *array) {
    const auto* table = entry.as_table();
    if (table == nullptr) return expected(entry);
    // Each with random choices of its own, whatever else stands in the file.
    auto phase = read_one(*table, root.file(), seed + scenario.phases.size());
    if (!phase) return fail(phase.error());
    if (scenario.phases.size() == most_phases) {
      return fail(ErrorCode::Invalid, fmt::format("{}: more than {} phases", phase->place, most_phases));
    }
    if (phase->name.empty()) phase->name = fmt::format("{} {}", key, scenario.phases.size() + 1);
    scenario.phases.push_back(std::move(*phase));
  }
  return {};
}

Result<toml::table> parse_toml(std::string_view text, const std::string& name) {
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& wrong) {
    return fail(ErrorCode::Invalid,
                fmt::format("{}:{}: {}", name, wrong.source().begin.line, printable(wrong.description())));
  }
}

}  // namespace

Result<Scenario> parse_scenario(std::string_view text, const std::string& name) {
  const auto parsed = parse_toml(text, name);
  if (!parsed) return fail(parsed.error());
  TableReader root(*parsed, name, "scenario");
  std::uint64_t seed = 1;
  root.read("seed", seed, 0, ~std::uint64_t{0} >> 1U);
  Scenario scenario;
  if (auto read = read_list(root, "phase", read_phase, seed, scenario); !read) return fail(read.error());
  if (auto read = read_list(root, "job", read_job, seed, scenario); !read) return fail(read.error());
  if (auto done = root.finish(); !done) return fail(done.error());
  return scenario;
}

Result<Phase> parse_phase(std::string_view text, const std::string& name) {
  const auto parsed = parse_toml(text, name);
  if (!parsed) return fail(parsed.error());
  return read_phase(*parsed, name, 1);
}

}  // namespace heddle::sim
