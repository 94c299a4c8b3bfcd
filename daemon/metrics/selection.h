/// What of the metrics a scrape asks for: a large fabric has more to say than most want to keep.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace heddle::metrics {

/// Whose ports have series of their own.
enum class PortChoice : std::uint8_t {
  All,
  Switch,  ///< of switches
  Uplink,  ///< of switches, that lead to another switch
};

enum class Format : std::uint8_t { Text, OpenMetrics };

/// What OpenMetrics calls the family of a counter (OpenMetrics 1.0, "Counter").
[[nodiscard]] constexpr std::string_view without_total(std::string_view name) {
  constexpr std::string_view suffix = "_total";
  return name.ends_with(suffix) ? name.substr(0, name.size() - suffix.size()) : name;
}

/// As Content-Type says it.
[[nodiscard]] std::string_view content_type(Format format);

struct Selection {
  /// Groups, names or patterns of names (as in a shell); none: all families.
  std::vector<std::string> families{};
  /// Of these, those that a scrape names; none: all of them.
  std::vector<std::string> collected{};
  PortChoice ports = PortChoice::All;
  bool skip_zero_errors = false;
  /// Nodes are dealt out to `shards` scrapes by their GUIDs; what belongs to no node is in the first.
  unsigned shard = 0;
  unsigned shards = 1;
  Format format = Format::Text;

  [[nodiscard]] bool wants_family(std::string_view name) const;
  [[nodiscard]] bool wants_node(NodeGuid guid) const;
  [[nodiscard]] bool first_shard() const { return shard == 0; }
  /// Same text, same selection.
  [[nodiscard]] std::string key() const;
};

/// Most scrapes that can share one fabric.
inline constexpr unsigned most_shards = 64;

/// The groups that families are in, as an operator would list them.
[[nodiscard]] std::vector<std::string_view> family_groups();
/// Errors: Invalid for a word that is no group and fits no family that there can be, with what is near.
[[nodiscard]] Result<void> check_families(const std::vector<std::string>& words);

/// `base` as a scrape narrows it: "collect[]" (words, commas between them) and "shard" ("2/3"). Other names
/// mean nothing here. Errors: Invalid, with what would be right.
[[nodiscard]] Result<Selection> narrowed(const Selection& base,
                                         const std::map<std::string, std::string>& query);

}  // namespace heddle::metrics
