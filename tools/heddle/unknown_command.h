/// A mistyped command: what is unknown in it, and which command is near.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace heddle::cli {

/// A sentence on the first word that is no command where one must stand; none if there is no such word.
[[nodiscard]] std::optional<std::string> unknown_command(const CLI::App& app,
                                                         const std::vector<std::string>& words);

}  // namespace heddle::cli
