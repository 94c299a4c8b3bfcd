// heddle status: what the daemon does and sees, on one screen.

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <ostream>

#include "base/json_access.h"
#include "heddle/client.h"
#include "heddle/command.h"
#include "heddle/drain_text.h"
#include "heddle/table.h"

namespace heddle::cli {
namespace {

using boost::json::value;

std::string load_line(const value& status) {
  return fmt::format("{} injected by hosts; links {} busy on average, {} at most, congestion at most {}",
                     human(BitRate{number_at(status, "load.injected_bytes_per_second") * 8}),
                     human(Ratio{number_at(status, "load.utilization_mean")}),
                     human(Ratio{number_at(status, "load.utilization_max")}),
                     human(Ratio{number_at(status, "load.congestion_max")}));
}

std::string fabric_line(const value& status) {
  if (at_path(status, "fabric").is_null()) {
    if (!text_at(status, "subnet_manager.stage").empty()) return "found, and being configured";
    return fmt::format("being discovered, {} nodes so far", count_at(status, "nodes_so_far"));
  }
  const auto aggregation = count_at(status, "fabric.aggregation_nodes");
  return fmt::format("{} switches, {} channel adapters{}, {} links (snapshot {})",
                     count_at(status, "fabric.switches"), count_at(status, "fabric.channel_adapters"),
                     aggregation == 0 ? "" : fmt::format(" ({} of them aggregation nodes)", aggregation),
                     count_at(status, "fabric.links"), count_at(status, "fabric.epoch"));
}

std::string manager_line(const value& status) {
  const std::string role = text_at(status, "subnet_manager.role");
  const std::string stage = text_at(status, "subnet_manager.stage");
  if (role == "none" && !stage.empty()) return "this daemon, as soon as the fabric is configured";
  std::string line = role == "master" ? "this daemon" : role == "none" ? "none" : "another one";
  if (const std::string master = text_at(status, "subnet_manager.master");
      !master.empty() && role != "none") {
    line += fmt::format(", at {} (LID {}", master, count_at(status, "subnet_manager.master_lid"));
    const value& priority = at_path(status, "subnet_manager.priority");
    line +=
        priority.is_null() ? ")" : fmt::format(", priority {})", count_at(status, "subnet_manager.priority"));
  }
  if (role == "observer" && !truth_at(status, "subnet_manager.answers")) line += "; it does not answer";
  if (const auto moves = count_at(status, "subnet_manager.moves"); moves > 0) {
    line += fmt::format("; mastership moved {} times", moves);
  }
  return stage.empty() ? line : fmt::format("{}; {}", line, stage);
}

std::string sampling_line(const value& status) {
  std::string line = fmt::format("every {}; {} sweeps, the last one took {}",
                                 human_seconds(number_at(status, "sampling.interval_seconds")),
                                 count_at(status, "sampling.sweeps"),
                                 human_seconds(number_at(status, "sampling.last_sweep_seconds")));
  if (const auto failed = count_at(status, "sampling.failed_ports"); failed > 0) {
    line += fmt::format("; no answer from {} ports", failed);
  }
  if (const auto late = count_at(status, "sampling.overruns"); late > 0)
    line += fmt::format("; {} began late", late);
  return line;
}

std::string health_line(const value& status) {
  const auto sure = count_at(status, "health.sure");
  const auto likely = count_at(status, "health.likely");
  const auto bad = count_at(status, "health.isolated_links");
  std::string line = sure + likely == 0
                         ? fmt::format("nothing found at {} ports", count_at(status, "health.ports"))
                         : fmt::format("{} sure, {} likely", sure, likely);
  if (bad > 0) {
    line +=
        fmt::format("; {} bad {} out of use until the next trial", bad, bad == 1 ? "link is" : "links are");
  }
  return sure + likely + bad == 0 ? line : line + " (heddle health)";
}

std::string owner_line(const value& status) {
  if (truth_at(status, "shared_state.owns")) {
    return fmt::format("this daemon ({}); its lease lasts {} more", text_at(status, "shared_state.name"),
                       human_seconds(number_at(status, "shared_state.lease_left_seconds")));
  }
  const auto owner = text_at(status, "shared_state.owner");
  return owner.empty() ? "none" : fmt::format("{}; this daemon follows", owner);
}

std::string notify_line(const value& destination) {
  std::string line =
      fmt::format("{} ({}): {} sent, {} waiting", text_at(destination, "name"), text_at(destination, "what"),
                  count_at(destination, "sent"), count_at(destination, "queued"));
  if (const auto dropped = count_at(destination, "dropped"); dropped > 0)
    line += fmt::format(", {} dropped", dropped);
  if (const auto trouble = text_at(destination, "trouble"); !trouble.empty())
    line += fmt::format("; {}", trouble);
  return line;
}

std::string baseline_line(const value& baseline) {
  std::string line =
      fmt::format("{}, kept {} ago by {}", text_at(baseline, "name"),
                  human_seconds(number_at(baseline, "since_seconds")), text_at(baseline, "by"));
  if (!truth_at(baseline, "compared")) return line + "; not compared yet";
  if (const auto trouble = text_at(baseline, "trouble"); !trouble.empty()) return line + "; " + trouble;
  line += fmt::format("; {} of {} cables as planned", count_at(baseline, "as_planned"),
                      count_at(baseline, "planned"));
  if (const auto differ = count_at(baseline, "differ"); differ > 0)
    line += fmt::format(", {} {} (heddle fabric verify)", differ, differ == 1 ? "differs" : "differ");
  return line;
}

std::string wish_line(const value& wish) {
  std::string line =
      fmt::format("{}: {}, by {}", text_at(wish, "link"), text_at(wish, "wish"), text_at(wish, "by"));
  if (!at_path(wish, "ends_in_seconds").is_null())
    line += fmt::format(", ends in {}", human_seconds(number_at(wish, "ends_in_seconds")));
  if (const auto reason = text_at(wish, "reason"); !reason.empty()) line += "; " + reason;
  return line;
}

void print_status(const value& status, Context& context) {
  Table table{{{fmt::format("heddled {}", text_at(status, "version"))}, {""}}};
  table.add({"fabric", fabric_line(status)});
  table.add({"backend", fmt::format("{}, {}", text_at(status, "backend"), text_at(status, "source"))});
  table.add({"up", human_seconds(number_at(status, "uptime_seconds"))});
  table.add({"subnet manager", manager_line(status)});
  if (!at_path(status, "light_round_seconds").is_null()) {
    table.add({"light sweep", fmt::format("the last round over all ports of the switches took {}",
                                          human_seconds(number_at(status, "light_round_seconds")))});
  }
  if (!at_path(status, "full_round_seconds").is_null()) {
    table.add({"full sweep",
               fmt::format("the last one took {}", human_seconds(number_at(status, "full_round_seconds")))});
  }
  if (!at_path(status, "shared_state").is_null()) table.add({"owner", owner_line(status)});
  if (!at_path(status, "no_regulation").is_null()) {
    table.add({"regulation", text_at(status, "no_regulation")});
  }
  table.add({"sampling", sampling_line(status)});
  if (!at_path(status, "load").is_null()) table.add({"load", load_line(status)});
  table.add(
      {"MADs",
       fmt::format("{} sent, {} answered, {} sent again, {} gave up", count_at(status, "transactions.sent"),
                   count_at(status, "transactions.answered"), count_at(status, "transactions.retries"),
                   count_at(status, "transactions.failed") + count_at(status, "transactions.failed_fast"))});
  if (!at_path(status, "health").is_null()) table.add({"health", health_line(status)});
  for (const auto& each : array_at(status, "notify")) table.add({"notices to", notify_line(each)});
  for (const auto& each : array_at(status, "drains")) table.add({"drained", drain_line(each)});
  for (const auto& each : array_at(status, "wishes")) table.add({"wish", wish_line(each)});
  const auto unnamed =
      count_at(status, "wish_count") - static_cast<long long>(array_at(status, "wishes").size());
  if (unnamed > 0) table.add({"wish", fmt::format("and {} more (heddle links --power)", unnamed)});
  if (!at_path(status, "baseline").is_null())
    table.add({"baseline", baseline_line(at_path(status, "baseline"))});
  const auto& problems = array_at(status, "problems");
  table.add({"problems", problems.empty() ? "none" : fmt::format("{}", problems.size())});
  table.print(*context.out, context.colour);
  for (const auto& problem : problems) *context.out << "  - " << text_at(problem, "") << '\n';
}

}  // namespace

void add_status_commands(Program& program) {
  Context& context = program.context();
  auto* status = program.app().add_subcommand("status", "What the daemon does and sees");
  Program::on(*status, [&context]() -> Result<void> {
    const auto answer = Client{context.socket}.get("/v1/status");
    if (!answer) return fail(answer.error());
    if (context.format == Format::Json) {
      print_json(*answer, context);
    } else {
      print_status(*answer, context);
    }
    return {};
  });
}

}  // namespace heddle::cli
