#include "control/what_if.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <limits>
#include <memory>
#include <utility>

#include "base/printable.h"
#include "control/api.h"
#include "control/view_parts.h"
#include "fabric/change.h"
#include "fabric/link_name.h"
#include "twin/change.h"
#include "twin/failures.h"
#include "twin/router.h"
#include "twin/told.h"

namespace heddle::control {
namespace {

namespace json = boost::json;

/// With every single failure more work than this takes minutes: failures times ports.
constexpr std::size_t most_work = 4'000'000;
constexpr std::size_t most_asked = 256;
constexpr std::size_t most_lmc = 7;
constexpr double most_flows = 300'000;  // 100 MB

struct Question {
  twin::Change change;
  std::optional<twin::FailureKind> each;
  std::optional<sim::Scenario> flows;  ///< as they are at the beginning
  std::size_t top = 20;
};

std::string said(const Query& query, const char* key) {
  const auto it = query.find(key);
  return it == query.end() ? std::string{} : it->second;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  std::erase_if(lines, [](const std::string& line) { return line.empty(); });
  return lines;
}

Result<void> read_change(const Query& query, Question& question) {
  if (const std::string engine = said(query, "engine"); !engine.empty()) {
    question.change.engine = routing::engine_from(engine);
    if (!question.change.engine)
      return fail(ErrorCode::Invalid, fmt::format("there is no engine '{}'", printable(engine)));
  }
  if (const std::string policy = said(query, "regulate"); !policy.empty()) {
    question.change.regulate = regulation::select_policy_from(policy);
    if (!question.change.regulate) return fail(ErrorCode::Invalid, "regulate must be trunk or general");
  }
  if (const std::string each = said(query, "each"); !each.empty()) {
    if (each != "switch" && each != "link") return fail(ErrorCode::Invalid, "each must be switch or link");
    question.each = each == "switch" ? twin::FailureKind::Switches : twin::FailureKind::Links;
  }
  if (query.contains("lmc")) {
    const auto lmc = count_of(query, "lmc", 0);
    if (!lmc || *lmc > most_lmc) return fail(ErrorCode::Invalid, "lmc must be 0 to 7");
    question.change.lmc = static_cast<unsigned>(*lmc);
  }
  return {};
}

/// Texts of files, as the command line reads them.
Result<void> read_texts(const Query& query, Question& question) {
  if (const std::string text = said(query, "qos"); !text.empty()) {
    auto plan = qos::parse_plan(text, "qos");
    if (!plan) return fail(plan.error());
    question.change.qos = *std::move(plan);
  }
  if (const std::string text = said(query, "flows"); !text.empty()) {
    auto scenario = sim::parse_scenario(text, "flows");
    if (!scenario) return fail(scenario.error());
    question.flows = *std::move(scenario);
  }
  return {};
}

Result<Question> read_question(const Query& query) {
  Question question;
  question.change.without = lines_of(said(query, "without"));
  question.change.roots = lines_of(said(query, "roots"));
  question.change.jobs = lines_of(said(query, "jobs"));
  if (auto read = read_change(query, question); !read) return fail(read.error());
  if (auto read = read_texts(query, question); !read) return fail(read.error());
  const auto top = count_of(query, "top", question.top);
  if (!top) return fail(top.error());
  question.top = *top;
  const twin::Change& change = question.change;
  if (std::max({change.without.size(), change.roots.size(), change.jobs.size()}) > most_asked)
    return fail(ErrorCode::Invalid, fmt::format("at most {} names", most_asked));
  if (question.each.has_value() != change.is_none()) {
    return fail(ErrorCode::Invalid,
                "one of without, engine, roots, lmc, qos, regulate and jobs is wanted, or each alone");
  }
  if (const auto good = twin::check(change); !good) return fail(good.error());
  return question;
}

/// bit/s that leave each port of the twin's fabric.
std::vector<double> leaving(const Fabric& fabric, const load::Sample& sample) {
  std::vector<double> all(fabric.ports().size(), std::numeric_limits<double>::quiet_NaN());
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (fabric.port(PortIndex{i}).link == no_link) continue;
    const PortIndex port = sample.fabric->find_port(fabric.ref(PortIndex{i}));
    if (port != no_port && sample.fabric->port(port).link != no_link)
      all[i] = 8 * load::leaving(*sample.fabric, sample.ports, port);
  }
  return all;
}

void take_watts(const TwinParts& parts, twin::Source& source) {
  if (!parts.power) return;
  const Fabric& fabric = *source.fabric;
  source.power = *parts.power;
  source.watts_all_on = watts(*parts.power, fabric, power::all_on(fabric)).value();
  for (const Link& link : fabric.links()) source.watts.push_back(link_watts(*parts.power, fabric, link));
}

Result<json::object> failures(const twin::Run& run, const FabricNames& known, const Question& question,
                              json::object view) {
  const Fabric& fabric = *run.source().fabric;
  const std::size_t all =
      *question.each == twin::FailureKind::Switches ? fabric.switch_count() : fabric.links().size();
  if (all * fabric.ports().size() > most_work) {
    return fail(ErrorCode::Refused, fmt::format("{} failures of a fabric of this size take long: use 'heddle "
                                                "what-if --fail-each' in a shell",
                                                all));
  }
  auto failed = twin::fail_each(run, known, *question.each, twin::Views::Wanted);
  if (!failed) return fail(failed.error());
  json::array told;
  for (std::size_t i = 0; i < std::min(question.top, failed->size()); ++i) {
    twin::Failed& one = (*failed)[i];
    one.view.erase("effective_bisection");
    one.view["without"] = one.name;
    told.emplace_back(std::move(one.view));
  }
  view["failures"] = std::move(told);
  view["left_out"] = failed->size() - std::min(question.top, failed->size());
  return view;
}

Result<twin::State> state_then(const twin::Run& run, const twin::State& now, const FabricNames& known,
                               const twin::Change& change) {
  auto becomes = change.routes_anew() ? twin::routed_by(run, change, known) : run;
  if (!becomes) return fail(becomes.error());
  return twin::after(*becomes, change, known, &now);
}

/// Who asks may be anybody who reads: no more than this is made for him.
Result<void> check_flows(const Question& question, const Fabric& fabric) {
  const auto hosts = static_cast<double>(fabric.channel_adapter_count());
  double flows = hosts * (sim::Phase{}.destinations + 1) * static_cast<double>(question.change.jobs.size());
  if (question.flows) {
    for (const sim::Phase& phase : question.flows->phases) flows += hosts * (phase.destinations + 1.0);
  }
  if (flows <= most_flows) return {};
  return fail(ErrorCode::Refused, fmt::format("perhaps {:.0f} flows are more than the {:.0f} that are made "
                                              "here: use 'heddle what-if' in a shell",
                                              flows, most_flows));
}

Result<void> take_traffic(const Question& question, twin::Run& run) {
  if (const auto good = check_flows(question, *run.source().fabric); !good) return fail(good.error());
  if (!question.flows) return run.estimate_traffic();
  return run.give_traffic(*question.flows, Picoseconds{0});
}

Result<json::object> told_of(const TwinParts& parts, const Question& question) {
  auto source = twin_source(parts);
  if (!source) return fail(source.error());
  const FabricNames known{source->fabric, parts.names};
  const auto engine = twin::engine_for(*source, std::nullopt);
  auto run = twin::Run::make(*std::move(source), engine, {});
  if (!run) return fail(run.error());
  if (const auto taken = take_traffic(question, *run); !taken) return fail(taken.error());
  run->measure_bisection(question.each ? 0 : twin::enough_samples(*parts.fabric));
  const auto now = run->now();
  if (!now) return fail(now.error());
  json::object view = twin::view(*run);
  view["now"] = twin::view(*now, known);
  if (question.each) return failures(*run, known, question, std::move(view));
  const auto then = state_then(*run, *now, known, question.change);
  if (!then) return fail(then.error());
  view["then"] = twin::view(*then, known);
  view["hosts_that_lose"] = twin::losers_view(*now, *then, known, question.top);
  return view;
}

}  // namespace

