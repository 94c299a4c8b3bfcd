/// What heddled says of the fabric's health (GET /v1/health), for people.
#pragma once

#include <boost/json/value.hpp>
#include <string>

namespace heddle::acceptance {

/// Some lines for each finding; in the last line of all how many there are.
[[nodiscard]] std::string health_text(const boost::json::value& health);

}  // namespace heddle::acceptance
