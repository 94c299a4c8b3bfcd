// heddle trace: what is in a VEF trace, whether it can be replayed, and others made of it.

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fstream>
#include <memory>
#include <ostream>
#include <utility>

#include "heddle/command.h"
#include "heddle/table.h"
#include "trace/trace_summary.h"
#include "trace/write_vef.h"

namespace heddle::cli {
namespace {

using trace::CollectiveKind;
using trace::Trace;
using trace::TraceSummary;

constexpr std::size_t collective_kinds = 8;

struct TraceOptions {
  std::string file;
  std::string output;
  trace::Scale factors;
};

boost::json::object trace_json(const Trace& trace, const TraceSummary& summary) {
  boost::json::object collectives;
  for (std::size_t i = 0; i < collective_kinds; ++i) {
    if (summary.by_collective.at(i) > 0) {
      collectives[to_string(static_cast<CollectiveKind>(i))] = summary.by_collective.at(i);
    }
  }
  boost::json::array heaviest;
  for (const trace::PairTraffic& pair : summary.heaviest) {
    heaviest.push_back({{"source", pair.source},
                        {"target", pair.target},
                        {"messages", pair.messages},
                        {"bytes", pair.bytes}});
  }
  boost::json::object json{{"version", static_cast<unsigned>(trace.version)},
                           {"tasks", trace.tasks},
                           {"clock_ps", trace.clock_ps},
                           {"communicators", trace.communicators.size()},
                           {"messages", summary.messages},
                           {"bytes", summary.bytes},
                           {"largest_bytes", summary.largest},
                           {"triggers", summary.triggers},
                           {"idle_triggers", summary.idle_triggers},
                           {"independent", summary.by_dependency[0]},
                           {"after_send", summary.by_dependency[1]},
                           {"after_receive", summary.by_dependency[2]},
                           {"after_collective", summary.by_dependency[3]},
                           {"collectives", std::move(collectives)},
                           {"messages_of_collectives", summary.messages_of_collectives},
                           {"bytes_of_collectives", summary.bytes_of_collectives},
                           {"pairs", summary.pairs},
                           {"heaviest", std::move(heaviest)}};
  json["ticks_alone"] =
      summary.ticks_alone ? boost::json::value(*summary.ticks_alone) : boost::json::value(nullptr);
  return json;
}

std::string summary_text(const Trace& trace, const TraceSummary& summary) {
  std::string text =
      fmt::format("VEF{}, {} tasks, {} communicators, {} ps a tick\n", static_cast<unsigned>(trace.version),
                  trace.tasks, trace.communicators.size(), trace.clock_ps);
  text += fmt::format("{} messages of {} in all, {} at most; {} pairs of tasks\n", summary.messages,
                      human_bytes(static_cast<double>(summary.bytes)),
                      human_bytes(static_cast<double>(summary.largest)), summary.pairs);
  text += fmt::format(
      "{} steps depend on nothing, {} on a send, {} on a reception ({} triggers), {} on a collective\n",
      summary.by_dependency[0], summary.by_dependency[1], summary.by_dependency[2], summary.triggers,
      summary.by_dependency[3]);
  for (std::size_t i = 0; i < collective_kinds; ++i) {
    if (summary.by_collective.at(i) == 0) continue;
    text += fmt::format("{} {}\n", summary.by_collective.at(i), to_string(static_cast<CollectiveKind>(i)));
  }
  if (summary.messages_of_collectives > 0) {
    text += fmt::format("collectives are {} messages of {}\n", summary.messages_of_collectives,
                        human_bytes(static_cast<double>(summary.bytes_of_collectives)));
  }
  for (const trace::PairTraffic& pair : summary.heaviest) {
    text += fmt::format("{} -> {}: {} messages, {}\n", pair.source, pair.target, pair.messages,
                        human_bytes(static_cast<double>(pair.bytes)));
  }
  return text + (summary.ticks_alone
                     ? fmt::format("{} on a network that takes one tick\n",
                                   human_seconds(static_cast<double>(*summary.ticks_alone) *
                                                 static_cast<double>(trace.clock_ps) * 1e-12))
                     : fmt::format("it never ends: tasks wait for each other, one with line {}\n",
                                   summary.stuck_line));
}

Result<void> show(const TraceOptions& options, Context& context) {
  const auto trace = trace::read_vef_file(options.file);
  if (!trace) return fail(trace.error());
  const TraceSummary summary = summarize(*trace);
  if (context.format == Format::Json) {
    print_json(trace_json(*trace, summary), context);
  } else {
    *context.out << summary_text(*trace, summary);
  }
  return {};
}

Result<Status> check(const TraceOptions& options, Context& context) {
  const auto trace = trace::read_vef_file(options.file);
  if (!trace) return fail(trace.error());
  const TraceSummary summary = summarize(*trace);
  const bool ends = summary.ticks_alone.has_value();
  if (context.format == Format::Json) {
    boost::json::object json{{"ends", ends}, {"idle_triggers", summary.idle_triggers}};
    if (!ends) json["stuck_line"] = summary.stuck_line;
    print_json(std::move(json), context);
  } else if (!ends) {
    *context.out << fmt::format(
        "{}:{}: tasks wait for each other, one of them with this record: no replay comes to its end\n",
        options.file, summary.stuck_line);
  } else {
    *context.out << fmt::format("{}: can be replayed\n", options.file);
    if (summary.idle_triggers > 0) {
      *context.out << fmt::format("{} messages are marked as triggers, and nothing waits for them\n",
                                  summary.idle_triggers);
    }
  }
  return ends ? Status::Done : Status::Failed;
}

Result<void> write(const Trace& trace, const TraceOptions& options, Context& context) {
  if (options.output.empty()) {
    write_vef(trace, *context.out);
    return {};
  }
  std::ofstream file{options.output, std::ios::binary};
  write_vef(trace, file);
  file.flush();
  if (!file) return fail(ErrorCode::Io, fmt::format("{}: cannot be written", options.output));
  return {};
}

Result<void> strip_triggers(const TraceOptions& options, Context& context) {
  auto trace = trace::read_vef_file(options.file);
  if (!trace) return fail(trace.error());
  return write(strip(std::move(*trace)), options, context);
}

Result<void> rescale(const TraceOptions& options, Context& context) {
  auto trace = trace::read_vef_file(options.file);
  if (!trace) return fail(trace.error());
  const auto scaled = scale(std::move(*trace), options.factors);
  if (!scaled) return fail(scaled.error());
  return write(*scaled, options, context);
}

}  // namespace

void add_trace_commands(Program& program) {
  Context& context = program.context();
  const auto options = std::make_shared<TraceOptions>();
  auto* group =
      program.app().add_subcommand("trace", "Look at recorded applications (VEF traces), and change them");
  group->require_subcommand(1);
  const auto add = [&](const char* name, const char* help) {
    auto* command = group->add_subcommand(name, help);
    command->add_option("file", options->file, "A trace, VEF3 or VEF2")->required();
    return command;
  };
  Program::on(*add("info", "A trace in a few numbers"),
              [options, &context] { return show(*options, context); });
  auto* checked = add("check", "Can it be replayed?");
  checked->footer("Exit status: 0 yes, 1 its tasks wait for each other, 2 it cannot be read.");
  Program::judge(*checked, [options, &context] { return check(*options, context); });
  auto* stripped = add("strip", "As VEF2: without triggers and clock");
  stripped->add_option("-o,--output", options->output, "Write to this file");
  Program::on(*stripped, [options, &context] { return strip_triggers(*options, context); });
  auto* scaled = add("scale", "Longer or shorter, with other lengths");
  scaled->add_option("--time", options->factors.time, "Factor of the times between steps")
      ->option_text("X [1]");
  scaled->add_option("--bytes", options->factors.bytes, "Factor of the lengths of messages")
      ->option_text("X [1]");
  scaled->add_option("-o,--output", options->output, "Write to this file");
  Program::on(*scaled, [options, &context] { return rescale(*options, context); });
}

}  // namespace heddle::cli
