#include "simserve/commands.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <cmath>

#include "mad/counters.h"
#include "sim/flow/fabric_view.h"
#include "sim/flow/route_trace.h"
#include "sim/host.h"
#include "simserve/json_arguments.h"

namespace heddle::simserve {
namespace {

namespace json = boost::json;

/// Seconds. A million times in no time would keep everybody else waiting.
constexpr double shortest_flap = 1e-3;

struct NamedError {
  const char* name;
  sim::ErrorCounter counter;
};
constexpr std::array named_errors{
    NamedError{"symbol", sim::ErrorCounter::Symbol},
    NamedError{"link_recovers", sim::ErrorCounter::LinkRecovers},
    NamedError{"link_downed", sim::ErrorCounter::LinkDowned},
    NamedError{"rcv_errors", sim::ErrorCounter::RcvErrors},
    NamedError{"rcv_remote_physical", sim::ErrorCounter::RcvRemotePhysical},
    NamedError{"rcv_switch_relay", sim::ErrorCounter::RcvSwitchRelay},
    NamedError{"xmit_discards", sim::ErrorCounter::XmitDiscards},
    NamedError{"xmit_constraint", sim::ErrorCounter::XmitConstraint},
    NamedError{"rcv_constraint", sim::ErrorCounter::RcvConstraint},
    NamedError{"local_link_integrity", sim::ErrorCounter::LocalLinkIntegrity},
    NamedError{"excessive_buffer_overrun", sim::ErrorCounter::ExcessiveBufferOverrun},
    NamedError{"vl15_dropped", sim::ErrorCounter::Vl15Dropped},
    NamedError{"qp1_dropped", sim::ErrorCounter::Qp1Dropped},
};

struct NamedDetail {
  std::string_view name;
  sim::ErrorDetail detail;
};
constexpr std::array named_details{
    NamedDetail{"malformed", sim::ErrorDetail::Malformed},
    NamedDetail{"buffer_overrun", sim::ErrorDetail::BufferOverrun},
    NamedDetail{"inactive", sim::ErrorDetail::Inactive},
    NamedDetail{"neighbor_mtu", sim::ErrorDetail::NeighborMtu},
    NamedDetail{"lifetime", sim::ErrorDetail::Lifetime},
};

std::string choices() {
  std::string all;
  for (const auto& row : named_errors) all += (all.empty() ? "" : ", ") + std::string(row.name);
  for (const auto& row : named_details) all += ", " + std::string(row.name);
  return all;
}

const char* to_string(sim::RouteEnd end) {
  switch (end) {
    case sim::RouteEnd::Delivered:
      return "delivered";
    case sim::RouteEnd::NoRoute:
      return "no route";
    case sim::RouteEnd::LinkOff:
      return "link off";
  }
  return "";
}

/// "width" and "speed", each as in "4x" and "EDR", or not given.
Result<sim::CableLimit> cable_limit(const json::object& request) {
  sim::CableLimit limit;
  if (request.contains("width")) {
    const auto name = text(request, "width");
    if (!name) return fail(name.error());
    const auto width = link_width(*name);
    if (!width)
      return fail(ErrorCode::Invalid, fmt::format("\"width\" is \"{}\": 1x, 2x, 4x, 8x or 12x", *name));
    limit.width = *width;
  }
  if (request.contains("speed")) {
    const auto name = text(request, "speed");
    if (!name) return fail(name.error());
    const auto speed = link_speed(*name);
    if (!speed)
      return fail(ErrorCode::Invalid, fmt::format("\"speed\" is \"{}\": SDR, DDR, QDR, FDR, ...", *name));
    limit.speed = *speed;
  }
  return limit;
}

}  // namespace

Commands::Outcome Commands::run(const json::object& request, Picoseconds now) {
  const auto command = text(request, "command");
  if (!command) return fail(command.error());
  if (*command == "link") return link(request, now);
  if (*command == "node") return node(request, now);
  if (*command == "faults") return faults(request);
  if (*command == "agent") return agent(request);
  if (*command == "errors") return errors(request, now);
  if (*command == "bit_errors") return bit_errors(request, now);
  if (*command == "receiver") return receiver(request, now);
  if (*command == "counters") return counters(request, now);
  if (*command == "traffic") return traffic(request, now);
  if (*command == "reach") return reach(request);
  if (*command == "status") return status(now);
  return fail(
      ErrorCode::Invalid,
      fmt::format(
          "there is no command \"{}\": link, node, faults, agent, errors, bit_errors, receiver, counters, "
          "traffic, reach, status",
          *command));
}

Result<NodeIndex> Commands::node_in(const json::object& request) const {
  const auto name = text(request, "node");
  if (!name) return fail(name.error());
  return sim::find_named(fabric_.description(), *name);
}

Result<PortIndex> Commands::port_in(const json::object& request) const {
  const auto index = node_in(request);
  if (!index) return fail(index.error());
  const Node& node = fabric_.description().node(*index);
  const auto num = number(request, "port", -1, 0, node.port_count);
  if (!num) return fail(num.error());
  if (*num != std::floor(*num)) return fail(ErrorCode::Invalid, "\"port\" is not a whole number");
  return fabric_.description().port_index(*index, PortNum{static_cast<std::uint8_t>(*num)});
}

Result<PortIndex> Commands::end_port_in(const json::object& request, const char* key) const {
  const auto name = text(request, key);
  if (!name) return fail(name.error());
  return sim::find_host(fabric_.description(), *name);
}

Commands::Outcome Commands::link(const json::object& request, Picoseconds now) {
  const auto port = port_in(request);
  if (!port) return fail(port.error());
  const LinkIndex link = fabric_.description().port(*port).link;
  if (link == no_link) {
    return fail(ErrorCode::NotFound,
                fmt::format("{} has no cable", to_string(fabric_.description().ref(*port))));
  }
  const auto action = text(request, "action");
  if (!action) return fail(action.error());
  if (*action == "down") {
    fabric_.cut(link, now);
  } else if (*action == "up") {
    fabric_.mend(link, now);
  } else if (*action == "flap") {
    const auto down = duration(request, "down", 1, shortest_flap);
    const auto up = duration(request, "up", 1, shortest_flap);
    const auto times = number(request, "times", 1, 1, 1e6);
    if (!down) return fail(down.error());
    if (!up) return fail(up.error());
    if (!times) return fail(times.error());
    fabric_.flap(link, {*down, *up, static_cast<std::uint32_t>(*times)}, now);
  } else if (*action == "training") {
    const auto delay = duration(request, "delay", 0);
    if (!delay) return fail(delay.error());
    fabric_.set_training_delay(link, *delay);
  } else if (*action == "limit") {
    const auto limit = cable_limit(request);
    if (!limit) return fail(limit.error());
    fabric_.limit(link, *limit, now);
  } else {
    return fail(ErrorCode::Invalid,
                fmt::format("\"action\" is \"{}\": down, up, flap, training or limit", *action));
  }
  const mad::PortInfo& info = fabric_.port_info(*port);
  return json::object{{"state", to_string(info.state)}, {"physical", to_string(info.physical)}};
}

Commands::Outcome Commands::node(const json::object& request, Picoseconds now) {
  const auto index = node_in(request);
  if (!index) return fail(index.error());
  const auto action = text(request, "action");
  if (!action) return fail(action.error());
  if (*action == "kill") {
    fabric_.kill(*index, now);
  } else if (*action == "revive") {
    fabric_.revive(*index, now);
  } else {
    return fail(ErrorCode::Invalid, fmt::format("\"action\" is \"{}\": kill or revive", *action));
  }
  return json::object{{"alive", fabric_.alive(*index)}};
}

Commands::Outcome Commands::faults(const json::object& request) {
  const auto lost = number(request, "lost", 0, 0, 1);
  const auto duplicated = number(request, "duplicated", 0, 0, 1);
  const auto corrupted = number(request, "corrupted", 0, 0, 1);
  const auto delayed = number(request, "delayed", 0, 0, 1);
  const auto delay = duration(request, "delay", 0);
  for (const auto* rate : {&lost, &duplicated, &corrupted, &delayed}) {
    if (!*rate) return fail(rate->error());
  }
  if (!delay) return fail(delay.error());
  fabric_.set_mad_faults({Ratio{*lost}, Ratio{*duplicated}, Ratio{*corrupted}, Ratio{*delayed}, *delay});
  return json::object{};
}

Commands::Outcome Commands::agent(const json::object& request) {
  const auto index = node_in(request);
  if (!index) return fail(index.error());
  const auto mute_sma = flag(request, "mute_sma", false);
  const auto mute_pma = flag(request, "mute_pma", false);
  const auto wrong_tid = flag(request, "wrong_tid", false);
  const auto wrong_attribute = flag(request, "wrong_attribute", false);
  const auto narrow = flag(request, "narrow_counters", false);
  const auto no_wait = flag(request, "no_xmit_wait", false);
  const auto stuck = flag(request, "stuck_counters", false);
  for (const auto* value : {&mute_sma, &mute_pma, &wrong_tid, &wrong_attribute, &narrow, &no_wait, &stuck}) {
    if (!*value) return fail(value->error());
  }
  const auto slow = duration(request, "slow", 0);
  if (!slow) return fail(slow.error());
  fabric_.set_agent_faults(*index, {*mute_sma, *mute_pma, *wrong_tid, *wrong_attribute, *slow, *stuck});
  sim::NodeTraits traits;
  traits.extended_counters = !*narrow;
  traits.xmit_wait = !*no_wait;
  fabric_.set_traits(*index, traits);
  if (request.contains("redirect_to")) {
    const auto target = end_port_in(request, "redirect_to");
    const auto qp = number(request, "redirect_qp", 2, 2, 0xffffff);
    if (!target) return fail(target.error());
    if (!qp) return fail(qp.error());
    fabric_.set_redirect(*index, sim::Redirect{*target, static_cast<std::uint32_t>(*qp)});
  } else {
    fabric_.set_redirect(*index, std::nullopt);
  }
  return json::object{};
}

Commands::Outcome Commands::errors(const json::object& request, Picoseconds now) {
  const auto port = port_in(request);
  if (!port) return fail(port.error());
  const auto name = text(request, "counter");
  if (!name) return fail(name.error());
  const auto count = number(request, "count", 1, 0, 1e15);
  if (!count) return fail(count.error());
  const auto* const why = std::ranges::find(named_details, *name, &NamedDetail::name);
  if (why != named_details.end()) {
    fabric_.add_error_details(*port, why->detail, static_cast<std::uint64_t>(*count), now);
    return json::object{};
  }
  const auto found = std::find_if(named_errors.begin(), named_errors.end(),
                                  [&](const NamedError& row) { return row.name == *name; });
  if (found == named_errors.end()) {
    return fail(ErrorCode::Invalid, fmt::format("there is no error counter \"{}\": {}", *name, choices()));
  }
  fabric_.add_errors(*port, found->counter, static_cast<std::uint64_t>(*count), now);
  return json::object{};
}

Commands::Outcome Commands::bit_errors(const json::object& request, Picoseconds now) {
  const auto port = port_in(request);
  if (!port) return fail(port.error());
  const auto corrected = number(request, "corrected", 0, 0, 1e12);
  const auto uncorrectable = number(request, "uncorrectable", 0, 0, 1e12);
  if (!corrected) return fail(corrected.error());
  if (!uncorrectable) return fail(uncorrectable.error());
  fabric_.set_bit_errors(*port, {*corrected, *uncorrectable}, now);
  return json::object{};
}

Commands::Outcome Commands::receiver(const json::object& request, Picoseconds now) {
  const auto port = port_in(request);
  if (!port) return fail(port.error());
  const auto share = number(request, "share", 1, 0, 1);
  if (!share) return fail(share.error());
  fabric_.set_intake(*port, Ratio{*share}, now);
  return json::object{};
}

Commands::Outcome Commands::counters(const json::object& request, Picoseconds now) {
  const auto port = port_in(request);
  if (!port) return fail(port.error());
  if (request.contains("set_xmit_data") || request.contains("set_rcv_data")) {
    const auto xmit = number(request, "set_xmit_data", 0, 0, 18446744073709549568.0);
    const auto rcv = number(request, "set_rcv_data", 0, 0, 18446744073709549568.0);
    if (!xmit) return fail(xmit.error());
    if (!rcv) return fail(rcv.error());
    sim::PortTotals value;
    value.xmit_data = static_cast<std::uint64_t>(*xmit);
    value.rcv_data = static_cast<std::uint64_t>(*rcv);
    fabric_.preset_counters(*port, value, now);
  }
  const sim::PortTotals totals = fabric_.counters(*port, now);
  return json::object{{"xmit_bytes", totals.xmit_data * 4},  {"rcv_bytes", totals.rcv_data * 4},
                      {"xmit_packets", totals.xmit_packets}, {"rcv_packets", totals.rcv_packets},
                      {"xmit_wait", totals.xmit_wait},       {"xmit_discards", totals.xmit_discards}};
}

/// By each of the LIDs of an end port, as tables and links are at this moment.
Commands::Outcome Commands::reach(const json::object& request) const {
  const auto from = end_port_in(request, "from");
  const auto to = end_port_in(request, "to");
  if (!from) return fail(from.error());
  if (!to) return fail(to.error());
  const mad::PortInfo& info = fabric_.port_info(*to);
  const sim::FabricView view{fabric_};
  sim::RouteTrace trace;
  json::array lids;
  for (unsigned offset = 0; info.lid != no_lid && offset < 1U << info.lmc; ++offset) {
    const Lid lid{static_cast<std::uint16_t>(info.lid.raw() + offset)};
    sim::trace_route(view, *from, lid, Sl{0}, trace);
    lids.push_back(json::object{{"lid", lid.raw()}, {"end", to_string(trace.end)}});
  }
  return json::object{{"lids", std::move(lids)}};
}

Commands::Outcome Commands::status(Picoseconds now) {
  const auto& statistics = fabric_.statistics();
  return json::object{{"time_seconds", std::chrono::duration<double>(now).count()},
                      {"sent", statistics.sent},
                      {"delivered", statistics.delivered},
                      {"lost_route", statistics.lost_route},
                      {"lost_fault", statistics.lost_fault},
                      {"discarded", statistics.discarded},
                      {"traps", statistics.traps},
                      {"unicast_dead_ends", fabric_.dead_ends().unicast},
                      {"multicast_dead_ends", fabric_.dead_ends().multicast}};
}

}  // namespace heddle::simserve
