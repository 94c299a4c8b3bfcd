// heddle fabric verify, baseline, forget: is a fabric cabled as planned, or as it was?
#include "heddle/cabling_commands.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>
#include <memory>
#include <ostream>

#include "acceptance/cabling_report.h"
#include "base/json_access.h"
#include "cabling/view.h"
#include "fabric/ibnetdiscover.h"
#include "fabric/source.h"
#include "heddle/cabling_source.h"
#include "heddle/fabric_source.h"
#include "heddle/junit.h"
#include "heddle/orders.h"
#include "heddle/text_file.h"

namespace heddle::cli {
namespace {

struct CablingOptions {
  std::string plan;
  std::string fabric;
  std::string junit;
  std::string file;
  bool overwrite = false;
};

Result<Status> verify(const CablingOptions& options, Context& context) {
  const auto fabric = obtain_cables(options.fabric, context);
  if (!fabric) return fail(fabric.error());
  const auto compared = compare_cables(options.plan, **fabric, context);
  if (!compared) return fail(compared.error());
  const cabling::CableCheck& check = compared->check;
  if (!options.junit.empty()) {
    const std::string report =
        junit_document({{acceptance::suite_of_cables(compared->plan), acceptance::cabling_cases(check)}});
    if (auto written = write_text_file(options.junit, report); !written) return fail(written.error());
  }
  if (context.format == Format::Json) {
    print_json(cabling::view(check), context);
  } else {
    *context.out << acceptance::cabling_text(check);
  }
  return check.same() ? Status::Done : Status::Failed;
}

Result<void> order_baseline(boost::json::object body, Context& context) {
  return give_order(context, "/v1/baseline", std::move(body));
}

/// The daemon keeps it, with its journal.
Result<void> hand_over_baseline(const CablingOptions& options, Context& context) {
  boost::json::object order;
  const std::string& source = options.plan.empty() ? options.fabric : options.plan;
  if (!source.empty()) {
    const auto plan = obtain_plan(source, context);
    if (!plan) return fail(plan.error());
    const auto text = is_generator_spec(source) ? Result<std::string>{std::string{}} : read_text_file(source);
    if (!text) return fail(text.error());
    const bool is_list = plan->scope == cabling::Scope::Cables;
    const auto fabric =
        is_list ? Result<std::shared_ptr<const Fabric>>{nullptr} : read_fabric(source, context);
    if (!fabric) return fail(fabric.error());
    order["plan"] = is_list ? *text : write_ibnetdiscover(**fabric);
    order["name"] = std::filesystem::path{source}.filename().string();
  }
  return order_baseline(std::move(order), context);
}

Result<void> save_baseline(const CablingOptions& options, Context& context) {
  if (options.file.empty()) return hand_over_baseline(options, context);
  if (!options.plan.empty()) return fail(ErrorCode::Invalid, "--plan goes with no file: the daemon keeps it");
  if (!options.overwrite && std::filesystem::exists(options.file)) {
    return fail(ErrorCode::Conflict,
                fmt::format("{} is there already: name another file, or --force", options.file));
  }
  const auto fabric = obtain_cables(options.fabric, context);
  if (!fabric) return fail(fabric.error());
  // Whole or not at all: a half baseline would find half the fabric unexpected.
  const std::string part = options.file + ".part";
  if (auto written = write_text_file(part, write_ibnetdiscover(**fabric)); !written)
    return fail(written.error());
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
  verify_command->add_option(
      "plan", options->plan,
      "A list of cables (CSV with StartDevice, StartPort, EndDevice, EndPort, as UFM's NDT files), a "
      "baseline, any topology file or a generator; the baseline that heddled keeps if left out");
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
  auto* save = baseline->add_subcommand("save", "Write it to a file, or have heddled keep it and compare");
  save->add_option("file", options->file, "For heddle fabric verify FILE; kept by heddled if left out");
  save->add_option("--plan", options->plan, "Have heddled keep this in its place: whatever verify takes");
  save->add_option("--fabric", options->fabric,
                   "A topology file or generator; the running fabric if left out");
  save->add_flag("--force", options->overwrite, "Replace a file that is there");
  Program::on(*save, [options, &context] { return save_baseline(*options, context); });
  auto* forget = baseline->add_subcommand("forget", "Have heddled keep none");
  Program::on(*forget, [&context] { return order_baseline({{"forget", true}}, context); });
}

void add_fabric_forget(Program& program, CLI::App& group) {
  Context& context = program.context();
  auto* forget = group.add_subcommand("forget", "Miss what is gone no more: switches and links, for good");
  forget->footer(
      "What heddled has seen and does not see any more is a problem, over its restarts, until then.");
  Program::on(*forget, [&context] { return give_order(context, "/v1/fabric/forget", {}); });
}

}  // namespace heddle::cli
