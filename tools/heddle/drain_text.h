/// A drain in one line, for `heddle drain` and `heddle status`.
#pragma once

#include <boost/json/value.hpp>
#include <string>

namespace heddle::cli {

[[nodiscard]] std::string drain_line(const boost::json::value& drain);

}  // namespace heddle::cli
