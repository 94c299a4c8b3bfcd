#include "heddle/unknown_command.h"

#include <fmt/format.h>

#include <CLI/App.hpp>

#include "base/nearest.h"
#include "base/printable.h"
#include "base/text.h"

namespace heddle::cli {
namespace {

std::string sentence(const std::string& word, const std::string& group,
                     const std::vector<std::string>& commands) {
  std::string text = fmt::format("there is no command {}{}", group, in_quotes(word, 30));
  if (const auto meant = nearest(word, {commands.begin(), commands.end()})) {
    return text + fmt::format("; did you mean {}{}?", group, *meant);
  }
  return text + fmt::format("; there are: {}", joined(commands, ", "));
}

}  // namespace

std::optional<std::string> unknown_command(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* group = &app;
  std::string path;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with('-')) {
      if (words[i] == "--socket") ++i;  // and its value
      continue;
    }
    std::vector<std::string> names;
    const CLI::App* next = nullptr;
    for (const CLI::App* command : group->get_subcommands([](const CLI::App*) { return true; })) {
      names.push_back(command->get_name());
      if (command->get_name() == words[i]) next = command;
    }
    if (names.empty()) return std::nullopt;
    if (next == nullptr) return sentence(words[i], path, names);
    path += words[i] + ' ';
    group = next;
  }
  return std::nullopt;
}

}  // namespace heddle::cli
