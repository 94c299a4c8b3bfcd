// heddle health: what is wrong with the fabric itself, or with what concerns one host.

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <ostream>

#include "heddle/client.h"
#include "heddle/command.h"
#include "heddle/json_access.h"
#include "heddle/table.h"

namespace heddle::cli {
namespace {

using boost::json::value;

void print_findings(const value& health, Context& context) {
  const auto& findings = array_at(health, "findings");
  if (findings.empty()) {
    *context.out << fmt::format("well: {} ports, nothing found\n", count_at(health, "ports"));
    return;
  }
  for (const value& finding : findings) {
    *context.out << fmt::format("{:<7} {}  {}  (for {})\n", text_at(finding, "sure"),
                                text_at(finding, "rule"), text_at(finding, "where"),
                                human_seconds(number_at(finding, "since_seconds")));
    *context.out << fmt::format("        {}\n", text_at(finding, "what"));
    const std::string blame = text_at(finding, "blame");
    const std::string first = blame.empty() ? "" : fmt::format("look at {} first: ", blame);
    *context.out << fmt::format("        {}{}\n", first, text_at(finding, "advice"));
  }
  *context.out << fmt::format("{} sure, {} likely\n", count_at(health, "sure"), count_at(health, "likely"));
}

}  // namespace

void add_health_commands(Program& program) {
  Context& context = program.context();
  const auto host = std::make_shared<std::string>();
  auto* health =
      program.app().add_subcommand("health", "What is wrong with links, ports and nodes, and what to do");
  health->add_option("--host", *host, "Only what concerns this host, for prologs and epilogs of jobs");
  health->footer(
      "Exit status: 0 well, 1 something was found, 2 it cannot be asked, or there is no such host.");
  Program::judge(*health, [host, &context]() -> Result<Status> {
    const std::string query = host->empty() ? "" : "?host=" + query_escape(*host);
    const auto answer = Client{context.socket}.get("/v1/health" + query);
    if (!answer) return fail(answer.error());
    if (context.format == Format::Json) {
      print_json(*answer, context);
    } else {
      print_findings(*answer, context);
    }
    return truth_at(*answer, "well") ? Status::Done : Status::Failed;
  });
}

}  // namespace heddle::cli
