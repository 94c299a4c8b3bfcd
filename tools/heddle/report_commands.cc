// heddle report: one HTML file about the fabric and what went through it.

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fstream>
#include <map>
#include <memory>
#include <ostream>

#include "heddle/client.h"
#include "heddle/command.h"
#include "heddle/report_data.h"
#include "heddle/report_html.h"

namespace heddle::cli {
namespace {

struct ReportOptions {
  double last = 24 * 3600;
  std::string prometheus;
  std::string output;
};

Result<void> report(const ReportOptions& options, Context& context) {
  const auto data = gather_report(Client{context.socket}, options.last, options.prometheus);
  if (!data) return fail(data.error());
  const std::string html = report_html(*data);
  if (options.output == "-") {
    *context.out << html;
    return {};
  }
  std::ofstream file{options.output, std::ios::binary};
  file << html << std::flush;
  if (!file) return fail(ErrorCode::Io, fmt::format("{}: cannot be written", options.output));
  *context.err << fmt::format("{}: {} links, from {}\n", options.output, data->links.size(), data->source);
  return {};
}

}  // namespace

void add_report_commands(Program& program) {
  Context& context = program.context();
  const auto options = std::make_shared<ReportOptions>();
  auto* command = program.app().add_subcommand(
      "report", "One HTML file: map, busiest and idlest links, profiles, locality, errors, energy, changes");
  command->add_option("--last", options->last, "How far back, as 30m or 24h; heddled itself keeps minutes")
      ->transform(CLI::AsNumberWithUnit(
          std::map<std::string, double>{{"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}, {"d", 86400}},
          CLI::AsNumberWithUnit::CASE_SENSITIVE))
      ->check(CLI::PositiveNumber)
      ->option_text("DURATION [24h]");
  command
      ->add_option("--prometheus", options->prometheus,
                   "A Prometheus server that scrapes this heddled, for what is longer ago: http://HOST:PORT")
      ->option_text("URL");
  command->add_option("-o,--out", options->output, "The file to write; \"-\" for standard output")
      ->required();
  Program::on(*command, [options, &context] { return report(*options, context); });
}

}  // namespace heddle::cli
