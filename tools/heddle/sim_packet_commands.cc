// heddle sim run, heddle sim merge, heddle sim plot: experiments on the packet-level data plane.

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "heddle/command.h"
#include "heddle/sim_campaign.h"
#include "heddle/sim_packet_commands.h"
#include "heddle/trace_workload.h"
#include "sim/experiment/results.h"

namespace heddle::cli {
namespace {

struct PacketOptions {
  std::string experiment;
  std::string directory;
  unsigned threads = 0;
  unsigned seeds = 0;
  std::string part;
  bool quiet = false;
};

struct MergeOptions {
  std::vector<std::string> directories;
  std::string directory;
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

Result<void> write_results(const packet::Experiment& experiment, std::span<const packet::PointResult> results,
                           const std::string& directory, Context& context) {
  const std::filesystem::path out{directory};
  std::error_code error;
  std::filesystem::create_directories(out, error);
  if (error) return fail(ErrorCode::Io, fmt::format("{}: {}", directory, error.message()));
  const std::string json = packet::results_json(experiment, results);
  const std::string summary = packet::summary_csv(experiment, results);
  for (const auto& [name, content] :
       {std::pair{"results.json", json}, std::pair{"runs.csv", packet::runs_csv(experiment, results)},
        std::pair{"summary.csv", summary}, std::pair{"plot.gp", packet::gnuplot_script(experiment)}}) {
    if (auto ok = write(out / name, content); !ok) return ok;
  }
  *context.err << packet::standstills(experiment, results);
  *context.out << (context.format == Format::Json ? json : summary);
  return {};
}

/// The runs that are not done yet, each kept as it ends.
Result<void> run_left(const PacketOptions& options, const CampaignPlan& plan, CampaignPart part,
                      CampaignDirectory& directory, Context& context) {
  const std::vector<packet::Point> left = directory.left(plan.experiment, part);
  if (left.empty()) return {};
  const auto site = packet::prepare(plan.experiment);
  if (!site) return fail(options.experiment, site.error());
  const packet::Progress progress = progress_bar(context, options);
  std::size_t ended = 0;
  const auto done = [&](packet::PointResult result) -> Result<void> {
    if (auto ok = directory.keep(std::move(result)); !ok) return ok;
    if (progress) progress(++ended, left.size());
    return {};
  };
  const unsigned threads =
      options.threads > 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
  const auto ran =
      packet::run_points(plan.experiment, *site, left, threads, done,
                         plan.experiment.traces.empty() ? packet::MakeWorkload{} : trace_workloads());
  if (!ran) return fail(options.experiment, ran.error());
  return {};
}

Result<void> run(const PacketOptions& options, Context& context) {
  const auto plan = CampaignPlan::read(options.experiment, options.seeds);
  if (!plan) return fail(plan.error());
  const auto part = options.part.empty() ? CampaignPart{} : parse_part(options.part);
  if (!part) return fail(part.error());
  auto directory = CampaignDirectory::open(options.directory, *plan);
  if (!directory) return fail(directory.error());
  if (!directory->done().empty() && !options.quiet)
    *context.err << fmt::format("{} runs were done before\n", directory->done().size());
  if (auto ok = run_left(options, *plan, *part, *directory, context); !ok) return ok;
  if (part->of > 1) {
    *context.out << fmt::format("part {} of {}: {} runs are done; heddle sim merge puts the parts together\n",
                                part->number, part->of, directory->done().size());
    return {};
  }
  std::vector<packet::PointResult> results = directory->done();
  std::ranges::sort(results, {}, &packet::PointResult::point);
  if (auto ok = write_results(plan->experiment, results, options.directory, context); !ok) return ok;
  directory->forget();
  return {};
}

Result<void> merge(const MergeOptions& options, Context& context) {
  const auto merged = merge_campaign(options.directories);
  if (!merged) return fail(merged.error());
  return write_results(merged->experiment, merged->results, options.directory, context);
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

  auto* run_command = sim.add_subcommand(
      "run", "Carry out an experiment: all its variants, loads and seeds; goes on where it was stopped");
  run_command->add_option("experiment", options->experiment, "TOML file")->required();
  run_command->add_option("--out", options->directory, "Directory for results.json, *.csv and plot.gp")
      ->required();
  run_command->add_option("--threads", options->threads,
                          "Runs at once; as many as there are cores if left out");
  run_command->add_option("--seeds", options->seeds, "Number of seeds, in place of the file's");
  run_command->add_option("--part", options->part, "I/N: every Nth run only, for heddle sim merge");
  run_command->add_flag("--quiet", options->quiet, "No progress bar");
  Program::on(*run_command, [options, &program] { return run(*options, program.context()); });

  auto merging = std::make_shared<MergeOptions>();
  auto* merge_command = sim.add_subcommand("merge", "Put the parts of an experiment together");
  merge_command->add_option("directories", merging->directories, "What --out of sim run --part was")
      ->required();
  merge_command->add_option("--out", merging->directory, "Directory for results.json, *.csv and plot.gp")
      ->required();
  Program::on(*merge_command, [merging, &program] { return merge(*merging, program.context()); });

  auto* plot_command = sim.add_subcommand("plot", "Draw the results of an experiment with gnuplot");
  plot_command->add_option("directory", options->directory, "What --out of sim run was")->required();
  Program::on(*plot_command, [options] { return plot(*options); });
}

}  // namespace heddle::cli
