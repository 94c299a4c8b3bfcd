#include "sim/scenario_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/printable.h"
#include "base/text.h"

namespace heddle::sim {
namespace {

constexpr double longest_seconds = 30.0 * 86'400;

struct Unit {
  std::string_view name;
  double seconds;
};
constexpr std::array units{Unit{"us", 1e-6}, Unit{"ms", 1e-3}, Unit{"s", 1},    Unit{"sec", 1},
                           Unit{"m", 60},    Unit{"min", 60},  Unit{"h", 3600}, Unit{"d", 86'400}};

std::optional<Picoseconds> from_seconds(double seconds) {
  if (!(seconds >= 0) || seconds > longest_seconds) return std::nullopt;
  return Picoseconds{std::llround(seconds * 1e9) * 1000};  // whole nanoseconds
}

}  // namespace

std::optional<Picoseconds> parse_duration(std::string_view text) {
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(rest - text.data()));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  const auto* found =
      std::find_if(units.begin(), units.end(), [&](const Unit& candidate) { return candidate.name == unit; });
  if (found == units.end()) return std::nullopt;
  return from_seconds(number * found->seconds);
}

TableReader::TableReader(const toml::table& table, std::string file, std::string what)
    : table_{table}, file_{std::move(file)}, what_{std::move(what)} {}

const toml::node* TableReader::take(std::string_view key) {
  known_.emplace_back(key);
  return table_.get(key);
}

std::string TableReader::place(const toml::node& node) const {
  return fmt::format("{}:{}", file_, node.source().begin.line);
}

void TableReader::wrong(const toml::node& node, std::string_view key, std::string_view expected) {
  if (error_) return;
  error_ = Error{ErrorCode::Invalid, fmt::format("{}: {}: {} must be {}", place(node), what_, key, expected)};
}

void TableReader::wrong(std::string_view message) {
  if (!error_) error_ = Error{ErrorCode::Invalid, fmt::format("{}: {}: {}", place(table_), what_, message)};
}

void TableReader::adopt(const Result<void>& result) {
  if (!result && !error_) error_ = result.error();
}

void TableReader::read(std::string_view key, std::string& value) {
  const toml::node* node = take(key);
  if (node == nullptr) return;
  if (const auto* text = node->as_string()) {
    value = text->get();
  } else {
    wrong(*node, key, "text in quotation marks");
  }
}

void TableReader::read(std::string_view key, double& value, double least, double most) {
  const toml::node* node = take(key);
  if (node == nullptr) return;
  const auto number = node->value<double>();
  if (number && *number >= least && *number <= most) {
    value = *number;
  } else {
    wrong(*node, key, fmt::format("a number from {} to {}", least, most));
  }
}

void TableReader::read(std::string_view key, std::uint64_t& value, std::uint64_t least, std::uint64_t most) {
  const toml::node* node = take(key);
  if (node == nullptr) return;
  const auto* number = node->as_integer();
  if (number != nullptr && number->get() >= 0 && static_cast<std::uint64_t>(number->get()) >= least &&
      static_cast<std::uint64_t>(number->get()) <= most) {
    value = static_cast<std::uint64_t>(number->get());
  } else {
    wrong(*node, key, fmt::format("a whole number from {} to {}", least, most));
  }
}

void TableReader::read(std::string_view key, Picoseconds& value, Picoseconds least) {
  const toml::node* node = take(key);
  if (node == nullptr) return;
  std::optional<Picoseconds> read;
  if (const auto* text = node->as_string()) {
    read = parse_duration(text->get());
  } else if (const auto seconds = node->is_number() ? node->value<double>() : std::nullopt) {
    read = from_seconds(*seconds);
  }
  if (read && *read >= least) {
    value = *read;
  } else {
    const double least_seconds = static_cast<double>(least.count()) * 1e-12;
    wrong(*node, key,
          fmt::format("a time from {} s to 30 days: seconds, or text as \"90s\", \"250ms\", \"2min\", \"1h\"",
                      least_seconds));
  }
}

void TableReader::read(std::string_view key, std::vector<std::string>& value) {
  const toml::node* node = take(key);
  if (node == nullptr) return;
  std::vector<std::string> texts;
  if (const auto* text = node->as_string()) {
    texts.push_back(text->get());
  } else if (const auto* array = node->as_array()) {
    for (const auto& entry : *array) {
      if (const auto* member = entry.as_string()) {
        texts.push_back(member->get());
      } else {
        wrong(entry, key, "a list of texts");
      }
    }
  }
  if (texts.empty()) {
    wrong(*node, key, "text, or a list of texts");
  } else {
    value = std::move(texts);
  }
}

Result<void> TableReader::finish() const {
  if (error_) return fail(*error_);
  for (const auto& [key, node] : table_) {
    if (std::find(known_.begin(), known_.end(), key.str()) != known_.end()) continue;
    return fail(ErrorCode::Invalid, fmt::format("{}: {}: there is no key {} here; known are: {}", place(node),
                                                what_, in_quotes(key.str()), joined(known_, ", ")));
  }
  return {};
}

}  // namespace heddle::sim
