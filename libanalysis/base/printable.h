/// What a stranger wrote, made fit for a terminal, a log or a page. Node descriptions come from whoever set
/// them on a host: they may hold control sequences, half a character, or marks that turn the reading
/// direction.
#pragma once

#include <string>
#include <string_view>

namespace heddle {

/// Valid UTF-8 without control characters and without marks of direction or of line ends (those of Unicode's
/// categories Cc and the bidirectional ones); each byte or character that is neither becomes "?". Trailing
/// zero bytes are dropped. Printable text comes out unchanged.
[[nodiscard]] std::string printable(std::string_view bytes);

/// The same, cut after `most` characters with "..." in their place, in double quotes. For messages.
[[nodiscard]] std::string quoted(std::string_view bytes, std::size_t most = 60);

}  // namespace heddle
