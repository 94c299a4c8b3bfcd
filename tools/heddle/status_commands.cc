// heddle status: what the daemon does and sees, on one screen.

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <ostream>

#include "heddle/client.h"
#include "heddle/command.h"
#include "heddle/json_text.h"

namespace heddle::cli {

void add_status_commands(Program& program) {
  Context& context = program.context();
  auto* status = program.app().add_subcommand("status", "What the daemon does and sees");
  Program::on(*status, [&context]() -> Result<void> {
    const auto answer = Client{context.socket}.get("/v1/status");
    if (!answer) return fail(answer.error());
    if (context.format == Format::Json) {
      print_json(*answer, context);
    } else {
      *context.out << pretty(*answer) << '\n';
    }
    return {};
  });
}

}  // namespace heddle::cli