Result<twin::Source> twin_source(const TwinParts& parts) {
  twin::Source source;
  source.fabric = parts.fabric;
  source.active = active_links(parts);
  source.order.ranks = parts.ranks;
  source.order.turns = parts.turns;
  source.order.managers = parts.managers;
  source.order.planes = parts.planes;
  source.plane = parts.plane;
  source.next_plane = parts.next_plane;
  source.thresholds = parts.thresholds;
  for (const LinkRef& link : parts.kept) source.kept.push_back(link.a);
  take_watts(parts, source);
  if (parts.sample) {
    source.leaving = leaving(*parts.fabric, *parts.sample);
    source.loads_age = seconds(parts.now - parts.sample->ended);
  }
  if (!parts.tables) return source;
  const auto graph = routing::SwitchGraph::make(*parts.fabric);
  if (!graph) return fail(graph.error());
  source.tables = twin::reordered(parts.tables->tables, *graph);
  source.tables_age = seconds(parts.now - parts.tables->ended);
  source.unread = parts.tables->unread.size();
  source.outdated = tables_outdated(parts);
  return source;
}

void answer_what_if(Daemon& daemon, const Request& request, const Respond& respond) {
  const auto question = read_question(request.query);
  if (!question) return respond(error_response(question.error()));
  TwinParts parts = daemon.twin();
  if (!parts.fabric) return respond(error_response(no_fabric()));
  auto order = order_for(request, [parts = std::move(parts), question = *question](BodyWriter& out) {
    const auto told = told_of(parts, question);
    if (!told) return Result<void>{fail(told.error())};
    out.write(json::serialize(*told));
    return Result<void>{};
  });
  order.lane = Lane::WhatIf;
  daemon.answers().serve(std::move(order), respond);
}

}  // namespace heddle::control
