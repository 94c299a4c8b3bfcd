/// Completion for shells, made from the definitions of the commands themselves, so that it never lags behind.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace heddle::cli {

struct OptionWord {
  std::string word;  ///< "--socket", "-o"
  std::string help;
  bool takes_value = false;
};

/// A command, or a group of them.
struct CommandWords {
  std::string path;  ///< words with blanks between; empty for the program itself
  std::vector<std::pair<std::string, std::string>> commands;  ///< and what each does
  std::vector<OptionWord> options;                            ///< those of the program too
};

/// The program, its groups and its commands, each before what is below it.
[[nodiscard]] std::vector<CommandWords> command_words(const CLI::App& app);

/// A script for "bash", "zsh" or "fish"; none for another shell.
[[nodiscard]] std::optional<std::string> completion(const std::vector<CommandWords>& commands,
                                                    std::string_view shell);

}  // namespace heddle::cli
