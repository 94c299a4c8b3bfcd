#include "heddle/unknown_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <numeric>

#include "base/printable.h"

namespace heddle::cli {
namespace {

/// Insertions, deletions and replacements that turn one word into the other (Levenshtein, 1966).
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0U);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

std::string sentence(const std::string& word, const std::string& group,
                     const std::vector<std::string>& commands) {
  std::string text = fmt::format("there is no command {}{}", group, in_quotes(word, 30));
  const auto nearest = std::ranges::min_element(
      commands, {}, [&](const std::string& command) { return distance(word, command); });
  // Two slips at most: beyond that it is a guess.
  if (nearest != commands.end() && distance(word, *nearest) <= 2) {
    return text + fmt::format("; did you mean {}{}?", group, *nearest);
  }
  return text + fmt::format("; there are: {}", fmt::join(commands, ", "));
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
