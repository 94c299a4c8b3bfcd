/// What commands that change something share.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "heddle/command.h"

namespace heddle::cli {

/// Seconds: "90s", "30min", "2h", "1d"; a bare number counts seconds. Errors: Invalid, without the option's
/// name.
[[nodiscard]] Result<double> length_from(const std::string& text);
/// As the check of an option: what is wrong with it, so that no time is wrong usage. Empty: nothing.
[[nodiscard]] std::string wrong_length(const std::string& text);

/// Tells the daemon, and by whom.
[[nodiscard]] Result<boost::json::value> post_order(const Context& context, const std::string& target,
                                                    boost::json::object body);

/// The same, and says what the daemon answers.
Result<void> give_order(Context& context, const std::string& target, boost::json::object body);

}  // namespace heddle::cli
