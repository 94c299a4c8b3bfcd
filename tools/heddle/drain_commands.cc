// heddle drain: takes switches, chassis and links out of service under load, says what that costs and when
// they can be pulled, and gives them back.

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <boost/json/array.hpp>
#include <chrono>
#include <memory>
#include <ostream>
#include <thread>

#include "base/json_access.h"
#include "heddle/client.h"
#include "heddle/drain_text.h"
#include "heddle/orders.h"
#include "heddle/outage_view.h"
#include "heddle/table.h"
#include "heddle/twin_source.h"
#include "heddle/what_if_view.h"
#include "twin/told.h"

namespace heddle::cli {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

struct DrainOptions {
  std::vector<std::string> what;
  std::string length;
  std::string reason;
  double patience = 300;
  bool chassis = false;
  bool with_hosts = false;
  bool end = false;
};

json::value names_of(const std::vector<std::string>& what) {
  json::array names;
  for (const std::string& each : what) names.emplace_back(each);
  return names;
}

/// All switches that are in one housing with one of these.
void widen_to_chassis(const Fabric& fabric, routing::Failure& failure) {
  const auto named = failure.nodes;
  for (std::uint32_t i = 0; i < fabric.nodes().size(); ++i) {
    const Node& node = fabric.node(NodeIndex{i});
    const bool is_in = std::ranges::any_of(named, [&](NodeIndex other) {
      return node.system_image_guid != 0 && node.system_image_guid == fabric.node(other).system_image_guid;
    });
    if (is_in && std::ranges::find(named, NodeIndex{i}) == named.end()) failure.nodes.push_back(NodeIndex{i});
  }
}

struct Cost {
  twin::State now;
  twin::State then;
  std::string remark;  ///< why it may be otherwise; empty if there is no reason
};

/// As what-if says it, of the fabric as it was before.
Result<Cost> cost_of(const DrainOptions& options, const twin::Source& source) {
  const FabricNames known{source.fabric};
  auto failure = twin::failure_of(options.what, known);
  if (!failure) return fail(failure.error());
  if (options.chassis) widen_to_chassis(*source.fabric, *failure);
  auto run = twin::Run::make(source, {}, {});
  if (!run) return fail(run.error());
  if (const auto estimated = run->estimate_traffic(); !estimated) return fail(estimated.error());
  auto now = run->now();
  if (!now) return fail(now.error());
  auto then = run->over(run->left(*failure), twin::Run::Tables::Anew);
  if (!then) return fail(then.error());
  Cost cost{*std::move(now), *std::move(then), {}};
  if (source.outdated) {
    cost.remark = fmt::format("the tables were read back {} ago, and the fabric has changed since",
                              human_seconds(source.tables_age));
  } else if (run->router().agreement().value_or(1) < 1) {
    cost.remark = fmt::format(
        "the tables were read back {} ago, and {} of their entries are as {} makes them",
        human_seconds(source.tables_age), human(Ratio{*run->router().agreement()}), run->router().name());
  }
  return cost;
}

/// Null where it has ended meanwhile.
Result<json::value> drain_called(const std::string& what, Context& context) {
  const auto answer = Client{context.socket}.get("/v1/drain");
  if (!answer) return fail(answer.error());
  for (const json::value& each : array_at(*answer, "drains")) {
    if (text_at(each, "what") == what) return each;
  }
  return json::value{};
}

/// Until it is safe. Errors: Unreachable, when that takes longer than `patience` seconds.
Result<json::value> wait_until_safe(const std::string& what, double patience, Context& context) {
  const auto until = steady_clock::now() + std::chrono::duration<double>(patience);
  for (;;) {
    auto drain = drain_called(what, context);
    if (!drain || drain->is_null() || truth_at(*drain, "safe_to_pull")) return drain;
    if (patience <= 0) return drain;
    if (steady_clock::now() >= until) {
      return fail(
          ErrorCode::Unreachable,
          fmt::format("not safe to pull yet: {} of its links are still in use; it goes on, and heddle drain "
                      "says how far it is",
                      count_at(*drain, "on")));
    }
    std::this_thread::sleep_for(milliseconds{250});
  }
}

Result<void> list_drains(Context& context) {
  const auto answer = Client{context.socket}.get("/v1/drain");
  if (!answer) return fail(answer.error());
  if (context.format == Format::Json) {
    print_json(*answer, context);
    return {};
  }
  const auto& drains = array_at(*answer, "drains");
  if (drains.empty()) *context.out << "Nothing is drained.\n";
  for (const json::value& each : drains) *context.out << drain_line(each) << '\n';
  return {};
}

Result<void> end_drain(const DrainOptions& options, Context& context) {
  const auto answer = post_order(context, "/v1/drain", {{"what", names_of(options.what)}, {"end", true}});
  if (!answer) return fail(answer.error());
  if (context.format == Format::Json) {
    print_json(*answer, context);
  } else {
    *context.out << text_at(*answer, "text") << '\n';
  }
  return {};
}

Result<json::object> body_of(const DrainOptions& options) {
  json::object body{{"what", names_of(options.what)}, {"reason", options.reason}};
  if (options.chassis) body["chassis"] = true;
  if (options.with_hosts) body["with_hosts"] = true;
  if (options.length.empty()) return body;
  const auto length = length_from(options.length);
  if (!length) return fail(length.error());
  body["for_seconds"] = *length;
  return body;
}

Result<void> begin_drain(const DrainOptions& options, Context& context) {
  auto body = body_of(options);
  if (!body) return fail(body.error());
  // As it is before anything goes.
  const auto source = obtain_twin({}, context);
  if (!source) return fail(source.error());
  const auto answer = post_order(context, "/v1/drain", *std::move(body));
  if (!answer) return fail(answer.error());
  const bool for_people = context.format != Format::Json;
  if (for_people) *context.out << text_at(*answer, "text") << std::endl;
  const auto cost = cost_of(options, *source);
  if (for_people && cost) print_states(cost->now, cost->then, FabricNames{source->fabric}, context);
  if (cost && !cost->remark.empty())
    *context.err << "heddle: warning: what it costs is not certain: " << cost->remark << '\n';
  // What it costs is nice to know; what is ordered is ordered.
  if (!cost) *context.err << "heddle: warning: what it costs is not known: " << cost.error().message << '\n';
  context.out->flush();
  const auto drain = wait_until_safe(text_at(*answer, "what"), options.patience, context);
  if (!drain) return fail(drain.error());
  if (for_people) {
    *context.out << (drain->is_null() ? "It has ended meanwhile." : drain_line(*drain)) << '\n';
    return {};
  }
  json::object view{{"text", text_at(*answer, "text")}, {"drain", *drain}, {"cost", nullptr}};
  if (cost) {
    const FabricNames known{source->fabric};
    view["cost"] = {{"now", twin::view(cost->now, known)}, {"then", twin::view(cost->then, known)}};
  }
  print_json(view, context);
  return {};
}

}  // namespace

