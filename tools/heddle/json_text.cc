#include "heddle/json_text.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace heddle::cli {
namespace {

constexpr std::size_t line_length = 100;

void write(const boost::json::value& value, std::size_t indent, std::string& out) {
  const std::string flat = boost::json::serialize(value);
  if (!value.is_structured() || indent + flat.size() <= line_length) {
    out += flat;
    return;
  }
  const std::string margin(indent + 2, ' ');
  if (const auto* array = value.if_array()) {
    out += "[\n";
    for (std::size_t i = 0; i < array->size(); ++i) {
      out += margin;
      write((*array)[i], indent + 2, out);
      out += i + 1 < array->size() ? ",\n" : "\n";
    }
    out += std::string(indent, ' ') + "]";
    return;
  }
  const auto& object = value.get_object();
  out += "{\n";
  std::size_t left = object.size();
  for (const auto& member : object) {
    out += margin + boost::json::serialize(boost::json::string(member.key())) + ": ";
    write(member.value(), indent + 2, out);
    out += --left > 0 ? ",\n" : "\n";
  }
  out += std::string(indent, ' ') + "}";
}

}  // namespace

std::string pretty(const boost::json::value& value) {
  std::string out;
  write(value, 0, out);
  return out;
}

}  // namespace heddle::cli
