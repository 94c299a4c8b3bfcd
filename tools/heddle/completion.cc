#include "heddle/completion.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <utility>

#include "base/text.h"

namespace heddle::cli {
namespace {

void add_options(const CLI::App& command, CommandWords& words) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional() || option->get_group().empty()) continue;
    const bool takes_value = option->get_items_expected_max() > 0;
    for (const std::string& name : option->get_lnames()) {
      words.options.push_back({fmt::format("--{}", name), option->get_description(), takes_value});
    }
    for (const std::string& name : option->get_snames()) {
      words.options.push_back({fmt::format("-{}", name), option->get_description(), takes_value});
    }
  }
}

void collect(const CLI::App& program, const CLI::App& command, const std::string& path,
             std::vector<CommandWords>& all) {
  CommandWords words;
  words.path = path;
  add_options(command, words);
  if (&command != &program) add_options(program, words);
  // --help is of each of them.
  const auto same = [](const OptionWord& a, const OptionWord& b) { return a.word == b.word; };
  std::ranges::stable_sort(words.options, {}, &OptionWord::word);
  words.options.erase(std::unique(words.options.begin(), words.options.end(), same), words.options.end());
  const auto below = command.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* next : below) words.commands.emplace_back(next->get_name(), next->get_description());
  all.push_back(std::move(words));
  for (const CLI::App* next : below) {
    collect(program, *next, path.empty() ? next->get_name() : fmt::format("{} {}", path, next->get_name()),
            all);
  }
}

/// Between single quotes, for every shell here.
std::string in_single_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c == '\n' ? ' ' : c;
    }
  }
  return out + "'";
}

/// Options whose next word is no command.
std::string words_before_values(const std::vector<CommandWords>& commands) {
  std::vector<std::string> words;
  for (const CommandWords& command : commands) {
    for (const OptionWord& option : command.options) {
      if (option.takes_value) words.push_back(option.word);
    }
  }
  std::ranges::sort(words);
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return joined(words, "|");
}

/// `named` becomes the command that the words before the cursor name; `skip` is set where a value is due.
/// (zsh keeps `path` for itself.)
constexpr const char* find_path = R"(  local named= word= skip= i
  for ((i = {first}; i < {cursor}; i++)); do
    word=${{words[i]}}
    if [[ -n $skip ]]; then skip=; continue; fi
    case $word in
      {values}) skip=1 ;;
      -*) ;;
      *) case " ${{named:+$named }}$word " in
           {paths}) named=${{named:+$named }}$word ;;
         esac ;;
    esac
  done
)";

std::string path_finder(const std::vector<CommandWords>& commands, std::string_view first,
                        std::string_view cursor) {
  std::vector<std::string> paths;
  for (const CommandWords& command : commands) {
    if (!command.path.empty()) paths.push_back(in_single_quotes(fmt::format(" {} ", command.path)));
  }
  return fmt::format(fmt::runtime(find_path), fmt::arg("first", first), fmt::arg("cursor", cursor),
                     fmt::arg("values", words_before_values(commands)),
                     fmt::arg("paths", joined(paths, "|")));
}

std::string bash(const std::vector<CommandWords>& commands) {
  std::string text =
      "# bash completion for heddle, made by `heddle completion bash`\n_heddle() {\n"
      "  local words=(\"${COMP_WORDS[@]}\") current=${COMP_WORDS[COMP_CWORD]}\n";
  text += path_finder(commands, "1", "COMP_CWORD");
  text += "  local commands= options=\n  case $named in\n";
  for (const CommandWords& command : commands) {
    std::string below;
    std::string options;
    for (const auto& [name, help] : command.commands) below += (below.empty() ? "" : " ") + name;
    for (const OptionWord& option : command.options) options += (options.empty() ? "" : " ") + option.word;
    text += fmt::format("    {}) commands={} options={} ;;\n", in_single_quotes(command.path),
                        in_single_quotes(below), in_single_quotes(options));
  }
  return text +
         "  esac\n"
         "  if [[ -n $skip || ( -z $commands && $current != -* ) ]]; then\n"
         "    COMPREPLY=($(compgen -f -- \"$current\"))\n"
         "  elif [[ $current == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
         "  else\n"
         "    COMPREPLY=($(compgen -W \"$commands\" -- \"$current\"))\n"
         "  fi\n"
         "}\ncomplete -o filenames -F _heddle heddle\n";
}

