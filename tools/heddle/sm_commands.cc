// heddle sm: who manages the fabric.

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <boost/json/object.hpp>
#include <memory>
#include <ostream>

#include "base/json_access.h"
#include "heddle/accounts.h"
#include "heddle/client.h"
#include "heddle/command.h"

namespace heddle::cli {
namespace {

Result<void> take_subnet(Context& context, bool force) {
  boost::json::object body{{"force", force}};
  if (const std::string name = asked_by(); !name.empty()) body["by"] = name;
  const auto answer = Client{context.socket}.post("/v1/sm/take", body);
  if (!answer) return fail(answer.error());
  if (context.format == Format::Json) {
    print_json(*answer, context);
  } else {
    *context.out << text_at(*answer, "text") << '\n';
  }
  return {};
}

}  // namespace

void add_sm_commands(Program& program) {
  Context& context = program.context();
  auto* sm = program.app().add_subcommand("sm", "The subnet manager of the fabric");
  sm->require_subcommand(1);
  auto* command = sm->add_subcommand(
      "take", "Manage a fabric of which a port says that a subnet manager is there, which does not answer");
  auto force = std::make_shared<bool>(false);
  command->add_flag("--force", *force, "The other subnet manager is gone for good: I have looked");
  Program::on(*command, [&context, force] { return take_subnet(context, *force); });
}

}  // namespace heddle::cli
