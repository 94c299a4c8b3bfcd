// heddle sim run, heddle sim plot: experiments on the packet-level data plane.

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <ostream>
#include <string>
#include <thread>

#include "fabric/source.h"
#include "heddle/command.h"
#include "heddle/sim_packet_commands.h"
#include "heddle/trace_workload.h"
#include "sim/packet/results.h"

namespace heddle::cli {
namespace {

struct PacketOptions {
  std::string experiment;
  std::string directory;
  unsigned threads = 0;
  unsigned seeds = 0;
  bool quiet = false;
};

Result<void> write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file{path, std::ios::binary};
  file << text << std::flush;
  if (!file) return fail(ErrorCode::Io, fmt::format("{}: cannot be written", path.string()));
  return {};
}

/// One line, overwritten: how far it is and how long it will still take.
packet::Progress progress_bar(Context& context, const PacketOptions& options) {
  if (options.quiet) return {};
  const auto begin = std::chrono::steady_clock::now();
  return [&context, begin](std::size_t done, std::size_t all) {
    const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const double left = spent / static_cast<double>(done) * static_cast<double>(all - done);
    const std::size_t width = 30 * done / all;
    *context.err << fmt::format("\r[{}{}] {}/{} runs, {:.0f} s left ", std::string(width, '#'),
                                std::string(30 - width, '.'), done, all, left)
                 << (done == all ? "\n" : "") << std::flush;
  };
}

Result<void> run(const PacketOptions& options, Context& context) {
  const auto text = read_text_file(options.experiment);
  if (!text) return fail(text.error());
  const auto beside = std::filesystem::path{options.experiment}.parent_path();
  auto experiment = packet::read_experiment(*text, options.experiment, [&](const std::string& file) {
    return read_text_file((beside / file).string());
  });
  if (!experiment) return fail(experiment.error());
  if (options.seeds > 0) {
    const std::uint64_t first = experiment->seeds.front();
    experiment->seeds.clear();
    for (unsigned i = 0; i < options.seeds; ++i) experiment->seeds.push_back(first + i);
  }
  // Files that an experiment names are beside it.
  for (packet::ExperimentTrace& trace : experiment->traces) {
    trace.file = (beside / trace.file).string();
    if (trace.mapping != "round-robin" && trace.mapping != "block")
      trace.mapping = (beside / trace.mapping).string();
  }
  if (!experiment->lfts.empty()) experiment->lfts = (beside / experiment->lfts).string();
  if (!is_generator_spec(experiment->source)) experiment->source = (beside / experiment->source).string();
  const auto site = packet::prepare(*experiment);
  if (!site) return fail(options.experiment, site.error());
  const unsigned threads =
      options.threads > 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
  const auto results =
      packet::run_all(*experiment, *site, threads, progress_bar(context, options),
                      experiment->traces.empty() ? packet::MakeWorkload{} : trace_workloads());
  if (!results) return fail(options.experiment, results.error());

  const std::filesystem::path out{options.directory};
  std::error_code error;
  std::filesystem::create_directories(out, error);
  if (error) return fail(ErrorCode::Io, fmt::format("{}: {}", options.directory, error.message()));
  const std::string json = packet::results_json(*experiment, *results);
  const std::string summary = packet::summary_csv(*experiment, *results);
  for (const auto& [name, content] :
       {std::pair{"results.json", json}, std::pair{"runs.csv", packet::runs_csv(*experiment, *results)},
        std::pair{"summary.csv", summary}, std::pair{"plot.gp", packet::gnuplot_script(*experiment)}}) {
    if (auto ok = write(out / name, content); !ok) return ok;
  }
  *context.out << (context.format == Format::Json ? json : summary);
  return {};
}

Result<void> plot(const PacketOptions& options) {
  const std::filesystem::path directory{options.directory};
  if (!std::filesystem::exists(directory / "plot.gp")) {
    return fail(
        ErrorCode::NotFound,
        fmt::format("{}: no plot.gp there: run \"heddle sim run\" with --out first", options.directory));
  }
  std::error_code error;
  const auto here = std::filesystem::current_path(error);
  std::filesystem::current_path(directory, error);
  if (error) return fail(ErrorCode::Io, fmt::format("{}: {}", options.directory, error.message()));
  const int status = std::system("gnuplot plot.gp");
  std::filesystem::current_path(here, error);
  if (status == 0) return {};
  return fail(ErrorCode::Io, "gnuplot failed or is not installed (Debian: gnuplot-nox)");
}

}  // namespace

void add_sim_packet_commands(CLI::App& sim, Program& program) {
  auto options = std::make_shared<PacketOptions>();

  auto* run_command = sim.add_subcommand("run", "Carry out an experiment: all its variants, loads and seeds");
  run_command->add_option("experiment", options->experiment, "TOML file")->required();
  run_command->add_option("--out", options->directory, "Directory for results.json, *.csv and plot.gp")
      ->required();
  run_command->add_option("--threads", options->threads,
                          "Runs at once; as many as there are cores if left out");
  run_command->add_option("--seeds", options->seeds, "Number of seeds, in place of the file's");
  run_command->add_flag("--quiet", options->quiet, "No progress bar");
  Program::on(*run_command, [options, &program] { return run(*options, program.context()); });

  auto* plot_command = sim.add_subcommand("plot", "Draw the results of an experiment with gnuplot");
  plot_command->add_option("directory", options->directory, "What --out of sim run was")->required();
  Program::on(*plot_command, [options] { return plot(*options); });
}

}  // namespace heddle::cli
