#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "sim/packet/check.h"
#include "sim/packet/experiment.h"

namespace heddle::packet {
namespace {

template <class T>
struct Word {
  std::string_view text;
  T value;
};
constexpr std::array models{Word<SwitchModel>{"infiniband", SwitchModel::InfiniBand},
                            Word<SwitchModel>{"omni-path", SwitchModel::OmniPath}};
constexpr std::array ring_rules{Word<RingRule>{"none", RingRule::None},
                                Word<RingRule>{"bubble", RingRule::Bubble},
                                Word<RingRule>{"date-line", RingRule::DateLine}};
constexpr std::array up_routings{Word<UpRouting>{"programmed", UpRouting::Programmed},
                                 Word<UpRouting>{"valiant", UpRouting::Valiant},
                                 Word<UpRouting>{"adaptive", UpRouting::Adaptive}};
constexpr std::array output_arbiters{Word<OutputArbiter>{"per-crossbar", OutputArbiter::PerCrossbar},
                                     Word<OutputArbiter>{"one", OutputArbiter::One}};
constexpr std::array virtual_allocations{Word<VirtualAllocation>{"ready", VirtualAllocation::Ready},
                                         Word<VirtualAllocation>{"blind", VirtualAllocation::Blind}};
constexpr std::array closed_links{Word<ClosedLink>{"discard", ClosedLink::Discard},
                                  Word<ClosedLink>{"hold", ClosedLink::Hold}};
constexpr std::array disciplines{
    Word<Discipline>{"round-robin", Discipline::RoundRobin}, Word<Discipline>{"iba", Discipline::InfiniBand},
    Word<Discipline>{"sbt", Discipline::SimpleTable}, Word<Discipline>{"dtable", Discipline::DeficitTable}};
constexpr std::array low_grants{Word<qos::LowGrant>{"entry", qos::LowGrant::Entry},
                                Word<qos::LowGrant>{"packet", qos::LowGrant::Packet}};
constexpr std::array roundings{Word<qos::Rounding>{"up", qos::Rounding::Up},
                               Word<qos::Rounding>{"deficit", qos::Rounding::Deficit},
                               Word<qos::Rounding>{"units", qos::Rounding::Units}};
constexpr std::array restores{Word<qos::SbtRestore>{"all-used-up", qos::SbtRestore::AllUsedUp},
                              Word<qos::SbtRestore>{"all-waiting-dry", qos::SbtRestore::AllWaitingDry}};

/// The first thing that is wrong with a file, with its line.
class Complaints {
 public:
  explicit Complaints(std::string file) : file_{std::move(file)} {}
  void note(const toml::node& node, std::string_view key, std::string_view what) {
    if (!error_) {
      error_ =
          Error{ErrorCode::Invalid, fmt::format("{}:{}: {}: {}", file_, node.source().begin.line, key, what)};
    }
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  std::string file_;
  std::optional<Error> error_;
};

/// One table: typed values with bounds; keys that nobody asked for are wrong.
class Keys {
 public:
  Keys(const toml::table& table, Complaints& complaints) : table_{table}, complaints_{complaints} {}
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;
  ~Keys() {
    for (const auto& [key, node] : table_) {
      if (std::ranges::find(asked_, key.str()) == asked_.end())
        complaints_.note(node, key.str(), "is not a key here");
    }
  }

  const toml::node* find(std::string_view key) {
    asked_.push_back(key);
    return table_.get(key);
  }

