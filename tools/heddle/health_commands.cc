// heddle health: what is wrong with the fabric itself, or with what concerns one host.

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <ostream>

#include "acceptance/health_text.h"
#include "base/json_access.h"
#include "heddle/client.h"
#include "heddle/command.h"
#include "heddle/table.h"

namespace heddle::cli {
namespace {

using boost::json::value;

Result<void> show_bit_errors(const std::string& match, Context& context) {
  const std::string query = match.empty() ? "" : "?match=" + query_escape(match);
  const auto answer = Client{context.socket}.get("/v1/health/bit-errors" + query);
  if (!answer) return fail(answer.error());
  if (context.format == Format::Json) {
    print_json(*answer, context);
    return {};
  }
  constexpr auto right = Align::Right;
  Table table{{{"COMES IN AT"}, {"EFFECTIVE", right}, {"LONG", right}, {"RAW", right}, {"LONG", right}}};
  for (const value& row : array_at(*answer, "ports")) {
    const auto rate = [&](const char* key) { return human_ber(number_at(row, key)); };
    table.add(
        {text_at(row, "port"), rate("effective"), rate("effective_long"), rate("raw"), rate("raw_long")});
  }
  table.print(*context.out, context.colour);
  return {};
}

}  // namespace

void add_health_commands(Program& program) {
  Context& context = program.context();
  const auto host = std::make_shared<std::string>();
  auto* health =
      program.app().add_subcommand("health", "What is wrong with links, ports and nodes, and what to do");
  auto* of_host =
      health->add_option("--host", *host, "Only what concerns this host, for prologs and epilogs of jobs");
  health->footer(
      "Exit status: 0 well, 1 something was found, 2 it cannot be asked, or there is no such host.");
  const auto bits = std::make_shared<bool>(false);
  const auto match = std::make_shared<std::string>();
  health->add_flag("--bits", *bits,
                   "Bit error rates of what comes in at each port, the worst first, in place of findings");
  health->add_option("--match", *match, "--bits: only ports whose NODE/PORT fits this pattern");
  Program::judge(*health, [host, of_host, bits, match, &context]() -> Result<Status> {
    // In a prolog: of a variable that is not set the whole fabric would be judged, and the host blamed.
    if (of_host->count() > 0 && host->empty())
      return fail(ErrorCode::Invalid, "--host: the name of a host is wanted, not an empty text");
    if (*bits) {
      if (auto shown = show_bit_errors(*match, context); !shown) return fail(shown.error());
      return Status::Done;
    }
    const std::string query = host->empty() ? "" : "?host=" + query_escape(*host);
    const auto answer = Client{context.socket}.get("/v1/health" + query);
    if (!answer) return fail(answer.error());
    if (context.format == Format::Json) {
      print_json(*answer, context);
    } else {
      *context.out << acceptance::health_text(*answer);
    }
    return truth_at(*answer, "well") ? Status::Done : Status::Failed;
  });
}

}  // namespace heddle::cli
