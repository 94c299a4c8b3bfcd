// heddle qos push, verify, show, forget: QoS tables of the fabric that heddled manages.

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <boost/json/object.hpp>
#include <memory>
#include <ostream>

#include "base/json_access.h"
#include "heddle/client.h"
#include "heddle/qos_commands.h"
#include "heddle/qos_options.h"
#include "heddle/table.h"

namespace heddle::cli {
namespace {

namespace json = boost::json;
using json::value;

struct PushOptions {
  std::string plan;
  std::string ports;
  bool dry_run = false;
};

void print_findings(const value& answer, const char* key, const char* title, Context& context) {
  const auto& list = array_at(answer, key);
  if (list.empty()) return;
  Table table{{{"PORT"}, {title}}};
  for (const auto& each : list) table.add({text_at(each, "port"), text_at(each, "what")});
  table.print(*context.out, context.colour);
  const auto all = static_cast<std::size_t>(count_at(answer, fmt::format("{}_count", key)));
  if (all > list.size()) *context.out << fmt::format("... and {} more\n", all - list.size());
}

std::string ports_text(const value& shortfall) {
  constexpr std::size_t most = 6;
  std::string out;
  const auto& ports = array_at(shortfall, "ports");
  for (std::size_t i = 0; i < std::min(ports.size(), most); ++i)
    out += fmt::format("{}{}", i == 0 ? "" : ", ", text_at(ports[i], ""));
  const auto all = static_cast<std::size_t>(count_at(shortfall, "port_count"));
  return all > most ? fmt::format("{} and {} more", out, all - most) : out;
}

void print_reduced(const value& answer, Context& context) {
  for (const auto& each : array_at(answer, "reduced")) {
    *context.out << fmt::format("{} ports with {}+{} entries and {} VLs get what fits ({}):\n  {}\n",
                                count_at(each, "port_count"), count_at(each, "high_entries"),
                                count_at(each, "low_entries"), count_at(each, "vls"), text_at(each, "reason"),
                                ports_text(each));
    for (const auto& lane : array_at(each, "losses")) *context.out << "  " << text_at(lane, "text") << '\n';
  }
}

/// An order that was not carried out to the last port has failed.
Result<void> verdict(const value& answer, const char* differ) {
  const auto wrong = count_at(answer, "differ_count");
  const auto silent = count_at(answer, "silent_count");
  if (wrong == 0 && silent == 0) return {};
  return fail(ErrorCode::Refused, fmt::format("{} ports {}, {} did not answer", wrong, differ, silent));
}

void print_push(const value& answer, const PushOptions& given, Context& context) {
  std::ostream& out = *context.out;
  if (const std::string why = text_at(answer, "not_written"); !why.empty()) {
    out << fmt::format("Nothing was written to ports: {}.\nThe plan for the OpenSM plugin is in {}.\n", why,
                       text_at(answer, "plan_file"));
  } else if (given.dry_run) {
    out << fmt::format("{} ports read, {} would be written.\n", count_at(answer, "ports"),
                       count_at(answer, "differ_count"));
  } else {
    out << fmt::format(
        "{} ports, {} written ({} table blocks, {} high limits, {} SL2VL maps) and read back in {}.\n",
        count_at(answer, "ports"), count_at(answer, "ports_written"), count_at(answer, "blocks_written"),
        count_at(answer, "limits_written"), count_at(answer, "maps_written"),
        human_seconds(number_at(answer, "seconds")));
  }
  print_findings(answer, "differ", given.dry_run ? "WOULD CHANGE" : "STILL DIFFERS", context);
  print_findings(answer, "silent", "NO ANSWER", context);
  print_reduced(answer, context);
}

Result<void> run_push(const PushOptions& given, Context& context) {
  const auto text = read_text(given.plan);
  if (!text) return fail(text.error());
  const json::object body{
      {"plan_text", *text}, {"name", given.plan}, {"ports", given.ports}, {"dry_run", given.dry_run}};
  const auto answer = Client{context.socket}.post("/v1/qos/push", body);
  if (!answer) return fail(answer.error());
  if (context.format == Format::Json) {
    print_json(*answer, context);
  } else {
    print_push(*answer, given, context);
  }
  return given.dry_run ? Result<void>{} : verdict(*answer, "still differ from the plan");
}

Result<void> run_verify(Context& context) {
  const auto answer = Client{context.socket}.post("/v1/qos/verify", json::object{});
  if (!answer) return fail(answer.error());
  if (context.format == Format::Json) {
    print_json(*answer, context);
  } else {
    *context.out << fmt::format("{} ports read in {}: {} differ, {} did not answer.\n",
                                count_at(*answer, "ports"), human_seconds(number_at(*answer, "seconds")),
                                count_at(*answer, "differ_count"), count_at(*answer, "silent_count"));
    print_findings(*answer, "differ", "DIFFERS", context);
    print_findings(*answer, "silent", "NO ANSWER", context);
    print_reduced(*answer, context);
  }
  return verdict(*answer, "differ from the plan");
}

void print_state(const value& answer, Context& context) {
  if (array_at(answer, "plans").empty()) {
    *context.out << "No QoS plan was pushed.\n";
    return;
  }
  Table table{{{"PLAN"}, {"PORTS"}, {"HIGH", Align::Right}, {"LOW", Align::Right}, {"LIMIT", Align::Right}}};
  for (const auto& plan : array_at(answer, "plans")) {
    const std::string ports = text_at(plan, "ports");
    table.add({text_at(plan, "name"), ports.empty() ? "all" : ports,
               fmt::format("{}", array_at(plan, "qos.vlarb_high").size()),
               fmt::format("{}", array_at(plan, "qos.vlarb_low").size()),
               fmt::format("{}", count_at(plan, "qos.high_limit"))});
  }
  table.print(*context.out, context.colour);
  if (at_path(answer, "verified").is_null()) {
    *context.out << "Not compared with the fabric yet.\n";
  } else {
    *context.out << fmt::format("When last compared: {} ports, {} differ, {} did not answer.\n",
                                count_at(answer, "ports"), count_at(answer, "differ_count"),
                                count_at(answer, "silent_count"));
  }
  print_findings(answer, "differ", "DIFFERS", context);
  print_findings(answer, "silent", "NO ANSWER", context);
  print_reduced(answer, context);
}

Result<void> show_qos(const Result<value>& answer, Context& context) {
  if (!answer) return fail(answer.error());
  if (context.format == Format::Json) {
    print_json(*answer, context);
  } else {
    print_state(*answer, context);
  }
  return {};
}

}  // namespace

void add_qos_push(CLI::App& qos, Program& program) {
  auto given = std::make_shared<PushOptions>();
  auto* push =
      qos.add_subcommand("push", "Write a plan's tables to the ports of the fabric, and read them back");
  push->add_option("plan", given->plan, "What `heddle qos design --plan` wrote")
      ->required()
      ->type_name("PLAN");
  push->add_option("--ports", given->ports,
                   "Only these: a list of ca, switch, router, and patterns over NODE or NODE/PORT")
      ->type_name("FILTER");
  push->add_flag("--dry-run", given->dry_run, "Read only, and say what would be written");
  Program::on(*push, [given, &program] { return run_push(*given, program.context()); });

  auto* verify =
      qos.add_subcommand("verify", "Read the tables of all ports and compare them with what was pushed");
  Program::on(*verify, [&program] { return run_verify(program.context()); });

  auto* state = qos.add_subcommand("show", "What was pushed, and what the last comparison found");
  Program::on(*state, [&program] {
    return show_qos(Client{program.context().socket}.get("/v1/qos"), program.context());
  });

  auto* forget = qos.add_subcommand("forget", "Forget what was pushed; the tables stay in the fabric");
  Program::on(*forget, [&program] {
    return show_qos(Client{program.context().socket}.post("/v1/qos/forget", json::object{}),
                    program.context());
  });
}

}  // namespace heddle::cli
