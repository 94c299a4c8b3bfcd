/// JSON for people: indented by two, short arrays and objects of plain values on one line.
#pragma once

#include <boost/json/value.hpp>
#include <string>

namespace heddle::cli {

[[nodiscard]] std::string pretty(const boost::json::value& value);

}  // namespace heddle::cli
