/// Reads the members of a command's object, with errors that name the key.
#pragma once

#include <fmt/format.h>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string>

#include "base/result.h"
#include "base/units.h"

namespace heddle::simserve {

inline Result<std::string> text(const boost::json::object& object, const char* key) {
  const auto* value = object.if_contains(key);
  if (value == nullptr || !value->is_string()) {
    return fail(ErrorCode::Invalid, fmt::format("\"{}\" is missing or not a text", key));
  }
  return std::string(value->get_string());
}

inline Result<double> number(const boost::json::object& object, const char* key, double otherwise) {
  const auto* value = object.if_contains(key);
  if (value == nullptr) return otherwise;
  if (!value->is_number()) return fail(ErrorCode::Invalid, fmt::format("\"{}\" is not a number", key));
  return value->to_number<double>();
}

/// Within [least, most].
inline Result<double> number(const boost::json::object& object, const char* key, double otherwise,
                             double least, double most) {
  const auto value = number(object, key, otherwise);
  if (value && (!(*value >= least) || !(*value <= most))) {
    return fail(ErrorCode::Invalid,
                fmt::format("\"{}\" is {}: between {} and {} is possible", key, *value, least, most));
  }
  return value;
}

inline Result<bool> flag(const boost::json::object& object, const char* key, bool otherwise) {
  const auto* value = object.if_contains(key);
  if (value == nullptr) return otherwise;
  if (!value->is_bool()) return fail(ErrorCode::Invalid, fmt::format("\"{}\" is not true or false", key));
  return value->get_bool();
}

/// Seconds, from `least` up to a day.
inline Result<Picoseconds> duration(const boost::json::object& object, const char* key, double otherwise,
                                    double least = 0) {
  const auto value = number(object, key, otherwise, least, 86400);
  if (!value) return fail(value.error());
  return std::chrono::duration_cast<Picoseconds>(std::chrono::duration<double>(*value));
}

}  // namespace heddle::simserve
