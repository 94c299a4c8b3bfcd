// heddle jobs: what each job puts on the fabric, and with whom it shares its busiest link.

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <boost/json/array.hpp>
#include <cmath>
#include <fstream>
#include <iterator>
#include <memory>
#include <ostream>

#include "base/json_access.h"
#include "batch/squeue.h"
#include "fabric/link_name.h"
#include "heddle/client.h"
#include "heddle/fabric_source.h"
#include "heddle/table.h"
#include "jobs/report.h"

namespace heddle::cli {
namespace {

namespace json = boost::json;
using jobs::Job;
using jobs::PortLoad;

struct JobsOptions {
  std::string file;
  std::string squeue;
  std::size_t top = 20;
};

Result<std::vector<Job>> jobs_from(const JobsOptions& options) {
  if (options.file.empty())
    return batch::ask_squeue({.program = options.squeue.empty() ? "squeue" : options.squeue});
  std::ifstream in{options.file, std::ios::binary};
  const std::string text{std::istreambuf_iterator<char>{in}, {}};
  if (!in.is_open() || in.bad()) return fail(ErrorCode::Io, fmt::format("{}: cannot be read", options.file));
  return jobs::parse_job_file(text, options.file);
}

NodeGuid guid_at(const json::value& end) {
  const std::string text = text_at(end, "guid");
  return NodeGuid{std::strtoull(text.c_str(), nullptr, 16)};
}

/// By PortIndex, from the daemon's list of links.
std::vector<PortLoad> loads_in(const json::value& answer, const Fabric& fabric) {
  std::vector<PortLoad> loads(fabric.ports().size());
  for (const json::value& link : array_at(answer, "links")) {
    for (const auto& [end, direction] : {std::pair{"a", "a_to_b"}, std::pair{"b", "b_to_a"}}) {
      const json::value& at = at_path(link, end);
      const NodeIndex node = fabric.find_node(guid_at(at));
      const auto port = count_at(at, "port");
      if (node == no_node || port < 1 || port > fabric.node(node).port_count) continue;
      const json::value& load = at_path(link, direction);
      const double rate = number_at(load, "bytes_per_second");
      if (!std::isfinite(rate)) continue;
      const double utilization = number_at(load, "utilization");
      loads[fabric.port_index(node, PortNum{static_cast<std::uint8_t>(port)}).raw()] = {
          rate, std::isfinite(utilization) ? utilization : 0, true};
    }
  }
  return loads;
}

void print_jobs(const json::array& views, std::size_t left_out, Context& context) {
  constexpr double bits = 8;
  Table table{{{"JOB"},
               {"USER"},
               {"HOSTS", Align::Right},
               {"SENDS", Align::Right},
               {"LEAVES ITS LEAF", Align::Right},
               {"BUSIEST LINK"},
               {"", Align::Right},
               {"SHARED WITH"}}};
  for (const json::value& job : views) {
    std::string others;
    for (const json::value& each : array_at(job, "neighbours"))
      others += fmt::format("{}{}", others.empty() ? "" : ", ", text_at(each, "job"));
    std::string share = human(Ratio{number_at(job, "leaves_leaf")});
    if (std::isfinite(number_at(job, "leaves_leaf")) && !truth_at(job, "leaves_leaf_exact"))
      share.insert(0, 1, '~');
    const bool has_link = !at_path(job, "worst_link").is_null();
    table.add({text_at(job, "job"), text_at(job, "user"), fmt::format("{}", count_at(job, "hosts")),
               human(BitRate{number_at(job, "injected_bytes_per_second") * bits}), share,
               has_link
                   ? fmt::format("{} -> {}", text_at(job, "worst_link.from"), text_at(job, "worst_link.to"))
                   : "-",
               has_link ? human(Ratio{number_at(job, "worst_link.utilization")}) : "", others});
  }
  if (table.empty()) {
    *context.out << "No jobs.\n";
    return;
  }
  table.print(*context.out, context.colour);
  if (left_out > 0) *context.out << fmt::format("and {} more, which send less (--top)\n", left_out);
  for (const json::value& job : views) {
    const auto& unknown = array_at(job, "unknown_hosts");
    if (unknown.empty()) continue;
    *context.out << fmt::format("{}: {} of its hosts are not in this fabric: {}{}\n", text_at(job, "job"),
                                unknown.size(), text_at(unknown.front(), ""),
                                unknown.size() > 1 ? ", ..." : "");
  }
}

/// As the daemon tells it.
Result<json::value> ask_daemon(const JobsOptions& options, const Context& context) {
  auto answer = Client{context.socket}.get(fmt::format("/v1/jobs?top={}", options.top));
  if (!answer) return fail(answer.error());
  if (const std::string trouble = text_at(*answer, "trouble"); !trouble.empty())
    *context.err << "heddle: warning: the list of jobs is old: " << trouble << '\n';
  return answer;
}

Result<json::value> ask_here(const JobsOptions& options, const Context& context) {
  auto jobs = jobs_from(options);
  if (!jobs) return fail(jobs.error());
  auto fabric = obtain_fabric({}, context);
  if (!fabric) return fail(fabric.error());
  const auto links = Client{context.socket}.get("/v1/links");
  if (!links) return fail(links.error());
  const jobs::Report report = jobs::report(*fabric, loads_in(*links, **fabric), *std::move(jobs));
  return jobs::view(report, options.top, FabricNames{report.fabric});
}

Result<void> show_jobs(const JobsOptions& options, Context& context) {
  const bool is_given = !options.file.empty() || !options.squeue.empty();
  auto answer = is_given ? ask_here(options, context) : ask_daemon(options, context);
  // A daemon that was not told where jobs are, or an earlier one.
  const bool knows_none = !answer && (answer.error().code == ErrorCode::Unsupported ||
                                      answer.error().code == ErrorCode::NotFound);
  if (!is_given && knows_none) answer = ask_here(options, context);
  if (!answer) return fail(answer.error());
  if (context.format == Format::Json) {
    print_json(*answer, context);
  } else {
    print_jobs(array_at(*answer, "jobs"), static_cast<std::size_t>(count_at(*answer, "left_out")), context);
  }
  return {};
}

}  // namespace

void add_jobs_commands(Program& program) {
  Context& context = program.context();
  auto options = std::make_shared<JobsOptions>();
  auto* command = program.app().add_subcommand(
      "jobs", "What each job sends, how much of it leaves its leaf, and who shares its busiest link");
  command
      ->add_option("--file", options->file,
                   "Lines of job,host,...; without it the daemon is asked, or squeue where it knows no jobs")
      ->check(CLI::ExistingFile);
  command->add_option("--squeue", options->squeue, "The squeue to ask, as whoever runs this")
      ->option_text("PROGRAM [squeue]");
  command->add_option("--top", options->top, "So many jobs, those that send most; 0: all")
      ->capture_default_str();
  command->footer(
      "Where other jobs send from the same leaf, or packets of others pass through it, the share that leaves "
      "it is that\n"
      "of the leaf as a whole, and stands with ~.");
  Program::on(*command, [options, &context] { return show_jobs(*options, context); });
}

}  // namespace heddle::cli
