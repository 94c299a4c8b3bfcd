#include "app/config.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <variant>

namespace heddle::app {
namespace {

/// A value as TOML or --set gives it.
using Value = std::variant<std::string, std::int64_t, double, bool>;

struct Key {
  std::string_view name;  ///< section.key
  std::string_view doc;
  std::string_view example;  ///< the default, in TOML; "" for a string that is empty
  std::function<std::optional<std::string>(Config&, const Value&)>
      set;  ///< what was expected, when it does not fit
};

std::optional<Config::Seconds> duration(const Value& value) {
  double number = 0;
  std::string_view unit = "s";
  if (const auto* text = std::get_if<std::string>(&value)) {
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
    if (error != std::errc{}) return std::nullopt;
    unit = std::string_view{end, static_cast<std::size_t>(text->data() + text->size() - end)};
  } else if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    number = static_cast<double>(*whole);
  } else if (const auto* real = std::get_if<double>(&value)) {
    number = *real;
  } else {
    return std::nullopt;
  }
  struct Unit {
    std::string_view name;
    double seconds;
  };
  constexpr std::array units{Unit{"us", 1e-6}, Unit{"ms", 1e-3}, Unit{"s", 1}, Unit{"min", 60},
                             Unit{"h", 3600}};
  for (const auto& [name, factor] : units) {
    if (name != unit) continue;
    const double nanoseconds = number * factor * 1e9;
    if (!(nanoseconds > 0) || nanoseconds > 1e18) return std::nullopt;
    return Config::Seconds{std::llround(nanoseconds)};
  }
  return std::nullopt;
}

std::optional<std::uint64_t> hexadecimal(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + 2, end, value, 16);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

auto string_key(std::string& (*member)(Config&)) {
  return [member](Config& config, const Value& value) -> std::optional<std::string> {
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr) return "a string";
    member(config) = *text;
    return std::nullopt;
  };
}

auto duration_key(Config::Seconds& (*member)(Config&)) {
  return [member](Config& config, const Value& value) -> std::optional<std::string> {
    const auto parsed = duration(value);
    if (!parsed) return "a duration above zero such as \"500ms\", \"2s\" or \"10min\"";
    member(config) = *parsed;
    return std::nullopt;
  };
}

std::optional<double> real(const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  return std::nullopt;
}

auto ratio_key(Ratio& (*member)(Config&)) {
  return [member](Config& config, const Value& value) -> std::optional<std::string> {
    const auto share = real(value);
    if (!share || !(*share > 0 && *share <= 1)) return "a share above 0, and 1 at most";
    member(config) = Ratio{*share};
    return std::nullopt;
  };
}

auto small_key(unsigned& (*member)(Config&)) {
  return [member](Config& config, const Value& value) -> std::optional<std::string> {
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number == nullptr || *number < 0 || *number > 100'000) return "a whole number from 0 to 100000";
    member(config) = static_cast<unsigned>(*number);
    return std::nullopt;
  };
}

auto yes_no_key(bool& (*member)(Config&)) {
  return [member](Config& config, const Value& value) -> std::optional<std::string> {
    const auto* yes = std::get_if<bool>(&value);
    if (yes == nullptr) return "true or false";
    member(config) = *yes;
    return std::nullopt;
  };
}

auto count_key(std::uint64_t& (*member)(Config&), std::uint64_t least, std::uint64_t most) {
  return [member, least, most](Config& config, const Value& value) -> std::optional<std::string> {
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number == nullptr || *number < 0 || static_cast<std::uint64_t>(*number) < least ||
        static_cast<std::uint64_t>(*number) > most) {
      return fmt::format("a whole number from {} to {}", least, most);
    }
    member(config) = static_cast<std::uint64_t>(*number);
    return std::nullopt;
  };
}

template <class Enum>
struct Choice {
  std::string_view name;
  Enum value;
};

