#include "control/qos_api.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace heddle::control {
namespace {

namespace json = boost::json;

/// Ports by name in one answer; how many there are is said besides.
constexpr std::size_t most_listed = 1000;

json::object finding_view(const QosControl& qos, const PortRef& port, const std::string& text) {
  return {{"port", qos.name_of(port)}, {"guid", to_string(port.node)}, {"what", text}};
}

json::array findings_view(const QosControl& qos, const std::vector<vlarb::Finding>& findings) {
  json::array out;
  for (const auto& each : findings) {
    if (out.size() == most_listed) break;
    out.push_back(finding_view(qos, each.port, each.text));
  }
  return out;
}

json::array findings_view(const QosControl& qos, const vlarb::Keeper::Findings& findings) {
  json::array out;
  for (const auto& [port, text] : findings) {
    if (out.size() == most_listed) break;
    out.push_back(finding_view(qos, port, text));
  }
  return out;
}

json::object loss_view(const qos::FittedLane& lane) {
  json::array sls;
  for (const Sl sl : lane.sls) sls.push_back(sl.raw());
  json::object out{{"sls", std::move(sls)},
                   {"vl", lane.got.vl.raw()},
                   {"wanted_percent", 100 * lane.share},
                   {"percent", 100 * lane.got.share.value()},
                   {"wanted_max_distance", lane.wanted.max_distance},
                   {"max_distance", lane.got.max_distance},
                   {"text", qos::to_string(lane)}};
  if (lane.wanted.wait_bytes) out["wanted_wait_bytes"] = *lane.wanted.wait_bytes;
  if (lane.got.wait_bytes) out["wait_bytes"] = *lane.got.wait_bytes;
  return out;
}

json::array shortfalls_view(const QosControl& qos, const std::vector<vlarb::Shortfall>& shortfalls) {
  json::array out;
  for (const auto& each : shortfalls) {
    json::array losses;
    for (const auto& lane : each.losses) losses.push_back(loss_view(lane));
    json::array ports;
    for (const PortRef& port : each.ports) {
      if (ports.size() < most_listed) ports.push_back(json::string{qos.name_of(port)});
    }
    out.push_back(json::object{{"plan", each.plan},
                               {"high_entries", each.port.high_entries},
                               {"low_entries", each.port.low_entries},
                               {"vls", each.port.data_vls},
                               {"reason", each.reason},
                               {"losses", std::move(losses)},
                               {"port_count", each.ports.size()},
                               {"ports", std::move(ports)}});
  }
  return out;
}

json::object outcome_view(const QosControl& qos, const vlarb::Outcome& outcome) {
  const vlarb::Report& report = outcome.report;
  return {{"ports", report.ports},
          {"ports_written", report.ports_written},
          {"blocks_written", report.blocks_written},
          {"limits_written", report.limits_written},
          {"maps_written", report.maps_written},
          {"seconds", seconds(report.ended - report.begun)},
          {"differ_count", report.differ.size()},
          {"differ", findings_view(qos, report.differ)},
          {"silent_count", report.silent.size()},
          {"silent", findings_view(qos, report.silent)},
          {"reduced", shortfalls_view(qos, outcome.shortfalls)}};
}

json::object state_view(const QosControl& qos) {
  const core::QosState state = qos.state();
  json::array plans;
  for (const auto& each : state.assignments) {
    auto plan = json::parse(qos::plan_text(each.programming));
    plans.push_back(json::object{
        {"name", each.name}, {"ports", each.ports.text()}, {"qos", std::move(plan.as_object()["qos"])}});
  }
  json::object out{{"plans", std::move(plans)},
                   {"ports", state.ports},
                   {"reapplied", state.reapplied},
                   {"differ_count", state.drift.size()},
                   {"differ", findings_view(qos, state.drift)},
                   {"silent_count", state.silent.size()},
                   {"silent", findings_view(qos, state.silent)},
                   {"reduced", shortfalls_view(qos, state.shortfalls)}};
  out["verified"] =
      state.verified ? json::value(seconds(state.verified->time_since_epoch())) : json::value(nullptr);
  return out;
}

Result<QosPush> read_push(const std::string& body) {
  boost::system::error_code error;
  const json::value root = json::parse(body, error);
  const auto* object = error ? nullptr : root.if_object();
  if (object == nullptr)
    return fail(ErrorCode::Invalid, "the body must be a JSON object with plan, name, ports and dry_run");
  QosPush push;
  for (const auto& [key, value] : *object) {
    if (key == "plan" && value.is_object()) {
      push.plan = json::serialize(value);
    } else if (key == "plan_text" && value.is_string()) {
      push.plan = value.get_string();
    } else if (key == "name" && value.is_string()) {
      push.name = value.get_string();
    } else if (key == "ports" && value.is_string()) {
      push.ports = value.get_string();
    } else if (key == "dry_run" && value.is_bool()) {
      push.dry_run = value.get_bool() ? DryRun::Yes : DryRun::No;
    } else {
      return fail(ErrorCode::Invalid,
                  fmt::format("'{}' is not known here, or of the wrong kind", std::string_view{key}));
    }
  }
  if (push.plan.empty()) return fail(ErrorCode::Invalid, "no plan");
  if (push.name.empty()) push.name = "plan";
  return push;
}

void answer_push(QosControl& qos, const Request& request, const Respond& respond) {
  const auto push = read_push(request.body);
  if (!push) return respond(error_response(push.error()));
  const bool dry = push->dry_run == DryRun::Yes;
  qos.push(*push, [&qos, respond, dry](const Result<QosPushed>& pushed) {
    if (!pushed) return respond(error_response(pushed.error()));
    json::object view = outcome_view(qos, pushed->outcome);
    view["dry_run"] = dry;
    if (!pushed->not_written.empty()) {
      view["not_written"] = pushed->not_written;
      view["plan_file"] = pushed->plan_file;
    }
    respond(json_response(view));
  });
}

}  // namespace

void answer_qos(QosControl& qos, const Request& request, const Respond& respond) {
  if (request.path == "/v1/qos") {
    if (request.post) return respond(wrong_method("GET, HEAD"));
    return respond(json_response(state_view(qos)));
  }
  const bool known =
      request.path == "/v1/qos/push" || request.path == "/v1/qos/verify" || request.path == "/v1/qos/forget";
  if (!known)
    return respond(
        error_response({ErrorCode::NotFound, fmt::format("there is nothing at {}", request.path)}));
  if (!request.post) return respond(wrong_method("POST"));
  if (request.path == "/v1/qos/push") return answer_push(qos, request, respond);
  if (request.path == "/v1/qos/verify") {
    return qos.verify([&qos, respond](const Result<vlarb::Outcome>& outcome) {
      respond(outcome ? json_response(outcome_view(qos, *outcome)) : error_response(outcome.error()));
    });
  }
  qos.forget([&qos, respond](const Result<void>& forgotten) {
    respond(forgotten ? json_response(state_view(qos)) : error_response(forgotten.error()));
  });
}

}  // namespace heddle::control
