/// The request line's target taken apart: "/v1/links?sort=load&top=5".
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace heddle::control {

struct Target {
  std::string path;
  /// Of several values of a name the last one; all of them, with commas, where the name ends with "[]".
  std::map<std::string, std::string> query;
};

/// Errors: Invalid for a percent sign that two hexadecimal digits do not follow, a NUL, or a path that does
/// not begin with a slash.
[[nodiscard]] Result<Target> parse_target(std::string_view target);

}  // namespace heddle::control
