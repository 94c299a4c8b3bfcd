/// Reads JSON without trusting it, answers of a daemon for instance: what is missing or of another type is
/// the default. For those who link Boost.JSON.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

namespace heddle {

/// A member by path, "a.b.c"; null where there is none.
[[nodiscard]] inline const boost::json::value& at_path(const boost::json::value& value,
                                                       std::string_view path) {
  static const boost::json::value none;
  const boost::json::value* here = &value;
  while (!path.empty()) {
    const auto dot = std::min(path.find('.'), path.size());
    const auto* object = here->if_object();
    const auto* member = object == nullptr ? nullptr : object->if_contains(path.substr(0, dot));
    if (member == nullptr) return none;
    here = member;
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return *here;
}

[[nodiscard]] inline std::string text_at(const boost::json::value& value, std::string_view path) {
  const auto* text = at_path(value, path).if_string();
  return text == nullptr ? std::string{} : std::string(*text);
}

/// Not a number where the answer says null.
[[nodiscard]] inline double number_at(const boost::json::value& value, std::string_view path) {
  const auto& member = at_path(value, path);
  if (const auto* real = member.if_double()) return *real;
  if (const auto* whole = member.if_int64()) return static_cast<double>(*whole);
  if (const auto* large = member.if_uint64()) return static_cast<double>(*large);
  return std::numeric_limits<double>::quiet_NaN();
}

[[nodiscard]] inline long long count_at(const boost::json::value& value, std::string_view path) {
  const double number = number_at(value, path);
  return std::isfinite(number) ? std::llround(number) : 0;
}

[[nodiscard]] inline bool truth_at(const boost::json::value& value, std::string_view path) {
  const auto* truth = at_path(value, path).if_bool();
  return truth != nullptr && *truth;
}

[[nodiscard]] inline const boost::json::array& array_at(const boost::json::value& value,
                                                        std::string_view path) {
  static const boost::json::array none;
  const auto* array = at_path(value, path).if_array();
  return array == nullptr ? none : *array;
}

}  // namespace heddle