  template <class T>
  void integer(std::string_view key, T& value, std::int64_t least, std::int64_t most) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    if (const auto read = whole(*node, key, least, most)) value = static_cast<T>(*read);
  }
  void number(std::string_view key, double& value, double least, double most) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    if (const auto read = real(*node, key, least, most)) value = *read;
  }
  void flag(std::string_view key, bool& value) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    if (const auto read = node->value_exact<bool>()) {
      value = *read;
    } else {
      complaints_.note(*node, key, "must be true or false");
    }
  }
  void text(std::string_view key, std::string& value) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    if (auto read = node->value_exact<std::string>()) {
      value = std::move(*read);
    } else {
      complaints_.note(*node, key, "must be text in quotes");
    }
  }
  template <class Words, class T>
  void word(std::string_view key, T& value, const Words& words) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    const auto text = node->value_exact<std::string>();
    std::string possible;
    for (const auto& word : words) {
      if (text && word.text == *text) {
        value = word.value;
        return;
      }
      possible += fmt::format("{}\"{}\"", possible.empty() ? "" : ", ", word.text);
    }
    complaints_.note(*node, key, "must be one of " + possible);
  }
  template <class T>
  void integers(std::string_view key, std::vector<T>& values, std::int64_t least, std::int64_t most) {
    const toml::array* array = list(key);
    if (array == nullptr) return;
    values.clear();
    for (const toml::node& node : *array) {
      if (const auto read = whole(node, key, least, most)) values.push_back(static_cast<T>(*read));
    }
  }
  void numbers(std::string_view key, std::vector<double>& values, double least, double most) {
    const toml::array* array = list(key);
    if (array == nullptr) return;
    values.clear();
    for (const toml::node& node : *array) {
      if (const auto read = real(node, key, least, most)) values.push_back(*read);
    }
  }
  void texts(std::string_view key, std::vector<std::string>& values) {
    const toml::array* array = list(key);
    if (array == nullptr) return;
    for (const toml::node& node : *array) {
      if (const auto read = node.value_exact<std::string>()) {
        values.push_back(*read);
      } else {
        complaints_.note(node, key, "must be a list of texts in quotes");
      }
    }
  }
  template <class F>
  void table(std::string_view key, F&& read) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    if (const toml::table* inner = node->as_table()) {
      Keys keys{*inner, complaints_};
      read(keys);
    } else {
      complaints_.note(*node, key, "must be a table");
    }
  }
  template <class F>
  void tables(std::string_view key, F&& read) {
    const toml::array* array = list(key);
    if (array == nullptr) return;
    for (const toml::node& node : *array) {
      if (const toml::table* inner = node.as_table()) {
        Keys keys{*inner, complaints_};
        read(keys);
      } else {
        complaints_.note(node, key, "must be a list of tables");
      }
    }
  }
  /// [[lane, weight], ...]
  void entries(std::string_view key, std::vector<TableEntry>& entries) {
    const toml::array* array = list(key);
    if (array == nullptr) return;
    entries.clear();
    for (const toml::node& node : *array) {
      const toml::array* pair = node.as_array();
      if (pair == nullptr || pair->size() != 2) {
        complaints_.note(node, key, "must be a list of [lane, weight]");
        return;
      }
      const auto lane = whole((*pair)[0], key, 0, 31);
      const auto weight = whole((*pair)[1], key, 0, 1'000'000);
      if (!lane || !weight) return;
      entries.push_back({static_cast<std::uint8_t>(*lane), static_cast<std::uint32_t>(*weight)});
    }
  }
  void wrong(std::string_view key, std::string_view what) {
    const toml::node* node = table_.get(key);
    complaints_.note(node != nullptr ? *node : static_cast<const toml::node&>(table_), key, what);
  }
  [[nodiscard]] bool has(std::string_view key) const { return table_.contains(key); }

 private:
  const toml::array* list(std::string_view key) {
    const toml::node* node = find(key);
    if (node == nullptr) return nullptr;
    if (node->as_array() == nullptr) complaints_.note(*node, key, "must be a list");
    return node->as_array();
  }
  std::optional<std::int64_t> whole(const toml::node& node, std::string_view key, std::int64_t least,
                                    std::int64_t most) {
    const auto read = node.value_exact<std::int64_t>();
    if (read && *read >= least && *read <= most) return read;
    complaints_.note(node, key, fmt::format("must be a whole number from {} to {}", least, most));
    return std::nullopt;
  }
  std::optional<double> real(const toml::node& node, std::string_view key, double least, double most) {
    const auto read = node.is_number() ? node.value<double>() : std::nullopt;
    if (read && *read >= least && *read <= most) return read;
    complaints_.note(node, key, fmt::format("must be a number from {} to {}", least, most));
    return std::nullopt;
  }

  const toml::table& table_;
  Complaints& complaints_;
  std::vector<std::string_view> asked_;
};

constexpr std::int64_t most_bytes = 1'000'000'000;
constexpr std::int64_t most_cycles = 1'000'000'000'000;

void read_scheduler(Keys& keys, SchedulerConfig& scheduler) {
  keys.word("discipline", scheduler.discipline, disciplines);
  keys.entries("table", scheduler.high);
  keys.entries("low", scheduler.low);
  keys.integer("high_limit", scheduler.high_limit, 0, 255);
  keys.word("low_grant", scheduler.low_grant, low_grants);
  keys.word("rounding", scheduler.rounding, roundings);
  keys.word("restore", scheduler.restore, restores);
}

void read_delays(Keys& keys, StageDelays& delays) {
  keys.integer("injection", delays.injection, 0, 1'000'000);
  keys.integer("input", delays.input, 0, 1'000'000);
  keys.integer("routing", delays.routing, 0, 1'000'000);
  keys.integer("allocation", delays.allocation, 0, 1'000'000);
  keys.integer("crossbar", delays.crossbar, 0, 1'000'000);
  keys.integer("output", delays.output, 0, 1'000'000);
  keys.integer("flight", delays.flight, 0, 1'000'000);
  keys.integer("credit", delays.credit, 0, 1'000'000);
}

void buffer(Keys& keys, std::string_view key, std::int32_t& flits, int flit_bytes) {
  std::int64_t bytes = std::int64_t{flits} * flit_bytes;
  keys.integer(key, bytes, 1, most_bytes);
  flits = static_cast<std::int32_t>(bytes / flit_bytes);
}

std::int32_t in_flits(std::int64_t bytes, int flit_bytes) {
  return static_cast<std::int32_t>((bytes + flit_bytes - 1) / flit_bytes);
}

