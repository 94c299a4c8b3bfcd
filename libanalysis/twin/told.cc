#include "twin/told.h"

#include <boost/json/array.hpp>
#include <string_view>
#include <utility>

#include "load/switches_like.h"

namespace heddle::twin {
namespace {

namespace json = boost::json;
using Kind = TrafficUsed::Source;

/// In answers for programs.
constexpr std::size_t most_links = 20;

std::string_view word(Kind source) {
  switch (source) {
    case Kind::Given:
      return "given";
    case Kind::Estimated:
      return "estimated";
    case Kind::None:
      break;
  }
  return "none";
}

json::object traffic_json(const State& state, const FabricNames& known) {
  const Prediction& traffic = *state.traffic;
  json::array links;
  for (const PortIndex port : traffic.busiest_links(*state.fabric, most_links)) {
    const Port& from = state.fabric->port(port);
    links.push_back(json::object{{"from", known.port({from.node, from.num})},
                                 {"share", traffic.share[port.raw()]},
                                 {"bytes_per_second", traffic.load[port.raw()] / 8}});
  }
  return {{"flows", traffic.flows},
          {"unroutable", traffic.unroutable},
          {"wanted_bytes_per_second", traffic.wanted / 8},
          {"carried_bytes_per_second", traffic.carried / 8},
          {"largest_share", traffic.largest},
          {"largest_share_of_hosts", traffic.largest_of_hosts},
          {"busiest", std::move(links)}};
}

json::object outage_view(const routing::Outage& outage, const FabricNames& known) {
  json::array hosts;
  for (const NodeIndex node : outage.cut_off) hosts.emplace_back(known.node(node));
  json::array on_one;
  for (const NodeIndex node : outage.on_one) on_one.emplace_back(known.node(node));
  return {{"cut_off", std::move(hosts)},
          {"switches_on_one_cable", std::move(on_one)},
          {"hosts_on_one_cable", outage.hosts_on_one},
          {"pairs_cut", outage.pairs_cut},
          {"pairs_without_path", outage.pairs_without_path},
          {"largest_load", outage.largest},
          {"effective_bisection", outage.bisection ? json::value(outage.bisection->value()) : json::value()}};
}

}  // namespace

Result<routing::Failure> failure_of(const std::vector<std::string>& names, const FabricNames& known) {
  routing::Failure failure;
  for (const std::string& name : names) {
    if (const auto node = known.find_node(name)) {
      failure.nodes.push_back(*node);
    } else if (load::is_pattern(name)) {
      const auto switches = load::switches_like(name, known);
      if (!switches) return fail(switches.error());
      failure.nodes.insert(failure.nodes.end(), switches->begin(), switches->end());
    } else if (node.error().code == ErrorCode::Conflict || name.find('/') == std::string::npos) {
      return fail(node.error());
    } else if (const auto link = known.find_link(name)) {
      failure.links.push_back(*link);
    } else {
      return fail(link.error());
    }
  }
  return failure;
}

json::object view(const Run& run) {
  const Source& source = run.source();
  json::object tables{{"made_by", run.router().name()}, {"read_back", source.tables.has_value()}};
  tables["agreement"] = run.router().agreement() ? json::value(*run.router().agreement()) : json::value();
  if (source.tables) {
    tables["age_seconds"] = source.tables_age;
    tables["unread_switches"] = source.unread;
    tables["outdated"] = source.outdated;
  }
  json::object flows{{"source", std::string(word(run.traffic_source()))}};
  if (run.traffic_source() == Kind::Estimated) {
    const StatedError error = error_of_estimates();
    flows["loads_age_seconds"] = source.loads_age;
    flows["few_flows"] = run.few_flows();
    flows["error"] = json::object{{"median", error.median}, {"worst", error.worst}};
  }
  return {{"tables", std::move(tables)}, {"flows", std::move(flows)}};
}

json::object view(const State& state, const FabricNames& known) {
  json::object view = outage_view(state.outage, known);
  view["circles"] = state.circles;
  view["watts"] = state.watts ? json::value(*state.watts) : json::value();
  view["traffic"] = state.traffic ? json::value(traffic_json(state, known)) : json::value();
  return view;
}

json::array losers_view(const State& now, const State& then, const FabricNames& known, std::size_t most) {
  json::array all;
  if (!now.traffic || !then.traffic) return all;
  for (const Loser& loser : losers(*now.traffic, *then.traffic)) {
    if (now.fabric->node(loser.host).type == NodeType::Switch) continue;
    if (all.size() == most) break;
    all.push_back(json::object{{"host", known.node(loser.host)},
                               {"bytes_per_second_now", loser.before / 8},
                               {"bytes_per_second_then", loser.after / 8}});
  }
  return all;
}

}  // namespace heddle::twin