template <class Enum, std::size_t N>
auto choice_key(Enum& (*member)(Config&), std::array<Choice<Enum>, N> choices) {
  return [member, choices](Config& config, const Value& value) -> std::optional<std::string> {
    std::string names;
    for (const auto& choice : choices) {
      const auto* text = std::get_if<std::string>(&value);
      if (text != nullptr && *text == choice.name) {
        member(config) = choice.value;
        return std::nullopt;
      }
      names += fmt::format("{}\"{}\"", names.empty() ? "" : " or ", choice.name);
    }
    return names;
  };
}

const std::vector<Key>& keys() {
  static const std::vector<Key> all{
      {"fabric.backend", "\"umad\": the fabric behind a port of this host. \"sim\": a simulated one.",
       "\"umad\"",
       choice_key<BackendKind>([](Config& c) -> BackendKind& { return c.fabric.backend; },
                               std::array{Choice<BackendKind>{"umad", BackendKind::Umad},
                                          Choice<BackendKind>{"sim", BackendKind::Sim}})},
      {"fabric.device",
       "umad: the port to use, as \"mlx5_0:1\" or a port GUID; empty for the first active one.\n"
       "Several, separated by commas, are tried in turn.",
       "\"\"", string_key([](Config& c) -> std::string& { return c.fabric.device; })},
      {"fabric.read_only", "Send nothing but Get, so that nothing in the fabric can change.", "false",
       [](Config& config, const Value& value) -> std::optional<std::string> {
         const auto* yes = std::get_if<bool>(&value);
         if (yes == nullptr) return "true or false";
         config.fabric.read_only = *yes;
         return std::nullopt;
       }},
      {"fabric.m_key", "The M_Key that the ports of the fabric want, as \"0x0123456789abcdef\".", "\"0x0\"",
       [](Config& config, const Value& value) -> std::optional<std::string> {
         const auto* text = std::get_if<std::string>(&value);
         const auto key = text != nullptr ? hexadecimal(*text) : std::nullopt;
         if (!key) return "up to 16 hexadecimal digits in quotes, such as \"0x1f\"";
         config.fabric.m_key = *key;
         return std::nullopt;
       }},
      {"fabric.file", "sim: output of ibnetdiscover, or an ibsim net file, to simulate.", "\"\"",
       string_key([](Config& c) -> std::string& { return c.fabric.file; })},
      {"fabric.generate",
       "sim: a fabric to generate when there is no file, as \"tree:k=18,n=3\" or \"torus:8x8,hosts=4\"\n"
       "(heddle fabric generate --help lists them all).",
       "\"\"", string_key([](Config& c) -> std::string& { return c.fabric.generate; })},
      {"fabric.scenario", "sim: traffic over time, a TOML file (docs/scenarios.md); or \"demo\".", "\"\"",
       string_key([](Config& c) -> std::string& { return c.fabric.scenario; })},
      {"fabric.plane",
       "sim: \"flow\": traffic as rates, on any fabric. \"packet\": every packet, on small fabrics and with "
       "a\n"
       "small time_scale (docs/packet-simulator.md).",
       "\"flow\"",
       choice_key<sim::PlaneKind>([](Config& c) -> sim::PlaneKind& { return c.fabric.plane; },
                                  std::array{Choice<sim::PlaneKind>{"flow", sim::PlaneKind::Flow},
                                             Choice<sim::PlaneKind>{"packet", sim::PlaneKind::Packet}})},
      {"fabric.time_scale", "sim: simulated seconds per real second.", "1.0",
       [](Config& config, const Value& value) -> std::optional<std::string> {
         double scale = 0;
         if (const auto* real = std::get_if<double>(&value)) scale = *real;
         if (const auto* whole = std::get_if<std::int64_t>(&value)) scale = static_cast<double>(*whole);
         if (!(scale >= 1e-3 && scale <= 1e5)) return "a number from 0.001 to 100000";
         config.fabric.time_scale = scale;
         return std::nullopt;
       }},
      {"fabric.seed", "sim: the seed of everything that is random.", "1",
       count_key([](Config& c) -> std::uint64_t& { return c.fabric.seed; }, 0,
                 std::numeric_limits<std::int64_t>::max())},
      {"fabric.serve",
       "sim: a name under which other programs find the simulated fabric, for `IBSIM_SOCKNAME=NAME ibsim-run "
       "...`\nand `heddle sim ... --name NAME`; empty for none.",
       "\"\"", string_key([](Config& c) -> std::string& { return c.fabric.serve; })},
      {"fabric.node_names", "A node name map, as OpenSM's: names for GUIDs.", "\"\"",
       string_key([](Config& c) -> std::string& { return c.fabric.node_names; })},
      {"sm.mode",
       "\"auto\": be the subnet manager of a fabric that has none; where another one was met, only\n"
       "watch until the next start. \"off\": never.",
       "\"auto\"",
       choice_key<SmMode>(
           [](Config& c) -> SmMode& { return c.sm.mode; },
           std::array{Choice<SmMode>{"auto", SmMode::Auto}, Choice<SmMode>{"off", SmMode::Off}})},
      {"sm.lmc", "As subnet manager: every port gets 2^lmc LIDs.", "0",
       count_key([](Config& c) -> std::uint64_t& { return c.sm.lmc; }, 0, 7)},
      {"sm.engine",
       "As subnet manager: \"updn\" (free of deadlock) or \"minhop\" (shortest paths, which can deadlock).",
       "\"updn\"",
       choice_key<RoutingEngine>([](Config& c) -> RoutingEngine& { return c.sm.engine; },
                                 std::array{Choice<RoutingEngine>{"updn", RoutingEngine::UpDown},
                                            Choice<RoutingEngine>{"minhop", RoutingEngine::MinHop}})},
      {"sweep.light_interval", "How often the switches are asked whether anything changed.", "\"10s\"",
       duration_key([](Config& c) -> Config::Seconds& { return c.sweep.light_interval; })},
      {"sweep.heavy_interval", "How often the whole fabric is discovered anew.", "\"10min\"",
       duration_key([](Config& c) -> Config::Seconds& { return c.sweep.heavy_interval; })},
      {"qos.verify_interval", "How often the QoS tables of all ports are compared with what was pushed.",
       "\"10min\"", duration_key([](Config& c) -> Config::Seconds& { return c.qos.verify_interval; })},
      {"sampling.interval", "How often every port's counters are read.", "\"1s\"",
       duration_key([](Config& c) -> Config::Seconds& { return c.sampling.interval; })},
      {"sampling.window", "MADs outstanding in the whole fabric, at most.", "64",
       count_key([](Config& c) -> std::uint64_t& { return c.sampling.window; }, 1, 4096)},
      {"sampling.per_agent", "MADs outstanding at one agent, at most.", "4",
       count_key([](Config& c) -> std::uint64_t& { return c.sampling.per_agent; }, 1, 64)},
      {"sampling.timeout", "How long an answer may take before the MAD is sent again.", "\"200ms\"",
       duration_key([](Config& c) -> Config::Seconds& { return c.sampling.timeout; })},
      {"sampling.retries", "How often a MAD is sent again.", "3",
       count_key([](Config& c) -> std::uint64_t& { return c.sampling.retries; }, 0, 16)},
      {"sampling.history", "Samples that are kept of each link, for the page and for reports.", "120",
       count_key([](Config& c) -> std::uint64_t& { return c.sampling.history; }, 1, 100000)},
      {"metrics.listen", "Address and port of /metrics; empty for none.", "\"127.0.0.1:9683\"",
       string_key([](Config& c) -> std::string& { return c.metrics.listen; })},
      {"control.socket", "Unix socket for the command line.", "\"/run/heddle/control.sock\"",
       string_key([](Config& c) -> std::string& { return c.control.socket; })},
      {"control.group", "Besides root, members of this group may change things.", "\"heddle\"",
       string_key([](Config& c) -> std::string& { return c.control.group; })},
      {"control.others_may_read", "Whether everybody on this host may ask.", "false",
       yes_no_key([](Config& c) -> bool& { return c.control.others_may_read; })},
      {"state.directory", "What must survive a restart.", "\"/var/lib/heddle\"",
       string_key([](Config& c) -> std::string& { return c.state.directory; })},
      {"regulation.mode",
       "\"advise\": say which links would be turned off, and turn none off. \"enforce\": do it. \"off\": "
       "neither.\n"
       "What `heddle regulate` sets stays set over restarts.",
       "\"advise\"",
       choice_key<regulation::Mode>([](Config& c) -> regulation::Mode& { return c.regulation.governor.mode; },
                                    std::array{Choice<regulation::Mode>{"advise", regulation::Mode::Advise},
                                               Choice<regulation::Mode>{"enforce", regulation::Mode::Enforce},
                                               Choice<regulation::Mode>{"off", regulation::Mode::Off}})},
      {"regulation.policy",
       "\"trunk\": of several links between the same two switches, those that are not needed. \"general\": "
       "any\n"
       "link between switches, as long as all hosts stay connected and no link gets too busy.",
       "\"trunk\"",
       choice_key<regulation::SelectPolicy>(
           [](Config& c) -> regulation::SelectPolicy& { return c.regulation.governor.select.policy; },
           std::array{Choice<regulation::SelectPolicy>{"trunk", regulation::SelectPolicy::Trunk},
                      Choice<regulation::SelectPolicy>{"general", regulation::SelectPolicy::General}})},
      {"regulation.u_off", "Links may go while those that stay are less busy than this share.", "0.30",
       ratio_key([](Config& c) -> Ratio& { return c.regulation.governor.select.thresholds.u_off; })},
      {"regulation.u_on", "Links come back when one is busier than this share.", "0.70",
       ratio_key([](Config& c) -> Ratio& { return c.regulation.governor.select.thresholds.u_on; })},
      {"regulation.waiting", "Links come back when one has data waiting for this share of the time.", "0.20",
       ratio_key([](Config& c) -> Ratio& { return c.regulation.governor.waiting; })},
      {"regulation.quiet", "A link goes when it has been below its threshold for so long.", "\"10min\"",
       duration_key([](Config& c) -> Config::Seconds& { return c.regulation.governor.quiet; })},
      {"regulation.least_on", "A link that came back stays on for so long.", "\"10min\"",
       duration_key([](Config& c) -> Config::Seconds& { return c.regulation.governor.least_on; })},
      {"regulation.least_off", "A link that went off stays off for so long, unless load rises.", "\"2min\"",
       duration_key([](Config& c) -> Config::Seconds& { return c.regulation.governor.least_off; })},
      {"regulation.drain",
       "Between the last forwarding table that is written and the first link that goes off.", "\"2s\"",
       duration_key([](Config& c) -> Config::Seconds& { return c.regulation.governor.drain; })},
      {"regulation.wake", "What it takes for a link to carry traffic again.", "\"4500ms\"",
       duration_key([](Config& c) -> Config::Seconds& { return c.regulation.governor.wake; })},
      {"regulation.break_even",
       "A link goes only if it is expected to stay off for so many times what going and coming back take.",
       "10.0",
       [](Config& config, const Value& value) -> std::
                                                  optional<std::string> {
                                                    const auto number = real(value);
                                                    if (!number || !(*number >= 1) || !(*number <= 1e6))
                                                      return "a number from 1 to 1000000";
                                                    config.regulation.governor.break_even = *number;
                                                    return std::nullopt;
                                                  }},
      {"regulation.most_closing", "Links that are taken away at a time; 0 for any number.", "16",
       small_key([](Config& c) -> unsigned& { return c.regulation.governor.most_closing; })},
      {"regulation.most_transitions", "How often a link may go and come in 24 hours; then it is left on.",
       "24", small_key([](Config& c) -> unsigned& { return c.regulation.governor.most_transitions; })},
      {"regulation.chassis",
       "Links inside a director switch: \"keep\" them on, or \"regulate\" them as all others.", "\"keep\"",
       choice_key<regulation::Chassis>(
           [](Config& c) -> regulation::Chassis& { return c.regulation.governor.policy.chassis; },
           std::array{Choice<regulation::Chassis>{"keep", regulation::Chassis::Keep},
                      Choice<regulation::Chassis>{"regulate", regulation::Chassis::Regulate}})},
      {"regulation.on_stop",
       "When the daemon is stopped: \"restore\" brings back what the regulation turned off, \"leave\" leaves "
       "it\n"
       "off until the daemon runs again.",
       "\"restore\"",
       choice_key<OnStop>(
           [](Config& c) -> OnStop& { return c.regulation.on_stop; },
           std::array{Choice<OnStop>{"restore", OnStop::Restore}, Choice<OnStop>{"leave", OnStop::Leave}})},
      {"opensm.plugin",
       "Whether OpenSM manages this fabric with the plugin libheddle-opensm.so (docs/opensm.md): then links "
       "are\n"
       "regulated through it, and this daemon is no subnet manager itself.",
       "false", yes_no_key([](Config& c) -> bool& { return c.opensm.plugin; })},
      {"opensm.socket", "Unix socket to which the plugin connects.", "\"/run/heddle/opensm.sock\"",
       string_key([](Config& c) -> std::string& { return c.opensm.socket; })},
      {"opensm.lmc", "lmc of opensm.conf: with 1 or more, tables change in one LID plane after the other.",
       "0", count_key([](Config& c) -> std::uint64_t& { return c.opensm.lmc; }, 0, 7)},
      {"opensm.reduction",
       "Whether force_link_width, force_link_speed and force_link_speed_ext are 0 in opensm.conf, so that "
       "OpenSM\n"
       "leaves reduced widths and speeds alone.",
       "false", yes_no_key([](Config& c) -> bool& { return c.opensm.reduction; })},
      {"log.level", "\"debug\", \"info\", \"warning\" or \"error\".", "\"info\"",
       [](Config& config, const Value& value) -> std::optional<std::string> {
         const auto* text = std::get_if<std::string>(&value);
         if (text == nullptr ||
             (*text != "debug" && *text != "info" && *text != "warning" && *text != "error")) {
           return "\"debug\", \"info\", \"warning\" or \"error\"";
         }
         config.log.level = *text;
         return std::nullopt;
       }},
  };
  return all;
}

