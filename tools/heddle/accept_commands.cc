// heddle accept: whether a fabric is right to hand over, in one report.

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <boost/json/object.hpp>
#include <memory>
#include <ostream>
#include <string_view>

#include "heddle/acceptance.h"
#include "heddle/junit.h"
#include "heddle/text_file.h"

namespace heddle::cli {
namespace {

using acceptance::Part;
using acceptance::Verdict;

std::string indented(std::string_view lines) {
  std::string text;
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    text += fmt::format("    {}\n", lines.substr(0, end));
    lines.remove_prefix(end + 1);
  }
  return text;
}

std::string_view sentence(Verdict verdict) {
  if (verdict == Verdict::Passed) return "accepted";
  return verdict == Verdict::Failed ? "not accepted" : "not accepted: not all of it could be judged";
}

std::string in_words(Verdict verdict) {
  std::string words{to_string(verdict)};
  std::ranges::replace(words, '_', ' ');
  return words;
}

void print_report(const std::vector<Part>& parts, Context& context) {
  for (const Part& part : parts) {
    *context.out << fmt::format("{:<10} {:<10} {}\n{}", part.name, in_words(part.verdict), part.summary,
                                indented(part.details));
  }
  *context.out << sentence(acceptance::judge_all(parts)) << '\n';
}

Result<Status> run(const AcceptOptions& options, const std::string& junit, Context& context) {
  if (!options.fabric.empty() && options.plan.empty())
    return fail(ErrorCode::Invalid, "a plan is wanted: heddled's baseline is of the running fabric");
  if (options.fabric.empty() && !options.lfts.empty())
    return fail(ErrorCode::Invalid, "--lfts is of a fabric in a file: of the running one they are read back");
  const std::vector<Part> parts = judge_acceptance(options, context);
  if (!junit.empty()) {
    std::vector<TestSuite> suites;
    for (const Part& part : parts) suites.push_back(part.tests);
    if (auto written = write_text_file(junit, junit_document(suites)); !written) return fail(written.error());
  }
  if (context.format == Format::Json) {
    print_json(acceptance::view(parts), context);
  } else {
    print_report(parts, context);
  }
  const Verdict verdict = acceptance::judge_all(parts);
  if (verdict == Verdict::NotJudged) return Status::Usage;
  return verdict == Verdict::Passed ? Status::Done : Status::Failed;
}

}  // namespace

void add_accept_commands(Program& program) {
  Context& context = program.context();
  const auto options = std::make_shared<AcceptOptions>();
  const auto junit = std::make_shared<std::string>();
  auto* command = program.app().add_subcommand(
      "accept", "Is the fabric right to hand over? Cables, health, routes, bandwidth");
  command->add_option(
      "plan", options->plan,
      "How it is to be cabled, as for fabric verify; the baseline that heddled keeps if left out");
  command->add_option("--fabric", options->fabric,
                      "A topology file or generator, without its health; the running fabric if left out");
  auto* lfts = command
                   ->add_option("--lfts", options->lfts,
                                "The tables of --fabric, as opensm-lfts.dump; else an engine makes them")
                   ->option_text("FILE")
                   ->needs("--fabric");
  command->add_option("--engine", options->engine, "Which one: updn, ftree, dor or minhop")
      ->option_text("ENGINE [updn]")
      ->needs("--fabric")
      ->excludes(lfts);
  command
      ->add_option("--least", options->least,
                   "What each host must get of its share, in per cent, when all send to all others")
      ->check(CLI::Range(0, 100))
      ->option_text("PERCENT [50]");
  command->add_option("--junit", *junit, "Write a JUnit report to this file");
  command->footer(
      "Exit status: 0 accepted, 1 something is wrong, 2 it could not be judged. Nothing in the fabric is "
      "changed, and no\npacket is sent: the bandwidth is that of a twin, by the tables in force.");
  Program::judge(*command, [options, junit, &context] { return run(*options, *junit, context); });
}

}  // namespace heddle::cli
