/// What a stranger wrote, made fit for a terminal, a log or a page. Node descriptions come from whoever set
/// them on a host: they may hold control sequences, half a character, marks that turn the reading direction,
/// or characters that nobody sees and that make two names look like one.
#pragma once

#include <string>
#include <string_view>

namespace heddle {

/// Valid UTF-8 in which every character is visible, or the space: no controls, marks of direction, zero-width
/// characters or other spaces; each byte or character that is none of these becomes "?". Trailing zero bytes
/// are dropped. Printable text comes out unchanged.
[[nodiscard]] std::string printable(std::string_view bytes);

/// The same, cut after `most` characters with "..." in their place, in double quotes. For messages.
[[nodiscard]] std::string in_quotes(std::string_view bytes, std::size_t most = 60);

}  // namespace heddle