const Key* find_key(std::string_view name) {
  for (const auto& key : keys()) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

/// " (did you mean x?)" for a key that differs in one or two letters from a known one.
std::string suggestion(std::string_view name) {
  const auto distance = [](std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j <= b.size(); ++j) {
        const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
      }
    }
    return row[b.size()];
  };
  for (const auto& key : keys()) {
    if (distance(name, key.name) <= 2) return fmt::format("; did you mean {}?", key.name);
  }
  return "; 'heddled --print-config' lists all keys";
}

std::string place(const toml::node& node, const std::string& name) {
  return fmt::format("{}:{}", name, node.source().begin.line);
}

std::optional<Value> value_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return Value{text->get()};
  if (const auto* number = node.as_integer()) return Value{number->get()};
  if (const auto* real = node.as_floating_point()) return Value{real->get()};
  if (const auto* yes = node.as_boolean()) return Value{yes->get()};
  return std::nullopt;
}

Result<NamedSet> read_set(const toml::node& node, const std::string& name) {
  const auto expected = [&](const toml::node& at, std::string_view what) {
    return fail(ErrorCode::Invalid, fmt::format("{}: [[locality.set]] {}", place(at, name), what));
  };
  const auto* table = node.as_table();
  if (table == nullptr) return expected(node, "must be a table with name and nodes");
  NamedSet set;
  for (const auto& [key, member] : *table) {
    if (key == "name" && member.is_string()) {
      set.name = member.as_string()->get();
    } else if (key == "nodes" && member.is_array()) {
      for (const auto& pattern : *member.as_array()) {
        if (!pattern.is_string()) return expected(pattern, "nodes must be a list of strings");
        set.nodes.push_back(pattern.as_string()->get());
      }
    } else {
      return expected(member,
                      fmt::format("takes name (a string) and nodes (a list of strings), not {}", key.str()));
    }
  }
  if (set.name.empty() || set.nodes.empty()) return expected(node, "needs a name and nodes");
  return set;
}

