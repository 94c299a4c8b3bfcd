// The command "traffic": single flows, and phases as scenario files have them.

#include <boost/json/array.hpp>
#include <limits>

#include "sim/scenario.h"
#include "simserve/commands.h"
#include "simserve/json_arguments.h"

namespace heddle::simserve {

namespace json = boost::json;

Commands::Outcome Commands::traffic(const json::object& request, Picoseconds now) {
  if (traffic_.plane == nullptr || traffic_.player == nullptr) {
    return fail(ErrorCode::Unsupported, "this fabric is served without a data plane");
  }
  const auto action = text(request, "action");
  if (!action) return fail(action.error());
  if (*action == "add") return add_flow(request, now);
  if (*action == "list") return list_traffic(now);
  if (*action == "start") {
    const auto phase_text = text(request, "phase");
    if (!phase_text) return fail(phase_text.error());
    const auto phase = sim::parse_phase(*phase_text, "phase");
    if (!phase) return fail(phase.error());
    const auto id = traffic_.player->add(*phase, now);
    if (!id) return fail(id.error());
    traffic_.plane->advance(now);
    return json::object{{"phase", id->raw()}};
  }
  const bool stops = *action == "stop";
  if (!stops && *action != "remove") {
    return fail(ErrorCode::Invalid,
                fmt::format("\"action\" is \"{}\": add, remove, start, stop or list", *action));
  }
  const char* key = stops ? "phase" : "flow";
  const auto which = number(request, key, -1, 0, std::numeric_limits<std::uint32_t>::max());
  if (!which) return fail(which.error());
  if (stops) {
    const sim::PhaseId phase{static_cast<std::uint32_t>(*which)};
    if (const auto done = traffic_.player->remove(phase, *traffic_.plane, now); !done) {
      return fail(done.error());
    }
    return json::object{};
  }
  const auto found = flows_.find(static_cast<std::uint64_t>(*which));
  if (found == flows_.end()) return fail(ErrorCode::NotFound, fmt::format("there is no flow {}", *which));
  traffic_.plane->remove(found->second, now);
  flows_.erase(found);
  return json::object{};
}

Commands::Outcome Commands::add_flow(const json::object& request, Picoseconds now) {
  const auto from = end_port_in(request, "from");
  const auto to = end_port_in(request, "to");
  constexpr double most = std::numeric_limits<double>::infinity();
  const auto rate = number(request, "rate", most, 0, most);
  const auto sl = number(request, "sl", 0, 0, 15);
  if (!from) return fail(from.error());
  if (!to) return fail(to.error());
  if (!rate) return fail(rate.error());
  if (!sl) return fail(sl.error());
  sim::TrafficFlow flow;
  flow.from = *from;
  flow.to = *to;
  flow.sl = Sl{static_cast<std::uint8_t>(*sl)};
  flow.demand = BitRate{*rate};
  const auto id = traffic_.plane->add(flow, now);
  if (!id) return fail(id.error());
  flows_.emplace(next_flow_, *id);
  return json::object{{"flow", next_flow_++}};
}

Commands::Outcome Commands::list_traffic(Picoseconds now) {
  json::array flows;
  for (const auto& [number, id] : flows_) {
    const sim::TrafficFlow& flow = traffic_.plane->flow(id);
    flows.push_back(json::object{{"flow", number},
                                 {"from", to_string(fabric_.description().ref(flow.from))},
                                 {"to", to_string(fabric_.description().ref(flow.to))},
                                 {"bits_per_second", traffic_.plane->rate(id, now).value()}});
  }
  json::array phases;
  for (const sim::PhaseStatus& phase : traffic_.player->status(*traffic_.plane, now)) {
    phases.push_back(json::object{{"phase", phase.id.raw()},
                                  {"name", phase.name},
                                  {"state", sim::to_string(phase.state)},
                                  {"hosts", phase.hosts},
                                  {"flows", phase.flows},
                                  {"wanted_bits_per_second", phase.wanted.value()},
                                  {"delivered_bits_per_second", phase.delivered.value()}});
  }
  const sim::FlowFigures figures = traffic_.plane->figures(now);
  return json::object{{"flows", std::move(flows)},
                      {"phases", std::move(phases)},
                      {"all_flows", figures.flows},
                      {"unroutable", figures.unroutable},
                      {"into_off_link", figures.into_off_link},
                      {"lost_bytes", figures.lost_bytes},
                      {"delivered_bits_per_second", figures.delivered.value()},
                      {"stood_still_seconds", std::chrono::duration<double>(figures.stood_still).count()}};
}

}  // namespace heddle::simserve
