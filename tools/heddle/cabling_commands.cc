// heddle fabric verify, baseline: is a fabric cabled as planned?
#include "heddle/cabling_commands.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <ostream>

#include "cabling/check.h"
#include "fabric/ibnetdiscover.h"
#include "fabric/source.h"
#include "heddle/cabling_output.h"
#include "heddle/fabric_source.h"

namespace heddle::cli {
namespace {

struct CablingOptions {
  std::string plan;
  std::string fabric;
  std::string junit;
  std::string file;
  bool overwrite = false;
};

Result<cabling::CablePlan> read_plan(const std::string& source, const Context& context) {
  if (!is_generator_spec(source)) {
    const auto text = read_text_file(source);
    if (!text) return fail(text.error());
    if (cabling::is_cable_list(*text)) return cabling::parse_cable_list(*text, source);
  }
  const auto fabric = read_fabric(source, context);
  if (!fabric) return fail(fabric.error());
  return cabling::plan_of(**fabric, source);
}

Result<void> write_file(const std::string& path, const std::string& text) {
  std::ofstream file{path, std::ios::binary};
  file << text << std::flush;
  if (!file) return fail(ErrorCode::Io, fmt::format("{}: cannot be written", path));
  return {};
}

Result<Status> verify(const CablingOptions& options, Context& context) {
  const auto plan = read_plan(options.plan, context);
  if (!plan) return fail(plan.error());
  for (const std::string& warning : plan->warnings) *context.err << "heddle: warning: " << warning << '\n';
  const auto fabric = obtain_fabric(options.fabric, context);
  if (!fabric) return fail(fabric.error());
  const auto check = cabling::check_cables(*plan, **fabric);
  if (!check) return fail(check.error());
  if (!options.junit.empty()) {
    if (auto written = write_file(options.junit, cabling_junit(*check, plan->file)); !written) {
      return fail(written.error());
    }
  }
  if (context.format == Format::Json) {
    print_json(cabling_json(*check), context);
  } else {
    *context.out << cabling_text(*check);
  }
  return check->same() ? Status::Done : Status::Failed;
}

Result<void> save_baseline(const CablingOptions& options, Context& context) {
  if (!options.overwrite && std::filesystem::exists(options.file)) {
    return fail(ErrorCode::Conflict,
                fmt::format("{} is there already: name another file, or --force", options.file));
  }
  const auto fabric = obtain_fabric(options.fabric, context);
  if (!fabric) return fail(fabric.error());
  // Whole or not at all: a half baseline would find half the fabric unexpected.
  const std::string part = options.file + ".part";
  if (auto written = write_file(part, write_ibnetdiscover(**fabric)); !written) return fail(written.error());
  std::error_code failed;
  std::filesystem::rename(part, options.file, failed);
  if (failed) return fail(ErrorCode::Io, fmt::format("{}: {}", options.file, failed.message()));
  *context.out << fmt::format("{}: {} links\n", options.file, (*fabric)->links().size());
  return {};
}

}  // namespace

void add_fabric_verify(Program& program, CLI::App& group) {
  Context& context = program.context();
  const auto options = std::make_shared<CablingOptions>();
  auto* verify_command = group.add_subcommand("verify", "Is the fabric cabled as planned?");
  verify_command
      ->add_option(
          "plan", options->plan,
          "A list of cables (CSV with StartDevice, StartPort, EndDevice, EndPort, as UFM's NDT files), a "
          "baseline, any topology file or a generator")
      ->required();
  verify_command->add_option("--fabric", options->fabric,
                             "A topology file or generator; the running fabric if left out");
  verify_command->add_option("--junit", options->junit, "Write a JUnit report to this file");
  verify_command->footer("Exit status: 0 as planned, 1 it differs, 2 a file or the fabric cannot be read.");
  Program::judge(*verify_command, [options, &context] { return verify(*options, context); });
}

void add_fabric_baseline(Program& program, CLI::App& group) {
  Context& context = program.context();
  const auto options = std::make_shared<CablingOptions>();
  auto* baseline = group.add_subcommand("baseline", "The fabric as it is, as a plan to verify against later");
  baseline->require_subcommand(1);
  auto* save = baseline->add_subcommand("save", "Write it to a file");
  save->add_option("file", options->file, "For heddle fabric verify FILE")->required();
  save->add_option("--fabric", options->fabric,
                   "A topology file or generator; the running fabric if left out");
  save->add_flag("--force", options->overwrite, "Replace a file that is there");
  Program::on(*save, [options, &context] { return save_baseline(*options, context); });
}

}  // namespace heddle::cli
