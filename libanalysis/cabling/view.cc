#include "cabling/view.h"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <utility>

namespace heddle::cabling {
namespace {

boost::json::value text_or_null(const std::string& text) {
  return text.empty() ? boost::json::value(nullptr) : boost::json::value(text);
}

boost::json::object end_json(const CableEnd& end) {
  boost::json::object json{{"node", end.node}};
  json["guid"] = end.guid ? boost::json::value(to_string(*end.guid)) : boost::json::value(nullptr);
  json["port"] =
      end.number ? boost::json::value(static_cast<unsigned>(end.number->raw())) : text_or_null(end.port);
  if (!end.location.empty()) json["location"] = end.location;
  return json;
}

boost::json::array differences_json(const std::vector<Difference>& differences) {
  boost::json::array json;
  for (const Difference& difference : differences) {
    boost::json::object item{{"start", end_json(difference.start)}, {"end", end_json(difference.end)}};
    item["expected"] = text_or_null(difference.expected);
    item["actual"] = text_or_null(difference.actual);
    item["line"] = difference.line == 0 ? boost::json::value(nullptr) : boost::json::value(difference.line);
    json.push_back(std::move(item));
  }
  return json;
}

}  // namespace

boost::json::object view(const CableCheck& check) {
  return {{"same", check.same()},
          {"planned", check.planned},
          {"as_planned", check.as_planned},
          {"missing", differences_json(check.missing)},
          {"unexpected", differences_json(check.unexpected)},
          {"swapped", differences_json(check.swapped)},
          {"wrong_rate", differences_json(check.wrong_rate)}};
}

}  // namespace heddle::cabling
