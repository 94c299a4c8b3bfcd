/// Keys of the configuration: their names, their documentation, and what reads their values.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/config.h"

namespace heddle::app {

/// A value as TOML or --set gives it.
using Value = ConfigValue;

struct Key {
  std::string_view name;  ///< section.key
  std::string_view doc;
  std::string_view example;  ///< the default, in TOML; "" for a string that is empty
  std::function<std::optional<std::string>(Config&, const Value&)>
      set;  ///< what was expected, when it does not fit
};

inline std::optional<Config::Seconds> duration(const Value& value) {
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

inline std::optional<std::uint64_t> hexadecimal(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + 2, end, value, 16);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

inline auto string_key(std::string& (*member)(Config&)) {
  return [member](Config& config, const Value& value) -> std::optional<std::string> {
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr) return "a string";
    member(config) = *text;
    return std::nullopt;
  };
}

inline auto hexadecimal_key(std::uint64_t& (*member)(Config&)) {
  return [member](Config& config, const Value& value) -> std::optional<std::string> {
    const auto* text = std::get_if<std::string>(&value);
    const auto number = text != nullptr ? hexadecimal(*text) : std::nullopt;
    if (!number) return "up to 16 hexadecimal digits in quotes, such as \"0x1f\"";
    member(config) = *number;
    return std::nullopt;
  };
}

inline auto duration_key(Config::Seconds& (*member)(Config&)) {
  return [member](Config& config, const Value& value) -> std::optional<std::string> {
    const auto parsed = duration(value);
    if (!parsed) return "a duration above zero such as \"500ms\", \"2s\" or \"10min\"";
    member(config) = *parsed;
    return std::nullopt;
  };
}

inline std::optional<double> real(const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  return std::nullopt;
}

inline auto ratio_key(Ratio& (*member)(Config&)) {
  return [member](Config& config, const Value& value) -> std::optional<std::string> {
    const auto share = real(value);
    if (!share || !(*share > 0 && *share <= 1)) return "a share above 0, and 1 at most";
    member(config) = Ratio{*share};
    return std::nullopt;
  };
}

/// Of bit errors: far less than one in a thousand.
inline auto error_rate_key(double& (*member)(Config&)) {
  return [member](Config& config, const Value& value) -> std::optional<std::string> {
    const auto rate = real(value);
    if (!rate || !(*rate > 0 && *rate <= 1e-3)) return "a rate above 0, and 0.001 at most";
    member(config) = *rate;
    return std::nullopt;
  };
}

inline auto small_key(unsigned& (*member)(Config&)) {
  return [member](Config& config, const Value& value) -> std::optional<std::string> {
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number == nullptr || *number < 0 || *number > 100'000) return "a whole number from 0 to 100000";
    member(config) = static_cast<unsigned>(*number);
    return std::nullopt;
  };
}

inline auto yes_no_key(bool& (*member)(Config&)) {
  return [member](Config& config, const Value& value) -> std::optional<std::string> {
    const auto* yes = std::get_if<bool>(&value);
    if (yes == nullptr) return "true or false";
    member(config) = *yes;
    return std::nullopt;
  };
}

inline auto count_key(std::uint64_t& (*member)(Config&), std::uint64_t least, std::uint64_t most) {
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

/// ["a", "b"]; with --set as a,b.
inline std::optional<std::vector<std::string>> list_of(const Value& value) {
  if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) return *texts;
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) return std::nullopt;
  std::vector<std::string> texts;
  for (std::size_t from = 0; from < text->size();) {
    const std::size_t comma = std::min(text->find(',', from), text->size());
    texts.push_back(text->substr(from, comma - from));
    from = comma + 1;
  }
  return texts;
}

inline auto list_key(std::vector<std::string>& (*member)(Config&)) {
  return [member](Config& config, const Value& value) -> std::optional<std::string> {
    auto texts = list_of(value);
    if (!texts) return "a list of strings";
    member(config) = *std::move(texts);
    return std::nullopt;
  };
}

/// All keys, in the order of the default file.
[[nodiscard]] const std::vector<Key>& keys();
/// The later ones of them, from jobs.* on (watch_keys.cc).
[[nodiscard]] std::vector<Key> watch_keys();
/// Null where there is none of this name.
[[nodiscard]] const Key* find_key(std::string_view name);

}  // namespace heddle::app
