// heddle completion: what a shell completes, for packages and for people's own start files.

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <ostream>
#include <string>

#include "heddle/command.h"
#include "heddle/completion.h"

namespace heddle::cli {

void add_completion_commands(Program& program) {
  Context& context = program.context();
  const auto shell = std::make_shared<std::string>();
  auto* command =
      program.app().add_subcommand("completion", "Print what completes heddle's commands in a shell");
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  Program::on(*command, [shell, &program, &context]() -> Result<void> {
    *context.out << completion(command_words(program.app()), *shell).value_or("");
    return {};
  });
}

}  // namespace heddle::cli