Result<void> read_section(Config& config, const toml::table& table, const std::string& section,
                          const std::string& name) {
  for (const auto& [key, node] : table) {
    const std::string full = fmt::format("{}.{}", section, key.str());
    if (full == "locality.set" && node.is_array()) {
      for (const auto& entry : *node.as_array()) {
        auto set = read_set(entry, name);
        if (!set) return fail(set.error());
        config.sets.push_back(std::move(*set));
      }
      continue;
    }
    if (full == "power.model") continue;  // power::read_models has them
    const Key* known = find_key(full);
    if (known == nullptr) {
      return fail(ErrorCode::Invalid,
                  fmt::format("{}: there is no key {}{}", place(node, name), full, suggestion(full)));
    }
    const auto value = value_of(node);
    const auto expected = value ? known->set(config, *value) : std::optional<std::string>{"a plain value"};
    if (expected) {
      return fail(ErrorCode::Invalid, fmt::format("{}: {} must be {}", place(node, name), full, *expected));
    }
  }
  return {};
}

}  // namespace

Result<Config> parse_config(std::string_view text, const std::string& name) {
  Config config;
  toml::table root;
  try {
    root = toml::parse(text, name);
  } catch (const toml::parse_error& wrong) {
    return fail(ErrorCode::Invalid,
                fmt::format("{}:{}: {}", name, wrong.source().begin.line, wrong.description()));
  }
  for (const auto& [section, node] : root) {
    const auto* table = node.as_table();
    if (table == nullptr) {
      return fail(ErrorCode::Invalid,
                  fmt::format("{}: {} stands outside of any [section]", place(node, name), section.str()));
    }
    if (auto read = read_section(config, *table, std::string(section.str()), name); !read)
      return fail(read.error());
  }
  if (root.contains("power")) {
    auto models = power::read_models(text, name);
    if (!models) return fail(models.error());
    config.power_models = *std::move(models);
  }
  return config;
}

