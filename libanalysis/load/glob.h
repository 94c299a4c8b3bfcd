/// Shell patterns over node names, for naming sets of nodes in the configuration.
#pragma once

#include <string_view>

namespace heddle::load {

/// `*` is any run of characters, `?` any one, `[a-z]` and `[!a-z]` one of a set; anything else is itself. A
/// `[` that is never closed is itself. Linear in pattern x text: a hostile pattern cannot hang.
[[nodiscard]] bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace heddle::load
