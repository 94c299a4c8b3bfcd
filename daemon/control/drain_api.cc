#include "control/drain_api.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cmath>

#include "base/printable.h"
#include "control/arguments.h"
#include "control/author.h"
#include "control/regulation_api.h"
#include "regulate/drain_target.h"

namespace heddle::control {
namespace {

namespace json = boost::json;
using core::RegulationControl;

/// Names of a body are looked for one by one, on the thread that decides.
constexpr std::size_t most_names = 256;

json::object drain_view(const regulate::DrainShown& shown, Instant now) {
  const regulation::Drain& drain = shown.status.drain;
  json::array away;
  for (const NodeGuid node : shown.status.away) away.emplace_back(to_string(node));
  return {{"what", printable(drain.what)},
          {"safe_to_pull", shown.safe},
          {"links", drain.links.size()},
          {"off", shown.status.closed},
          {"on", shown.status.open},
          {"switches", drain.nodes.size()},
          {"away", std::move(away)},
          {"with_hosts", drain.forced},
          {"reason", printable(drain.reason)},
          {"by", printable(drain.by)},
          {"for_seconds", seconds(now - drain.since)},
          {"ends_in_seconds", drain.until ? json::value(seconds(*drain.until - now)) : json::value()}};
}

RegulationControl::Reply reply_about(const std::string& what, const Respond& respond) {
  return [what, respond](const Result<std::string>& result) {
    if (!result) return respond(error_response(result.error()));
    respond(json_response(json::object{{"text", *result}, {"what", printable(what)}}));
  };
}

struct DrainOrder {
  std::vector<std::string> names;
  std::string reason;
  std::string by;
  double length = 0;
  bool chassis = false;
  bool with_hosts = false;
  bool end = false;
};

Result<DrainOrder> read_order(const std::string& body) {
  auto arguments = Arguments::read(body);
  if (!arguments) return fail(arguments.error());
  auto names = arguments->texts("what");
  auto reason = arguments->text("reason");
  auto by = arguments->text("by");
  const auto length = arguments->positive("for_seconds");
  const auto chassis = arguments->flag("chassis");
  const auto with_hosts = arguments->flag("with_hosts");
  const auto end = arguments->flag("end");
  if (!names) return fail(names.error());
  for (const auto* text : {&reason, &by}) {
    if (!*text) return fail(text->error());
  }
  if (!length) return fail(length.error());
  for (const auto* flag : {&chassis, &with_hosts, &end}) {
    if (!*flag) return fail(flag->error());
  }
  if (auto all = arguments->end(); !all) return fail(all.error());
  if (names->size() > most_names || (names->empty() && !*end))
    return fail(ErrorCode::Invalid, "what must be a list of 1 to 256 names of switches, hosts or links");
  return DrainOrder{
      *std::move(names), *std::move(reason), *std::move(by), *length, *chassis, *with_hosts, *end};
}

Result<void> end_drain(RegulationDesk& desk, const DrainOrder& order, const std::string& author,
                       const Respond& respond) {
  RegulationControl& regulation = *desk.regulation();
  std::vector<regulation::DrainStatus> drains;
  for (regulate::DrainShown& each : regulation.drains()) drains.push_back(std::move(each.status));
  const auto what = regulate::drain_named(drains, regulation.reference(), order.names);
  if (!what) return fail(what.error());
  regulation.end_drain(*what, author, reply_about(*what, respond));
  desk.ordered();
  return {};
}

}  // namespace

json::value drains_view(std::span<const regulate::DrainShown> drains, Instant now) {
  json::array views;
  for (const regulate::DrainShown& each : drains) views.emplace_back(drain_view(each, now));
  return views;
}

Result<void> show_drains(RegulationDesk& desk, const Request& /*request*/, const Respond& respond) {
  respond(json_response(
      json::object{{"drains", drains_view(desk.regulation()->drains(), desk.regulation()->now())}}));
  return {};
}

Result<void> order_drain(RegulationDesk& desk, const Request& request, const Respond& respond) {
  const auto order = read_order(request.body);
  if (!order) return fail(order.error());
  const auto reference = desk.regulation()->reference();
  if (!reference)
    return fail(ErrorCode::Unreachable, "the fabric has not been discovered yet; ask again in a moment");
  const std::string by = author(request.peer, order->by);
  if (order->end) return end_drain(desk, *order, by, respond);
  const auto whole = order->chassis ? regulate::Whole::Chassis : regulate::Whole::Named;
  auto drain = regulate::drain_target(reference, order->names, whole);
  if (!drain) return fail(drain.error());
  drain->reason = order->reason;
  drain->by = by;
  RegulationControl& regulation = *desk.regulation();
  if (order->length > 0)
    drain->until = regulation.now() + std::chrono::nanoseconds{std::llround(order->length * 1e9)};
  const auto force = order->with_hosts ? regulation::Force::CutHostsOff : regulation::Force::No;
  regulation.set_drain(*drain, force, reply_about(drain->what, respond));
  desk.ordered();
  return {};
}

}  // namespace heddle::control
