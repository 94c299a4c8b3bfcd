#include "control/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>

namespace heddle::control {

namespace json = boost::json;

Result<Arguments> Arguments::read(const std::string& body) {
  boost::system::error_code wrong;
  json::value value = json::parse(body.empty() ? "{}" : body, wrong);
  if (wrong || !value.is_object()) return fail(ErrorCode::Invalid, "the body must be a JSON object");
  return Arguments(std::move(value.as_object()));
}

Result<std::string> Arguments::text(std::string_view key, std::string otherwise) {
  const auto* value = take(key);
  if (value == nullptr || value->is_null()) return otherwise;
  if (!value->is_string()) return fail(ErrorCode::Invalid, fmt::format("{} must be a string", key));
  return std::string(value->as_string());
}

Result<std::vector<std::string>> Arguments::texts(std::string_view key) {
  const auto* value = take(key);
  std::vector<std::string> texts;
  if (value == nullptr || value->is_null()) return texts;
  const json::array* list = value->if_array();
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    if (!(*list)[i].is_string()) list = nullptr;
  }
  if (list == nullptr) return fail(ErrorCode::Invalid, fmt::format("{} must be a list of strings", key));
  for (const json::value& each : *list) texts.emplace_back(each.as_string());
  return texts;
}

Result<bool> Arguments::flag(std::string_view key) {
  const auto* value = take(key);
  if (value == nullptr) return false;
  if (!value->is_bool()) return fail(ErrorCode::Invalid, fmt::format("{} must be true or false", key));
  return value->as_bool();
}

Result<double> Arguments::positive(std::string_view key) {
  const auto* value = take(key);
  if (value == nullptr || value->is_null()) return 0.0;
  boost::system::error_code wrong;
  const double number = value->is_number() ? value->to_number<double>(wrong) : 0;
  if (wrong || !(number > 0) || !(number < 1e9)) {
    return fail(ErrorCode::Invalid, fmt::format("{} must be a number of seconds above 0", key));
  }
  return number;
}

Result<void> Arguments::end() const {
  for (const auto& member : members_) {
    if (std::find(taken_.begin(), taken_.end(), member.key()) == taken_.end()) {
      return fail(ErrorCode::Invalid, fmt::format("there is no member {}", std::string(member.key())));
    }
  }
  return {};
}

const json::value* Arguments::take(std::string_view key) {
  taken_.emplace_back(key);
  return members_.if_contains(key);
}

}  // namespace heddle::control