Result<Config> read_config(const std::string& path) {
  std::error_code wrong;
  if (!std::filesystem::exists(path, wrong)) {
    return fail(ErrorCode::NotFound,
                fmt::format("{}: there is no such file; 'heddled --print-config' writes one", path));
  }
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return fail(ErrorCode::Io, fmt::format("{}: {}", path, std::strerror(errno)));
  std::string text;
  std::array<char, 65536> chunk{};
  while (const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), file))
    text.append(chunk.data(), got);
  const bool broken = std::ferror(file) != 0;
  std::fclose(file);
  if (broken) return fail(ErrorCode::Io, fmt::format("{}: cannot be read (is it a directory?)", path));
  return parse_config(text, path);
}

Result<void> override_config(Config& config, const std::string& assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string::npos) {
    return fail(ErrorCode::Invalid, fmt::format("--set {}: expected section.key=value", assignment));
  }
  const std::string name = assignment.substr(0, equals);
  const std::string text = assignment.substr(equals + 1);
  const Key* key = find_key(name);
  if (key == nullptr) {
    return fail(ErrorCode::Invalid, fmt::format("--set {}: there is no such key{}", name, suggestion(name)));
  }
  // A shell takes the quotes away, so what is not a number or a truth value is a string.
  std::vector<Value> readings;
  std::int64_t whole = 0;
  const char* end = text.data() + text.size();
  if (const auto got = std::from_chars(text.data(), end, whole); got.ec == std::errc{} && got.ptr == end) {
    readings.emplace_back(whole);
  }
  double real = 0;
  if (const auto got = std::from_chars(text.data(), end, real); got.ec == std::errc{} && got.ptr == end) {
    readings.emplace_back(real);
  }
  if (text == "true" || text == "false") readings.emplace_back(text == "true");
  readings.emplace_back(text);
  std::optional<std::string> expected;
  for (const auto& reading : readings) {
    expected = key->set(config, reading);
    if (!expected) return {};
  }
  return fail(ErrorCode::Invalid, fmt::format("--set {}: must be {}, not '{}'", name, *expected, text));
}

