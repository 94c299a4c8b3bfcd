#include "app/config.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>

#include "app/config_reload.h"
#include "app/config_values.h"
#include "app/notify_config.h"
#include "base/nearest.h"

namespace heddle::app {
namespace {

/// "; did you mean x?" for a key that is nearly a known one.
std::string suggestion(std::string_view name) {
  std::vector<std::string_view> known;
  for (const auto& key : keys()) known.emplace_back(key.name);
  if (const auto meant = nearest(name, known)) return fmt::format("; did you mean {}?", *meant);
  return "; 'heddled --print-config' lists all keys";
}

/// Of the keys and what they mean. A file that tells none is of version 1.
constexpr std::int64_t config_version = 1;

std::string place(const toml::node& node, const std::string& name) {
  return fmt::format("{}:{}", name, node.source().begin.line);
}

std::optional<Value> value_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return Value{text->get()};
  if (const auto* number = node.as_integer()) return Value{number->get()};
  if (const auto* real = node.as_floating_point()) return Value{real->get()};
  if (const auto* yes = node.as_boolean()) return Value{yes->get()};
  if (const auto* list = node.as_array()) {
    std::vector<std::string> texts;
    for (const auto& entry : *list) {
      if (!entry.is_string()) return std::nullopt;
      texts.push_back(entry.as_string()->get());
    }
    return Value{std::move(texts)};
  }
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

/// Strings and lists of strings by their keys; what they mean is notify_config.h's to say.
Result<NotifyEntry> read_destination(const toml::node& node, const std::string& name) {
  const auto expected = [&](const toml::node& at, std::string_view what) {
    return fail(ErrorCode::Invalid, fmt::format("{}: [[notify.destination]] {}", place(at, name), what));
  };
  const auto* table = node.as_table();
  if (table == nullptr) return expected(node, "must be a table with name and type");
  NotifyEntry entry{place(node, name), {}};
  for (const auto& [key, member] : *table) {
    const auto value = value_of(member);
    const auto* text = value ? std::get_if<std::string>(&*value) : nullptr;
    const auto* texts = value ? std::get_if<std::vector<std::string>>(&*value) : nullptr;
    if (text == nullptr && texts == nullptr) {
      return expected(member, fmt::format("{} must be a string or a list of strings", key.str()));
    }
    entry.values[std::string(key.str())] = text != nullptr ? std::vector{*text} : *texts;
  }
  if (auto good = destination_in(entry); !good) return fail(good.error());
  return entry;
}

Result<power::Reading> read_reading(const toml::node& node, const std::string& name) {
  const auto expected = [&] {
    return fail(
        ErrorCode::Invalid,
        fmt::format("{}: power.measured takes {{ switch = \"leaf-1\", watts = 131.5 }}, and ports = 12 "
                    "where not as many are on as then",
                    place(node, name)));
  };
  const auto* table = node.as_table();
  if (table == nullptr) return expected();
  power::Reading reading;
  bool watts = false;
  for (const auto& [key, value] : *table) {
    const auto whole = value.value_exact<std::int64_t>();
    const auto number = value.is_number() ? value.value<double>() : std::nullopt;
    if (key == "switch" && value.is_string()) {
      reading.node = value.as_string()->get();
    } else if (key == "watts" && number && std::isfinite(*number) && *number > 0) {
      reading.watts = Watts{*number};
      watts = true;
    } else if (key == "ports" && whole && *whole >= 0 && *whole <= 254) {
      reading.ports = static_cast<unsigned>(*whole);
    } else {
      return expected();
    }
  }
  if (reading.node.empty() || !watts) return expected();
  return reading;
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
    if (full == "notify.destination" && node.is_array()) {
      for (const auto& entry : *node.as_array()) {
        auto destination = read_destination(entry, name);
        if (!destination) return fail(destination.error());
        config.notify_entries.push_back(*std::move(destination));
      }
      continue;
    }
    if (full == "power.model") continue;  // power::read_models has them
    if (full == "power.measured" && node.is_array()) {
      for (const auto& entry : *node.as_array()) {
        auto reading = read_reading(entry, name);
        if (!reading) return fail(reading.error());
        config.power.measured.push_back(std::move(*reading));
      }
      continue;
    }
    if (const auto* deeper = node.as_table()) {
      if (auto read = read_section(config, *deeper, full, name); !read) return read;
      continue;
    }
    const Key* known = find_key(full);
    if (known == nullptr) {
      return fail(ErrorCode::Invalid,
                  fmt::format("{}: there is no key {}{}", place(node, name), full, suggestion(full)));
    }
    const auto value = value_of(node);
    const auto expected = value ? known->set(config, *value)
                                : std::optional<std::string>{"a plain value, or a list of strings"};
    if (expected) {
      return fail(ErrorCode::Invalid, fmt::format("{}: {} must be {}", place(node, name), full, *expected));
    }
    config.given[full] = *value;
  }
  return {};
}

Result<void> check_version(const toml::node& node, const std::string& name) {
  const auto version = node.value_exact<std::int64_t>();
  if (!version || *version < 1) {
    return fail(ErrorCode::Invalid, fmt::format("{}: version must be a whole number, such as {}",
                                                place(node, name), config_version));
  }
  if (*version > config_version) {
    return fail(
        ErrorCode::Invalid,
        fmt::format("{}: written for a later Heddle (version {}, this one knows {}); install that one, or "
                    "begin with what 'heddled --print-config' writes",
                    place(node, name), *version, config_version));
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
    if (section == "version") {
      if (auto good = check_version(node, name); !good) return fail(good.error());
      continue;
    }
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
    if (!expected) {
      config.given[name] = reading;
      return {};
    }
  }
  return fail(ErrorCode::Invalid, fmt::format("--set {}: must be {}, not '{}'", name, *expected, text));
}

shared::EtcdOptions etcd_options(const Config& config) {
  const auto& etcd = config.state.etcd;
  shared::EtcdOptions options{etcd.endpoints, etcd.ca, etcd.cert, etcd.key};
  // Two endpoints that do not answer leave time for the third one.
  options.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(etcd.lease) / 5;
  return options;
}

bool shares_state(const Config& config) {
  const bool writes = !config.fabric.read_only && (config.opensm.plugin || may_manage_subnet(config));
  return config.state.backend == StateBackend::Etcd && writes;
}

bool may_manage_subnet(const Config& config) {
  if (config.fabric.read_only || config.opensm.plugin || !config.opensm.lfts_file.empty()) return false;
  if (config.sm.mode == SmMode::ByBackend) return config.fabric.backend == BackendKind::Sim;
  return config.sm.mode == SmMode::Auto;
}

regulation::GovernorOptions governor_options(const Config& config) {
  regulation::GovernorOptions options = config.regulation.governor;
  std::vector<power::DeviceModel> models = config.power_models;
  PowerModels others = config.power.switches;
  if (others == PowerModels::ByBackend) {
    others = config.fabric.backend == BackendKind::Sim ? PowerModels::Sfs7000d : PowerModels::Shipped;
  }
  power::Unmatched unmatched = power::Unmatched::Sfs7000d;
  if (others == PowerModels::Shipped) {
    const auto& shipped = power::shipped_models();
    models.insert(models.end(), shipped.begin(), shipped.end());
    unmatched = config.power.unmatched;
  }
  options.power = power::PowerModel(std::move(models), unmatched, config.power.cables);
  // Whoever shortens the quiet time wants links to go soon after it, and nothing to be put off for longer.
  const std::chrono::nanoseconds soon =
      std::max<std::chrono::nanoseconds>(options.quiet, std::chrono::seconds{1});
  options.plan_every = std::min(options.plan_every, soon);
  options.retry_after = std::min(options.retry_after, soon);
  return options;
}

std::string default_config_text() {
  std::string text = fmt::format(
      "# Configuration of heddled. Every key is here, with its default.\n"
      "# 'heddled --check-config' checks a file; SIGHUP makes the daemon read it again. What changes takes "
      "effect at the\n"
      "# next start, where a key does not say otherwise.\n"
      "\n# Of this file's keys: a later version is refused.\nversion = {}\n",
      config_version);
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
    if (const auto when = in_words(effect_of(key.name)); !when.empty()) text += fmt::format("# {}\n", when);
    text += fmt::format("{} = {}\n", key.name.substr(dot + 1), key.example);
  }
  text +=
      "\n# Sets of nodes whose locality is reported besides the subtrees and pods that are found by "
      "themselves.\n"
      "# [[locality.set]]\n"
      "# name = \"rack-1\"\n"
      "# nodes = [\"rack1-*\", \"login[12]*\"]\n"
      "\n# Who is told of events and problems (docs/notices.md), as many as you like. Takes effect at once.\n"
      "# [[notify.destination]]\n"
      "# name = \"oncall\"               # in 'heddle status' and in metrics\n"
      "# type = \"alertmanager\"         # or \"webhook\" (JSON), \"syslog\" (RFC 5424), \"program\"\n"
      "# url = \"https://alerts.example.org:9093\"  # of a web hook; url_file: a file with it, if it is a "
      "secret\n"
      "# token_file = \"/etc/heddle/oncall.token\"  # a bearer token; credentials_file: \"user:password\"\n"
      "# ca_file = \"\"                  # of https; empty: the authorities that this host trusts\n"
      "# address = \"/dev/log\"          # of syslog; or \"udp:HOST:PORT\", \"tcp:HOST:PORT\"\n"
      "# program = [\"/usr/local/bin/tell\", \"--all\"]  # gets JSON on its standard input; no shell\n"
      "# what = [\"events\", \"problems\"]  # or one of them; \"switches\": docs/notices.md\n"
      "# timeout = \"10s\"               # of one message; a program is killed then\n"
      "# every = \"1s\"                  # not more than one message in so long; what comes between goes "
      "together\n"
      "\n# What kinds of switches draw, in watts; the first that matches by vendor, device and pattern (over "
      "the\n"
      "# node description) counts. Switches that none matches: power.switches.\n"
      "# [[power.model]]\n"
      "# name = \"QM8700\"\n"
      "# vendor = 0x02c9\n"
      "# device = 0xd2f0\n"
      "# base = 120.0\n"
      "# ports = [ { mode = \"4xHDR\", watts = 3.1 }, { mode = \"2xHDR\", watts = 2.0 } ]\n"
      "\n# What switches were measured to draw; the models are fitted to it (`heddle energy` shows both). It "
      "stands in [power].\n"
      "# measured = [ { switch = \"leaf-1\", watts = 131.5 }, { switch = \"leaf-1\", watts = 118.0, ports = "
      "20 } ]\n";
  return text;
}

}  // namespace heddle::app