std::string zsh(const std::vector<CommandWords>& commands) {
  std::string text =
      "#compdef heddle\n# zsh completion for heddle, made by `heddle completion zsh`\n_heddle() {\n";
  text += path_finder(commands, "2", "CURRENT");
  text += "  local -a commands options\n  case $named in\n";
  const auto entry = [](const std::string& word, const std::string& help) {
    std::string colons;
    for (const char c : word) colons += c == ':' ? std::string{"\\:"} : std::string(1, c);
    return in_single_quotes(fmt::format("{}:{}", colons, help));
  };
  for (const CommandWords& command : commands) {
    std::string below;
    std::string options;
    for (const auto& [name, help] : command.commands) below += fmt::format(" {}", entry(name, help));
    for (const OptionWord& option : command.options)
      options += fmt::format(" {}", entry(option.word, option.help));
    text +=
        fmt::format("    {})\n      commands=({})\n      options=({}) ;;\n", in_single_quotes(command.path),
                    below.empty() ? "" : below.substr(1), options.empty() ? "" : options.substr(1));
  }
  return text +
         "  esac\n"
         "  if [[ -n $skip ]]; then _files\n"
         "  elif [[ ${words[CURRENT]} == -* ]]; then _describe option options\n"
         "  elif (( ${#commands} )); then _describe command commands\n"
         "  else _files; fi\n"
         "}\n_heddle \"$@\"\n";
}

/// fish has no arrays of words that are as handy: a function says whether the command line names a path.
std::string fish(const std::vector<CommandWords>& commands) {
  std::string text = fmt::format(
      "# fish completion for heddle, made by `heddle completion fish`\n"
      "function __heddle_at\n"
      "  set -l path\n"
      "  set -l skip\n"
      "  for word in (commandline -opc)[2..-1]\n"
      "    if test -n \"$skip\"\n"
      "      set skip\n"
      "      continue\n"
      "    end\n"
      "    if contains -- $word {}\n"
      "      set skip 1\n"
      "    else if not string match -q -- '-*' $word\n"
      "      set -a path $word\n"
      "    end\n"
      "  end\n"
      "  string match -q -- \"$argv[1]\" \"$path\"\n"
      "end\n",
      [&] {
        std::string words = words_before_values(commands);
        std::ranges::replace(words, '|', ' ');
        return words;
      }());
  for (const CommandWords& command : commands) {
    // Below a command stand its arguments; a group's line names itself and no more.
    const std::string at = command.commands.empty() ? fmt::format("{}*", command.path) : command.path;
    const std::string condition = fmt::format("-n \"__heddle_at '{}'\"", at);
    for (const auto& [name, help] : command.commands) {
      text += fmt::format("complete -c heddle -f {} -a {} -d {}\n", condition, name, in_single_quotes(help));
    }
    for (const OptionWord& option : command.options) {
      const bool is_long = option.word.starts_with("--");
      text += fmt::format("complete -c heddle {} -{} {}{} -d {}\n", condition, is_long ? 'l' : 's',
                          option.word.substr(is_long ? 2 : 1), option.takes_value ? " -r" : "",
                          in_single_quotes(option.help));
    }
  }
  return text;
}

}  // namespace

std::vector<CommandWords> command_words(const CLI::App& app) {
  std::vector<CommandWords> all;
  collect(app, app, {}, all);
  return all;
}

std::optional<std::string> completion(const std::vector<CommandWords>& commands, std::string_view shell) {
  if (shell == "bash") return bash(commands);
  if (shell == "zsh") return zsh(commands);
  if (shell == "fish") return fish(commands);
  return std::nullopt;
}

}  // namespace heddle::cli