Result<void> check_config(const Config& config) {
  if (config.fabric.backend == BackendKind::Sim && config.fabric.file.empty() &&
      config.fabric.generate.empty()) {
    return fail(
        ErrorCode::Invalid,
        "fabric.backend is \"sim\", but neither fabric.file nor fabric.generate says what to simulate");
  }
  if (!config.fabric.file.empty() && !config.fabric.generate.empty()) {
    return fail(ErrorCode::Invalid, "fabric.file and fabric.generate are both given: take one away");
  }
  if (config.fabric.backend != BackendKind::Sim && !config.fabric.serve.empty()) {
    return fail(ErrorCode::Invalid,
                "fabric.serve needs fabric.backend = \"sim\": only a simulated fabric is served");
  }
  for (const auto* file : {&config.fabric.file, &config.fabric.scenario, &config.fabric.node_names}) {
    std::error_code wrong;
    if (file == &config.fabric.scenario && *file == "demo") continue;  // built in
    if (!file->empty() && !std::filesystem::exists(*file, wrong)) {
      return fail(ErrorCode::NotFound, fmt::format("{}: there is no such file", *file));
    }
  }
  if (auto good = regulation::check(governor_options(config)); !good) {
    return fail("[regulation]", good.error());
  }
  if (config.sampling.per_agent > config.sampling.window) {
    return fail(ErrorCode::Invalid, "sampling.per_agent is more than sampling.window");
  }
  return {};
}