/// Bytes by SL, 0 for what `mtu` says.
void read_sl_mtu(Keys& keys, DataPlane& plane) {
  std::vector<std::int64_t> bytes;
  keys.integers("sl_mtu", bytes, 0, 1'000'000);
  if (bytes.size() > plane.sl_mtu.size()) keys.wrong("sl_mtu", "has more than 32 entries");
  for (std::size_t sl = 0; sl < std::min(bytes.size(), plane.sl_mtu.size()); ++sl) {
    plane.sl_mtu[sl] = in_flits(bytes[sl], plane.flit_bytes);
  }
}

/// Keys of [plane], and of each [[variant]], which begins with what [plane] says.
void read_plane(Keys& keys, DataPlane& plane) {
  keys.word("model", plane.model, models);
  std::int64_t cycle = plane.cycle.count();
  keys.integer("cycle_ps", cycle, 1, 1'000'000'000);
  plane.cycle = Picoseconds{cycle};
  keys.integer("flit_bytes", plane.flit_bytes, 1, 65'536);
  keys.integer("vls", plane.vls, 1, 32);
  std::vector<std::uint8_t> vls;
  keys.integers("sl_to_vl", vls, 0, 31);
  if (vls.size() > plane.sl_to_vl.size()) keys.wrong("sl_to_vl", "has more than 32 entries");
  std::copy_n(vls.begin(), std::min(vls.size(), plane.sl_to_vl.size()), plane.sl_to_vl.begin());
  std::int64_t mtu = std::int64_t{plane.max_packet} * plane.flit_bytes;
  keys.integer("mtu", mtu, 1, 1'000'000);
  plane.max_packet = static_cast<std::int32_t>((mtu + plane.flit_bytes - 1) / plane.flit_bytes);
  keys.integer("allocation_passes", plane.allocation_passes, 1, 64);
  keys.integer("input_lanes", plane.input_lanes, 1, 1024);
  keys.integer("output_lanes", plane.output_lanes, 1, 1024);
  keys.integer("crossbar_speed", plane.crossbar_speed, 1, greatest_speed);
  keys.integer("mport_speed", plane.mport_speed, 1, greatest_speed);
  keys.integer("central_speed", plane.central_speed, 1, greatest_speed);
  keys.word("output_arbiter", plane.output_arbiter, output_arbiters);
  keys.word("virtual_allocation", plane.virtual_allocation, virtual_allocations);
  keys.integer("allocation_retry", plane.allocation_retry, 0, 1'000'000);
  read_sl_mtu(keys, plane);
  keys.word("ring_rule", plane.ring_rule, ring_rules);
  keys.word("up_routing", plane.up_routing, up_routings);
  keys.word("closed_link", plane.closed_link, closed_links);
  keys.integer("head_lifetime", plane.head_lifetime, 0, most_cycles);
  keys.table("delays", [&](Keys& inner) { read_delays(inner, plane.delays); });
  keys.table("buffers", [&](Keys& inner) {
    buffer(inner, "input", plane.input_flits, plane.flit_bytes);
    buffer(inner, "output", plane.output_flits, plane.flit_bytes);
    buffer(inner, "central", plane.central_flits, plane.flit_bytes);
    buffer(inner, "host", plane.host_flits, plane.flit_bytes);
    inner.number("least", plane.sharing.least, 0, 1);
    inner.number("greatest", plane.sharing.greatest, 0, 1024);
  });
  keys.table("scheduler", [&](Keys& inner) {
    read_scheduler(inner, plane.switch_scheduler);
    plane.host_scheduler = plane.switch_scheduler;
  });
  keys.table("switch_scheduler", [&](Keys& inner) { read_scheduler(inner, plane.switch_scheduler); });
  keys.table("host_scheduler", [&](Keys& inner) { read_scheduler(inner, plane.host_scheduler); });
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
  keys.number("part", made.part, 0, 1);
  keys.number("rate", traffic.rate, 0, 1);
  if (traffic.process == Process::Backlog) {
    if (keys.has("part") || keys.has("rate")) keys.wrong("process", "a backlog has neither rate nor part");
  } else if (keys.has("part") == keys.has("rate")) {
    keys.wrong("rate", "either rate or part (of the load) must be there");
  }
  keys.integer("burst", traffic.burst, 1, 1'000'000);
  keys.flag("connection", traffic.connection);
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

void read_all(Keys& keys, Experiment& experiment) {
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
  keys.table("plane", [&](Keys& inner) { read_plane(inner, plane); });
  keys.tables("traffic", [&](Keys& inner) { read_traffic(inner, experiment, plane); });
  keys.tables("variant", [&](Keys& inner) {
    ExperimentVariant variant{"", plane, {}};
    inner.text("name", variant.name);
    inner.texts("closed", variant.closed);
    if (variant.name.empty()) inner.wrong("name", "a variant needs a name");
    read_plane(inner, variant.plane);
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

}  // namespace

Result<Experiment> read_experiment(std::string_view text, const std::string& name) {
  toml::table table;
  try {
    table = toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    return fail(ErrorCode::Invalid,
                fmt::format("{}:{}: {}", name, error.source().begin.line, error.description()));
  }
  Complaints complaints{name};
  Experiment experiment;
  {
    Keys keys{table, complaints};
    read_all(keys, experiment);
  }
  if (complaints.error()) return fail(*complaints.error());
  return experiment;
}

}  // namespace heddle::packet
