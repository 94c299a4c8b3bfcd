#include "plan/reader.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "base/printable.h"

namespace heddle::plan {

namespace json = boost::json;

const json::object* Reader::object(const json::value& value, const std::string& path,
                                   std::initializer_list<std::string_view> keys) {
  const json::object* object = value.if_object();
  if (object == nullptr) {
    refuse(path, "not an object");
    return nullptr;
  }
  if (keys.size() == 0) return object;
  for (const auto& entry : *object) {
    const std::string_view key{entry.key().data(), entry.key().size()};
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    refuse(path, "unknown key \"{}\"", printable(key));
    return nullptr;
  }
  return object;
}

const json::array* Reader::array(const json::value& value, const std::string& path, std::size_t most) {
  const json::array* array = value.if_array();
  if (array == nullptr) {
    refuse(path, "not a list");
  } else if (array->size() > most) {
    refuse(path, "{} entries, at most {} are possible", array->size(), most);
    array = nullptr;
  }
  return array;
}

std::uint64_t Reader::number(const json::value& value, const std::string& path, std::uint64_t most) {
  std::uint64_t number = 0;
  if (value.is_uint64()) {
    number = value.get_uint64();
  } else if (value.is_int64() && value.get_int64() >= 0) {
    number = static_cast<std::uint64_t>(value.get_int64());
  } else {
    refuse(path, "not a whole number from 0 to {}", most);
    return 0;
  }
  if (number > most) {
    refuse(path, "{} is above {}", number, most);
    return 0;
  }
  return number;
}

std::string_view Reader::text(const json::value& value, const std::string& path) {
  const json::string* text = value.if_string();
  if (text == nullptr) {
    refuse(path, "not a text");
    return {};
  }
  return {text->data(), text->size()};
}

const json::value* Reader::member(const json::object& object, const std::string& path, std::string_view key) {
  const json::value* value = object.if_contains(json::string_view{key.data(), key.size()});
  if (value == nullptr) refuse(path, "key \"{}\" is missing", key);
  return value;
}

}  // namespace heddle::plan
