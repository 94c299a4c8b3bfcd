/// What somebody may have meant by a word that is none of those that are known: a slip of the hand or two.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace heddle {

/// The nearest of `known`; none where more than two letters would have to be put in, left out or replaced:
/// beyond that it is a guess.
[[nodiscard]] std::optional<std::string_view> nearest(std::string_view word,
                                                      const std::vector<std::string_view>& known);

}  // namespace heddle
