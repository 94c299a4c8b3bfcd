/// The names of all families that a daemon can have, whether it has them at the moment or not: for telling a
/// slip of the hand from what is merely not there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heddle::metrics {

[[nodiscard]] const std::vector<std::string_view>& family_names();

/// What may have been meant by a name or a pattern that fits none of them: a name, or the beginning of some
/// with a star after it.
[[nodiscard]] std::string meant_by(std::string_view word);

}  // namespace heddle::metrics
