#include "notice/bodies.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <string_view>

namespace heddle::notice {
namespace {

namespace json = boost::json;

std::string_view severity_name(const Notice& notice) {
  switch (severity(notice)) {
    case Severity::Warning:
      return "warning";
    case Severity::Notice:
    case Severity::Informational:
      return "info";
  }
  return "info";
}

/// Labels tell alerts apart, so nothing stands in them that changes while an alert lasts.
json::object labels(std::string_view name, std::string_view kind, const Teller& teller) {
  json::object all{{"alertname", name}, {"kind", kind}, {"source", "heddled"}, {"host", teller.host}};
  if (!teller.fabric.empty()) all["fabric"] = teller.fabric;
  return all;
}

json::object problem_alert(std::string_view kind, std::string_view text, WallTime since, WallTime until,
                           const Teller& teller) {
  json::object named = labels("HeddleProblem", kind, teller);
  named["severity"] = "warning";
  return {{"labels", std::move(named)},
          {"annotations", json::object{{"summary", text}}},
          {"startsAt", timestamp(since)},
          {"endsAt", timestamp(until)}};
}

json::object event_alert(const Notice& event, WallTime now, const Teller& teller) {
  json::object named = labels("HeddleEvent", event.kind, teller);
  named["severity"] = severity_name(event);
  named["event"] = std::to_string(event.id);
  json::object annotations{{"summary", event.text}};
  if (!event.links.empty()) annotations["links"] = event.links;
  return {{"labels", std::move(named)},
          {"annotations", std::move(annotations)},
          {"startsAt", timestamp(event.at)},
          {"endsAt", timestamp(now + alert_life)}};
}

}  // namespace

std::string json_body(std::span<const Notice> notices, const Teller& teller, std::uint64_t dropped) {
  json::array all;
  for (const Notice& notice : notices) {
    json::object one{{"id", notice.id},
                     {"at", timestamp(notice.at)},
                     {"class", is_problem(notice.what) ? "problem" : "event"},
                     {"kind", notice.kind},
                     {"severity", severity_name(notice)},
                     {"text", notice.text}};
    if (is_problem(notice.what)) {
      one["state"] = to_string(notice.what);
      one["since"] = timestamp(notice.since);
    }
    if (!notice.links.empty()) one["links"] = notice.links;
    all.emplace_back(std::move(one));
  }
  json::object body{{"version", 1}, {"source", "heddled"}, {"host", teller.host}};
  if (!teller.fabric.empty()) body["fabric"] = teller.fabric;
  body["dropped"] = dropped;
  body["notices"] = std::move(all);
  return json::serialize(body);
}

std::string alertmanager_body(std::span<const Notice> notices, std::span<const OpenProblem> open,
                              const Teller& teller, WallTime now) {
  json::array alerts;
  for (const Notice& notice : notices) {
    if (!is_problem(notice.what)) {
      alerts.emplace_back(event_alert(notice, now, teller));
      continue;
    }
    const WallTime until = notice.what == What::ProblemEnded ? notice.at : now + alert_life;
    alerts.emplace_back(problem_alert(notice.kind, notice.text, notice.since, until, teller));
  }
  for (const OpenProblem& problem : open)
    alerts.emplace_back(problem_alert(problem.kind, problem.text, problem.since, now + alert_life, teller));
  return json::serialize(alerts);
}

}  // namespace heddle::notice
