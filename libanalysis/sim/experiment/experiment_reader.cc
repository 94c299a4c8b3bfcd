#include <fmt/format.h>
#include <toml++/toml.h>

#include <limits>

#include "sim/experiment/experiment.h"
#include "sim/experiment/experiment_keys.h"

namespace heddle::packet {
namespace {

/// `connection` is one that is not balanced.
void read_connections(Keys& keys, TrafficClass& traffic) {
  bool one = false;
  keys.flag("connection", one);
  if (one && keys.has("connections")) keys.wrong("connection", "connections says how many: take one away");
  traffic.connections = one ? 1 : 0;
  keys.integer("connections", traffic.connections, 1, 1024);
  keys.flag("balanced", traffic.balanced);
}

void read_rate(Keys& keys, ExperimentTraffic& made) {
  keys.number("part", made.part, 0, 1);
  keys.number("rest", made.rest, 0, 1);
  keys.number("rate", made.traffic.rate, 0, 1);
  const int said = int{keys.has("part")} + int{keys.has("rest")} + int{keys.has("rate")};
  if (made.traffic.process == Process::Backlog) {
    if (said > 0) keys.wrong("process", "a backlog has neither rate nor part nor rest");
  } else if (said != 1) {
    keys.wrong("rate", "either rate or part (of the load) or rest (of it) must be there");
  }
}

void read_traffic(Keys& keys, Experiment& experiment, DataPlane& plane) {
  ExperimentTraffic made;
  TrafficClass& traffic = made.traffic;
  keys.text("name", made.name);
  keys.integer("sl", traffic.sl, 0, 31);
  std::string text = "uniform";
  keys.text("pattern", text);
  if (const auto found = pattern(text)) {
    traffic.pattern = *found;
  } else {
    keys.wrong("pattern", fmt::format("\"{}\" is no pattern", text));
  }
  text = "bernoulli";
  keys.text("process", text);
  if (const auto found = process(text)) {
    traffic.process = *found;
  } else {
    keys.wrong("process", "must be one of \"bernoulli\", \"cbr\", \"burst\", \"backlog\"");
  }
  std::int64_t bytes = plane.flit_bytes;
  keys.integer("message", bytes, 1, most_bytes);
  traffic.message_flits = in_flits(bytes, plane.flit_bytes);
  bytes = 0;
  keys.integer("packet", bytes, 1, 1'000'000);
  if (bytes > 0) plane.sl_mtu[traffic.sl] = in_flits(bytes, plane.flit_bytes);
  read_rate(keys, made);
  keys.integer("burst", traffic.burst, 1, 1'000'000);
  read_connections(keys, traffic);
  keys.integers("hot", traffic.hot, 0, std::numeric_limits<std::int32_t>::max());
  keys.number("hot_part", traffic.hot_part, 0, 1);
  keys.integers("dimensions", traffic.dimensions, 1, 1'000'000);
  keys.integer("start", traffic.start, 0, most_cycles);
  keys.integer("stop", traffic.stop, 0, most_cycles);
  experiment.traffic.push_back(std::move(made));
}

void read_seeds(Keys& keys, Experiment& experiment) {
  std::uint64_t first = 1;
  keys.integer("seed", first, 0, std::numeric_limits<std::int64_t>::max());
  std::int64_t count = 1;
  keys.integer("seeds", count, 1, 10'000);
  for (std::int64_t i = 0; i < count; ++i) experiment.seeds.push_back(first + static_cast<std::uint64_t>(i));
}

/// [planes.NAME] of one file; what is in none of the two forms is wrong.
void collect_bases(Keys& keys, PlaneBases& bases) {
  const toml::node* node = keys.find("planes");
  const toml::table* planes = node == nullptr ? nullptr : node->as_table();
  if (node != nullptr && planes == nullptr) keys.wrong("planes", "must be tables: [planes.NAME]");
  if (planes == nullptr) return;
  for (const auto& [name, base] : *planes) {
    if (base.as_table() == nullptr) {
      keys.wrong("planes", "must be tables: [planes.NAME]");
    } else {
      bases.insert_or_assign(std::string{name.str()}, base.as_table());
    }
  }
}

void read_all(Keys& keys, Experiment& experiment, const PlaneBases& bases, Complaints& complaints) {
  keys.text("title", experiment.title);
  keys.text("fabric", experiment.source);
  if (experiment.source.empty()) keys.wrong("fabric", "must be a generator or a topology file");
  std::string engine = "updn";
  keys.text("routing", engine);
  if (const auto found = routing::engine_from(engine)) {
    experiment.routing = *found;
  } else {
    keys.wrong("routing", fmt::format("\"{}\" is no routing engine", engine));
  }
  keys.text("lfts", experiment.lfts);
  if (!experiment.lfts.empty() && keys.has("routing"))
    keys.wrong("routing", "the tables come from lfts: take one of the two away");
  keys.integer("warm_up", experiment.warm_up, 0, most_cycles);
  keys.integer("measure", experiment.measure, 1, most_cycles);
  read_seeds(keys, experiment);
  experiment.loads = {1};
  keys.numbers("loads", experiment.loads, 0, 100);
  if (experiment.loads.empty()) keys.wrong("loads", "must have at least one load");
  DataPlane plane;
  keys.table("plane", [&](Keys& inner) { read_plane(inner, plane, bases, complaints); });
  keys.tables("traffic", [&](Keys& inner) { read_traffic(inner, experiment, plane); });
  keys.tables("variant", [&](Keys& inner) {
    ExperimentVariant variant{"", plane, {}};
    inner.text("name", variant.name);
    inner.texts("closed", variant.closed);
    inner.integer("closed_per_trunk", variant.closed_per_trunk, 0, 255);
    if (variant.name.empty()) inner.wrong("name", "a variant needs a name");
    read_plane(inner, variant.plane, bases, complaints);
    experiment.variants.push_back(std::move(variant));
  });
  if (experiment.variants.empty()) experiment.variants.push_back({"run", plane, {}});
  keys.tables("link_change", [&](Keys& inner) {
    ExperimentLinkChange change;
    inner.integer("at", change.at, 0, most_cycles);
    inner.text("link", change.link);
    inner.flag("open", change.open);
    change.reroute = experiment.lfts.empty();
    inner.flag("reroute", change.reroute);
    if (change.reroute && !experiment.lfts.empty())
      inner.wrong("reroute", "the tables come from lfts, nobody makes others");
    experiment.changes.push_back(std::move(change));
  });
  keys.tables("trace", [&](Keys& inner) {
    ExperimentTrace trace;
    inner.text("file", trace.file);
    inner.text("mapping", trace.mapping);
    inner.integer("start", trace.start, 0, most_cycles);
    inner.integer("sl", trace.sl, 0, 31);
    inner.integer("local_ticks", trace.local_ticks, 0, most_cycles);
    if (trace.file.empty()) inner.wrong("file", "a trace needs its file");
    experiment.traces.push_back(std::move(trace));
  });
  if (experiment.traffic.empty() && experiment.traces.empty())
    keys.wrong("traffic", "there is none, and no trace");
}

Result<toml::table> parse(std::string_view text, const std::string& name) {
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    return fail(ErrorCode::Invalid,
                fmt::format("{}:{}: {}", name, error.source().begin.line, error.description()));
  }
}

/// The file that a text includes, which holds nothing but [planes].
Result<toml::table> parse_included(const toml::table& table, const IncludedText& included,
                                   Complaints& complaints) {
  const toml::node* node = table.get("include");
  if (node == nullptr) return toml::table{};
  const auto file = node->value_exact<std::string>();
  if (!file || file->empty()) {
    complaints.note(*node, "include", "must be the name of a file in quotes");
    return toml::table{};
  }
  if (!included) return fail(ErrorCode::Invalid, "include: nothing can be included here");
  const auto text = included(*file);
  if (!text) return fail("include", text.error());
  auto shared = parse(*text, *file);
  // Files that include each other would have no end.
  if (shared && shared->contains("include"))
    return fail(ErrorCode::Invalid, fmt::format("include: {} includes another file; only one may", *file));
  return shared;
}

}  // namespace

Result<Experiment> read_experiment(std::string_view text, const std::string& name,
                                   const IncludedText& included) {
  const auto table = parse(text, name);
  if (!table) return fail(table.error());
  Complaints complaints;
  const auto shared = parse_included(*table, included, complaints);
  if (!shared) return fail(name, shared.error());
  Experiment experiment;
  {
    PlaneBases bases;
    Keys of_shared{*shared, complaints};
    collect_bases(of_shared, bases);
    Keys keys{*table, complaints};
    keys.find("include");
    collect_bases(keys, bases);
    read_all(keys, experiment, bases, complaints);
  }
  if (complaints.error()) return fail(*complaints.error());
  return experiment;
}

}  // namespace heddle::packet
