#include "metrics/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/printable.h"
#include "base/text.h"
#include "load/glob.h"
#include "metrics/names.h"

namespace heddle::metrics {
namespace {

constexpr std::array<std::string_view, 7> groups{"traffic", "errors", "state", "info",
                                                 "load",    "energy", "daemon"};

/// Bounds of what a request makes the daemon compare with all names.
constexpr std::size_t longest_word = 64;
constexpr std::size_t most_words = 64;

bool has(std::string_view name, std::string_view part) { return name.find(part) != std::string_view::npos; }

std::string_view group_of(std::string_view name) {
  if (name.starts_with("infiniband_")) {
    if (has(name, "_data_bytes_total") || has(name, "_packets_total") || has(name, "_transmit_wait_"))
      return "traffic";
    if (name.ends_with("_info")) return "info";
    return has(name, "_port_state") || has(name, "_port_rate_") ? "state" : "errors";
  }
  if (name.starts_with("heddle_port_")) return "errors";
  for (const std::string_view part : {"utilization", "congestion", "locality", "injected", "delivered"}) {
    if (has(name, part)) return "load";
  }
  for (const std::string_view part : {"energy", "power", "link_transitions", "regulation"}) {
    if (has(name, part)) return "energy";
  }
  return "daemon";
}

bool any_of(const std::vector<std::string>& words, std::string_view name) {
  return words.empty() || std::ranges::any_of(words, [&](const std::string& word) {
           return word == group_of(name) || load::glob_matches(word, name);
         });
}

/// Of all nodes alike, whatever GUIDs a vendor gives them (the finalizer of splitmix64, Steele 2014).
std::uint64_t stirred(std::uint64_t x) {
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

std::optional<unsigned> number(std::string_view text) {
  unsigned value = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (wrong != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    if (comma > 0) words.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return words;
}

}  // namespace

std::string_view content_type(Format format) {
  return format == Format::Text ? "text/plain; version=0.0.4; charset=utf-8"
                                : "application/openmetrics-text; version=1.0.0; charset=utf-8";
}

bool Selection::wants_family(std::string_view name) const {
  return any_of(families, name) && any_of(collected, name);
}

bool Selection::wants_node(NodeGuid guid) const {
  return shards <= 1 || stirred(guid.raw()) % shards == shard;
}

std::string Selection::key() const {
  return fmt::format("{}|{}|{}/{}|{}", joined(families, ","), joined(collected, ","), shard, shards,
                     static_cast<int>(format));
}

std::vector<std::string_view> family_groups() { return {groups.begin(), groups.end()}; }

Result<void> check_families(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word.size() > longest_word) {
      return fail(ErrorCode::Invalid,
                  fmt::format("names and patterns of metrics have up to {} characters", longest_word));
    }
    const auto fits = [&](std::string_view name) { return load::glob_matches(word, name); };
    if (std::ranges::find(groups, word) != groups.end() || std::ranges::any_of(family_names(), fits))
      continue;
    const std::string meant = meant_by(word);
    return fail(
        ErrorCode::Invalid,
        fmt::format(
            "'{}' is neither a group of metrics ({}), nor the name of one, nor a pattern that fits one{}",
            printable(word), joined(groups, ", "),
            meant.empty() ? "" : fmt::format("; did you mean '{}'?", meant)));
  }
  return {};
}

Result<Selection> narrowed(const Selection& base, const std::map<std::string, std::string>& query) {
  Selection selection = base;
  if (const auto it = query.find("collect[]"); it != query.end()) {
    selection.collected = words_of(it->second);
    if (selection.collected.size() > most_words)
      return fail(ErrorCode::Invalid, fmt::format("collect[] takes up to {} words", most_words));
    if (auto fits = check_families(selection.collected); !fits) return fail(fits.error());
  }
  if (const auto it = query.find("shard"); it != query.end()) {
    const std::string_view text = it->second;
    const auto slash = std::min(text.find('/'), text.size());
    const auto shard = number(text.substr(0, slash));
    const auto shards = number(text.substr(std::min(slash + 1, text.size())));
    if (!shard || !shards || *shards < 1 || *shards > most_shards || *shard < 1 || *shard > *shards) {
      return fail(ErrorCode::Invalid, fmt::format("shard is I/N with I from 1 to N, and N up to {}, not '{}'",
                                                  most_shards, printable(text)));
    }
    selection.shard = *shard - 1;
    selection.shards = *shards;
  }
  return selection;
}

}  // namespace heddle::metrics
