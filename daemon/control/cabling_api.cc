#include "control/cabling_api.h"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>
#include <memory>
#include <utility>

#include "base/printable.h"
#include "cabling/as_cabled.h"
#include "cabling/cable_plan.h"
#include "cabling/view.h"
#include "control/api.h"
#include "control/arguments.h"
#include "control/author.h"
#include "control/view_parts.h"
#include "fabric/ibnetdiscover.h"

namespace heddle::control {
namespace {

namespace json = boost::json;
using core::RegulationControl;

std::string name_of(const DaemonState& state, const PortRef& port) {
  const NodeIndex node = state.fabric ? state.fabric->find_node(port.node) : no_node;
  const std::string name = node == no_node ? to_string(port.node) : state.name(state.fabric->node(node));
  return fmt::format("{}/{}", name, port.port.raw());
}

Result<BaselineShown> kept(const Daemon& daemon) {
  auto baseline = daemon.state().baseline;
  if (!baseline) return fail(no_baseline());
  return *std::move(baseline);
}

Result<void> show(Daemon& daemon, const Request& request, const Respond& respond) {
  auto shown = kept(daemon);
  if (!shown) return fail(shown.error());
  auto order =
      order_for(request, [shown = *std::move(shown), now = daemon.regulation()->now()](BodyWriter& out) {
        json::object view = baseline_summary(shown, now);
        if (shown.found && shown.found->trouble.empty()) {
          for (auto& [key, value] : cabling::view(shown.found->check)) view[key] = value;
        }
        out.write(json::serialize(view));
        return Result<void>{};
      });
  // It may be another one before the next sample.
  order.key += fmt::format(" {}", daemon.regulation()->revision());
  daemon.answers().serve(std::move(order), respond);
  return {};
}

Result<void> show_plan(Daemon& daemon, const Request& /*request*/, const Respond& respond) {
  const auto shown = kept(daemon);
  if (!shown) return fail(shown.error());
  respond(text_response("text/plain", *shown->kept.plan));
  return {};
}

/// What is off on purpose is in it.
void show_cables(Daemon& daemon, const Request& request, const Respond& respond) {
  const DaemonState state = daemon.state();
  if (!state.fabric) return respond(error_response(no_fabric()));
  std::shared_ptr<const Fabric> reference;
  std::set<LinkRef> off;
  if (const auto* regulation = daemon.regulation()) {
    reference = regulation->reference();
    off = regulation->off_on_purpose();
  }
  auto order = order_for(request, [seen = state.fabric, reference, off = std::move(off)](BodyWriter& out) {
    out.write(write_ibnetdiscover(*cabling::as_cabled(reference, seen, off)));
    return Result<void>{};
  });
  order.content_type = "text/plain";
  if (daemon.regulation() != nullptr) order.key += fmt::format(" {}", daemon.regulation()->revision());
  daemon.answers().serve(std::move(order), respond);
}

bool wants_cables(const Request& request) {
  const auto off = request.query.find("off");
  return request.path == "/v1/fabric" && off != request.query.end() && off->second == "included";
}

/// Of the fabric as its cables lie. Errors: Unreachable before the first sweep.
Result<std::string> plan_as_it_is(Daemon& daemon) {
  const DaemonState state = daemon.state();
  if (!state.fabric) return fail(no_fabric());
  const RegulationControl& regulation = *daemon.regulation();
  return write_ibnetdiscover(
      *cabling::as_cabled(regulation.reference(), state.fabric, regulation.off_on_purpose()));
}

RegulationControl::Reply baseline_reply(const Respond& respond) {
  return [respond](const Result<std::string>& result) {
    if (!result) return respond(error_response(result.error()));
    respond(json_response(json::object{{"text", *result}}));
  };
}

struct BaselineOrder {
  std::string plan;  ///< empty: the fabric as it is
  std::string name;
  std::string by;
  bool forget = false;
};

Result<BaselineOrder> read_baseline_order(const std::string& body) {
  auto arguments = Arguments::read(body);
  if (!arguments) return fail(arguments.error());
  auto plan = arguments->text("plan");
  auto name = arguments->text("name");
  auto by = arguments->text("by");
  const auto forget = arguments->flag("forget");
  for (const auto* text : {&plan, &name, &by}) {
    if (!*text) return fail(text->error());
  }
  if (!forget) return fail(forget.error());
  if (auto all = arguments->end(); !all) return fail(all.error());
  return BaselineOrder{*std::move(plan), *std::move(name), *std::move(by), *forget};
}

Result<void> keep(Daemon& daemon, const Request& request, const Respond& respond) {
  auto order = read_baseline_order(request.body);
  if (!order) return fail(order.error());
  const std::string by = author(request.peer, order->by);
  if (order->forget) {
    daemon.regulation()->forget_baseline(by, baseline_reply(respond));
    daemon.ordered();
    return {};
  }
  const bool is_given = !order->plan.empty();
  if (is_given) {
    const auto read = cabling::read_plan(order->plan, order->name);
    if (!read) return fail(read.error());
  }
  auto plan = is_given ? Result<std::string>{std::move(order->plan)} : plan_as_it_is(daemon);
  if (!plan) return fail(plan.error());
  const regulation::Baseline baseline{std::make_shared<const std::string>(*std::move(plan)),
                                      is_given ? printable(order->name) : "the fabric as it was",
                                      by,
                                      {}};
  daemon.regulation()->keep_baseline(baseline, baseline_reply(respond));
  daemon.ordered();
  return {};
}

}  // namespace

Error no_baseline() {
  return {
      ErrorCode::NotFound,
      "no baseline is kept: 'heddle fabric baseline save' keeps the fabric as it is, and with --plan what "
      "it is to be"};
}

json::object baseline_summary(const BaselineShown& baseline, Instant now) {
  json::object view{{"name", printable(baseline.kept.name)},
                    {"by", printable(baseline.kept.by)},
                    {"since_seconds", seconds(now - baseline.kept.since)},
                    {"compared", baseline.found != nullptr}};
  if (!baseline.found) return view;
  const cabling::CableCheck& check = baseline.found->check;
  view["trouble"] = printable(baseline.found->trouble);
  view["planned"] = check.planned;
  view["as_planned"] = check.as_planned;
  view["off_on_purpose"] = baseline.found->off.size();
  view["differ"] =
      check.missing.size() + check.swapped.size() + check.unexpected.size() + check.wrong_rate.size();
  return view;
}

json::array wishes_view(const DaemonState& state) {
  json::array all;
  for (const WishShown& each : state.wishes) {
    all.push_back(json::object{
        {"link", fmt::format("{} -- {}", name_of(state, each.link.a), name_of(state, each.link.b))},
        {"wish", each.wish},
        {"by", printable(each.by)},
        {"reason", printable(each.reason)},
        {"ends_in_seconds", each.left ? json::value(seconds(*each.left)) : json::value()}});
  }
  return all;
}

bool answer_cabling(Daemon& daemon, const Request& request, const Respond& respond) {
  if (wants_cables(request) && !request.post) {
    show_cables(daemon, request, respond);
    return true;
  }
  const bool text = request.path == "/v1/baseline/plan";
  if (!text && request.path != "/v1/baseline") return false;
  if (daemon.regulation() == nullptr) {
    respond(error_response({ErrorCode::Unsupported, daemon.why_no_regulation()}));
    return true;
  }
  if (text && request.post) {
    respond(wrong_method("GET, HEAD"));
    return true;
  }
  const auto begun = request.post ? keep(daemon, request, respond)
                     : text       ? show_plan(daemon, request, respond)
                                  : show(daemon, request, respond);
  if (!begun) respond(error_response(begun.error()));
  return true;
}

}  // namespace heddle::control