regulation::GovernorOptions governor_options(const Config& config) {
  regulation::GovernorOptions options = config.regulation.governor;
  options.power = power::PowerModel(config.power_models);
  const std::uint64_t lmc = config.opensm.plugin ? config.opensm.lmc : config.sm.lmc;
  // Whoever shortens the quiet time wants links to go soon after it.
  options.plan_every =
      std::min<std::chrono::nanoseconds>(options.plan_every, config.regulation.governor.quiet);
  options.planes = lmc > 0 ? 2 : 1;
  options.movement = lmc > 0 ? regulation::Movement::Planes : regulation::Movement::Staged;
  return options;
}

std::string default_config_text() {
  std::string text =
      "# Configuration of heddled. Every key is here, with its default.\n"
      "# 'heddled --check-config' checks a file; SIGHUP makes the daemon read it again.\n";
  std::string section;
  for (const auto& key : keys()) {
    const auto dot = key.name.find('.');
    if (key.name.substr(0, dot) != section) {
      section = key.name.substr(0, dot);
      text += fmt::format("\n[{}]\n", section);
    }
    std::string_view doc = key.doc;
    while (!doc.empty()) {
      const auto end = std::min(doc.find('\n'), doc.size());
      text += fmt::format("# {}\n", doc.substr(0, end));
      doc.remove_prefix(std::min(end + 1, doc.size()));
    }
    text += fmt::format("{} = {}\n", key.name.substr(dot + 1), key.example);
  }
  text +=
      "\n# Sets of nodes whose locality is reported besides the subtrees and pods that are found by "
      "themselves.\n"
      "# [[locality.set]]\n"
      "# name = \"rack-1\"\n"
      "# nodes = [\"rack1-*\", \"login[12]*\"]\n"
      "\n# What kinds of switches draw, in watts; the first that matches by vendor, device and pattern (over "
      "the\n"
      "# node description) counts. Switches that none matches count as the Cisco SFS7000D of table 1 of the "
      "paper.\n"
      "# [[power.model]]\n"
      "# name = \"QM8700\"\n"
      "# vendor = 0x02c9\n"
      "# device = 0xd2f0\n"
      "# base = 120.0\n"
      "# ports = [ { mode = \"4xHDR\", watts = 3.1 }, { mode = \"2xHDR\", watts = 2.0 } ]\n";
  return text;
}

}  // namespace heddle::app