void add_drain_commands(Program& program) {
  Context& context = program.context();
  const auto options = std::make_shared<DrainOptions>();
  auto* command = program.app().add_subcommand("drain",
                                               "Take switches, links or a chassis out of service, to pull "
                                               "them out; what is drained, if none is named");
  command->add_option("WHAT", options->what,
                      "Switches, hosts, links as in \"leaf-0/12\", patterns of switches' names as in "
                      "\"spine-3-*\": one drain, all together");
  command->add_flag("--chassis", options->chassis, "All switches that are in one chassis with those named");
  command
      ->add_option("--for", options->length, "For so long, as 90s, 30min, 2h or 1d; then it ends by itself")
      ->check(wrong_length);
  command->add_flag("--with-hosts", options->with_hosts, "Also when hosts are cut off by it");
  command->add_option("--reason", options->reason, "Why, for the log of decisions");
  command
      ->add_option("--wait", options->patience,
                   "Until it is safe to pull, so many seconds at most; 0: not at all")
      ->check(CLI::NonNegativeNumber)
      ->option_text("SECONDS [300]");
  command->add_flag("--end", options->end, "Give it back; the only one there is, if none is named")
      ->excludes("--for", "--with-hosts", "--chassis");
  command->footer(
      "Traffic is led elsewhere first, then the links go off, all together, and stay off over restarts of "
      "the daemon\n"
      "until the drain ends. Nobody misses a switch that is drained, there or not. What it costs is said as "
      "by\n"
      "heddle what-if: for the loads of the moment, and for hosts that all send as much to each other.");
  Program::on(*command, [options, &context]() -> Result<void> {
    if (options->end) return end_drain(*options, context);
    if (options->what.empty()) return list_drains(context);
    return begin_drain(*options, context);
  });
}

}  // namespace heddle::cli
