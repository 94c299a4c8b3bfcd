#include "control/views.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <charconv>
#include <optional>
#include <vector>

#include "control/cabling_api.h"
#include "control/drain_api.h"
#include "control/view_parts.h"
#include "fabric/unique_names.h"

namespace heddle::control {
namespace {

namespace json = boost::json;

json::object figures_view(const load::Figures& figures) {
  return {{"xmit_bytes_per_second", figures.xmit_bytes_per_second},
          {"rcv_bytes_per_second", figures.rcv_bytes_per_second},
          {"cabled_ports", figures.cabled},
          {"unmeasured_ports", figures.unmeasured},
          {"utilization_mean", number(figures.utilization_mean)},
          {"utilization_max", number(figures.utilization_max)},
          {"congestion_mean", number(figures.congestion_mean)},
          {"congestion_max", number(figures.congestion_max)}};
}

json::object counters_view(const load::PortSample& sample) {
  json::object counters;
  for (std::size_t i = 0; i < load::counter_count; ++i) {
    const auto counter = static_cast<load::Counter>(i);
    if ((sample.known & load::mask(counter)) != 0) counters[load::to_string(counter)] = sample.totals[i];
  }
  return counters;
}

json::object port_view(const DaemonState& state, LinkEnd end) {
  const Fabric& fabric = *state.fabric;
  const Port& port = fabric.port(end);
  json::object view{{"port", end.port.raw()},
                    {"state", std::string(to_string(port.state))},
                    {"physical", std::string(to_string(port.physical))},
                    {"width", std::string(to_string(port.width))},
                    {"speed", std::string(to_string(port.speed))}};
  if (port.lid != no_lid) {
    view["lid"] = port.lid.raw();
    view["lmc"] = port.lmc;
  }
  if (port.guid != PortGuid{}) view["guid"] = to_string(port.guid);
  if (const auto peer = fabric.peer(end)) {
    view["peer"] = end_view(state, *peer);
    add_plane(state, port.link, view);
  }
  const auto* sample = sample_of(state, end);
  if (sample == nullptr || sample->status == load::PortStatus::NotSampled) return view;
  view["xmit"] = direction_view(sample);
  view["counters"] = counters_view(*sample);
  view["saturated"] = sample->saturated != 0;
  return view;
}

/// "NAME", "NAME#a2e0" or "0xGUID". Errors: NotFound; Conflict for what fits several, with their forms.
Result<NodeIndex> node_named(const DaemonState& state, std::string_view name) {
  const auto parts = name_and_digits(name);
  std::vector<std::string> forms;
  NodeIndex found = no_node;
  for (std::uint32_t i = 0; i < state.fabric->nodes().size(); ++i) {
    const Node& node = state.fabric->node(NodeIndex{i});
    std::string shown = state.name(node);
    if (shown == name || to_string(node.guid) == name) return NodeIndex{i};
    const auto is_called = [&](std::string_view text) {
      const auto own = name_and_digits(shown);
      return plain_name(node) == text || (own && own->name == text);
    };
    if (!is_called(name) && !(parts && parts->fit(node.guid) && is_called(parts->name))) continue;
    found = NodeIndex{i};
    forms.push_back(std::move(shown));
  }
  if (forms.size() > 1) return fail(ErrorCode::Conflict, say_which(name, forms));
  if (forms.empty())
    return fail(ErrorCode::NotFound, fmt::format("there is no node '{}'; 'heddle nodes' lists them", name));
  return found;
}

/// The port that "name" of a query means, as "leaf-1/17".
Result<LinkEnd> port_named(const DaemonState& state, const Query& query) {
  const auto* name = find(query, "name");
  const auto slash = name == nullptr ? std::string::npos : name->rfind('/');
  if (slash == std::string::npos) return fail(ErrorCode::Invalid, "name is missing: a port, as leaf-1/17");
  const auto node = node_named(state, std::string_view{*name}.substr(0, slash));
  if (!node && node.error().code == ErrorCode::Conflict) return fail(node.error());
  unsigned port = 0;
  const auto got = std::from_chars(name->data() + slash + 1, name->data() + name->size(), port);
  if (!node || got.ec != std::errc{} || got.ptr != name->data() + name->size() ||
      port > state.fabric->node(*node).port_count) {
    return fail(ErrorCode::NotFound, fmt::format("there is no port '{}'", *name));
  }
  return LinkEnd{*node, PortNum{static_cast<std::uint8_t>(port)}};
}

}  // namespace

json::value status_view(const DaemonState& state) {
  json::object view{{"version", state.version},
                    {"backend", state.backend},
                    {"source", state.source},
                    {"uptime_seconds", seconds(state.uptime)}};
  if (state.fabric) {
    const Fabric& fabric = *state.fabric;
    std::size_t aggregation = 0;
    std::size_t cabled = 0;
    for (const Node& node : fabric.nodes()) aggregation += node.aggregation ? 1 : 0;
    for (const Port& port : fabric.ports()) cabled += port.link != no_link ? 1 : 0;
    view["fabric"] = {{"epoch", fabric.epoch()},
                      {"switches", fabric.switch_count()},
                      {"channel_adapters", fabric.channel_adapter_count()},
                      {"aggregation_nodes", aggregation},
                      {"links", fabric.links().size()},
                      {"ports", cabled}};
  } else {
    view["fabric"] = nullptr;
    view["nodes_so_far"] = state.met;
  }
  const SubnetManagerState& sm = state.subnet_manager;
  view["subnet_manager"] = {
      {"role", sm.role},
      {"master", sm.master},
      {"master_lid", sm.master_lid.raw()},
      {"master_guid", sm.master_guid ? json::value(to_string(*sm.master_guid)) : json::value()},
      {"priority", sm.priority ? json::value(*sm.priority) : json::value()},
      {"state", sm.state},
      {"answers", sm.answers},
      {"moves", sm.moves},
      {"stage", sm.stage}};
  if (const auto& shared = state.shared_state; !shared.name.empty()) {
    view["shared_state"] = {{"name", shared.name},
                            {"owner", shared.owner},
                            {"owns", shared.owns},
                            {"lease_left_seconds", seconds(shared.lease_left)}};
  }
  if (!state.no_regulation.empty()) view["no_regulation"] = state.no_regulation;
  if (state.full_round) view["full_round_seconds"] = seconds(*state.full_round);
  if (state.light_round) view["light_round_seconds"] = seconds(*state.light_round);
  if (state.tables) {
    view["tables"] = {{"age_seconds", seconds(state.now - state.tables->ended)},
                      {"took_seconds", seconds(state.tables->ended - state.tables->began)},
                      {"unread_switches", state.tables->unread.size()}};
  }
  view["sampling"] = {{"sweeps", state.sampling.sweeps},
                      {"interval_seconds", seconds(state.sampling.interval)},
                      {"last_sweep_seconds", seconds(state.sampling.last_sweep)},
                      {"overruns", state.sampling.overruns}};
  if (state.sample) {
    view["sampling"].as_object()["failed_ports"] = state.sample->failures.size();
    json::object load = figures_view(state.sample->total.links);
    load["injected_bytes_per_second"] = state.sample->total.injected;
    load["delivered_bytes_per_second"] = state.sample->total.delivered;
    view["load"] = std::move(load);
  }
  const auto& statistics = state.transactions;
  view["transactions"] = {{"sent", statistics.sent},           {"answered", statistics.answered},
                          {"retries", statistics.retries},     {"timeouts", statistics.timeouts},
                          {"failed", statistics.failed},       {"failed_fast", statistics.failed_fast},
                          {"unmatched", statistics.unmatched}, {"wrong", statistics.wrong}};
  json::array problems;
  for (const auto& problem : state.problems) problems.emplace_back(problem.text);
  view["problems"] = std::move(problems);
  view["drains"] = drains_view(state.drains, state.now);
  view["wishes"] = wishes_view(state);
  view["wish_count"] = state.wish_count;
  if (state.baseline) view["baseline"] = baseline_summary(*state.baseline, state.now);
  json::array notify;
  for (const auto& each : state.notify) {
    notify.emplace_back(json::object{{"name", each.name},
                                     {"what", each.what},
                                     {"queued", each.queued},
                                     {"sent", each.sent},
                                     {"dropped", each.dropped},
                                     {"trouble", each.trouble}});
  }
  if (!notify.empty()) view["notify"] = std::move(notify);
  if (state.health) {
    const std::size_t sure = state.health->sure();
    view["health"] = {{"ports", state.health->ports},
                      {"sure", sure},
                      {"likely", state.health->findings.size() - sure},
                      {"isolated_links", state.isolated.size()}};
  }
  return view;
}

Result<json::value> node_view(const DaemonState& state, const Query& query) {
  if (!state.fabric) return fail(no_fabric());
  const auto* name = find(query, "name");
  if (name == nullptr) return fail(ErrorCode::Invalid, "name is missing: a node's name or GUID");
  const auto index = node_named(state, *name);
  if (!index) return fail(index.error());
  const Node& node = state.fabric->node(*index);
  json::object view = node_summary(state, *index);
  view["vendor_id"] = node.vendor_id;
  view["device_id"] = node.device_id;
  view["system_image_guid"] = fmt::format("{:#018x}", node.system_image_guid);
  if (state.sample && state.sample->fabric == state.fabric) {
    view["load"] = figures_view(state.sample->nodes[index->raw()]);
  }
  json::array ports;
  for (unsigned p = node.type == NodeType::Switch ? 0 : 1; p <= node.port_count; ++p) {
    ports.push_back(port_view(state, {*index, PortNum{static_cast<std::uint8_t>(p)}}));
  }
  view["details"] = std::move(ports);
  return view;
}

Result<json::value> profile_view(const DaemonState& state, const Query& query) {
  if (!state.fabric) return fail(no_fabric());
  const auto samples = count_of(query, "samples", SIZE_MAX);
  if (!samples) return fail(samples.error());
  const auto end_named = port_named(state, query);
  if (!end_named) return fail(end_named.error());
  const LinkEnd end = *end_named;
  const auto direction = [&](LinkEnd from) {
    json::array points;
    if (state.history != nullptr && state.sample && state.sample->fabric == state.fabric) {
      for (const auto& point : state.history->profile(state.fabric->port_index(from), *samples)) {
        points.push_back({{"at_seconds", seconds(point.at.time_since_epoch())},
                          {"utilization", number(point.utilization)},
                          {"congestion", number(point.congestion)}});
      }
    }
    return points;
  };
  json::object view{{"name", end_name(state, end)}, {"out", direction(end)}};
  if (const auto peer = state.fabric->peer(end)) {
    view["peer"] = end_name(state, *peer);
    view["in"] = direction(*peer);
  }
  return view;
}

Result<LinkIndex> link_named(const DaemonState& state, const Query& query) {
  if (!state.fabric) return fail(no_fabric());
  const auto end = port_named(state, query);
  if (!end) return fail(end.error());
  const LinkIndex index = state.fabric->port(*end).link;
  if (index == no_link)
    return fail(ErrorCode::NotFound, fmt::format("there is no cable in {}", end_name(state, *end)));
  return index;
}

Result<json::value> link_view(const DaemonState& state, const Query& query) {
  const auto index = link_named(state, query);
  if (!index) return fail(index.error());
  const Link& link = state.fabric->link(*index);
  json::object view =
      row_view(state, {&link, fmt::format("{} -- {}", end_name(state, link.a), end_name(state, link.b)),
                       sample_of(state, link.a), sample_of(state, link.b), bit_errors_of(state, link.a),
                       bit_errors_of(state, link.b)});
  for (const auto& [key, at] : {std::pair{"a", link.a}, std::pair{"b", link.b}}) {
    if (const auto* sample = sample_of(state, at)) view[key].as_object()["counters"] = counters_view(*sample);
  }
  view["sweep"] = state.sample ? json::value(state.sample->number) : json::value(nullptr);
  return view;
}

Result<std::vector<PortIndex>> queue_ports(const DaemonState& state, const Query& query) {
  if (!state.fabric) return fail(no_fabric());
  const auto* name = find(query, "name");
  if (name == nullptr) return fail(ErrorCode::Invalid, "name is missing: a node or a port, as leaf-1/17");
  const auto node = node_named(state, *name);
  if (!node && node.error().code == ErrorCode::Conflict) return fail(node.error());
  if (!node) {
    const auto end = port_named(state, query);
    if (!end) return fail(end.error());
    return std::vector{state.fabric->port_index(*end)};
  }
  std::vector<PortIndex> ports;
  for (unsigned p = 1; p <= state.fabric->node(*node).port_count; ++p) {
    const PortIndex port = state.fabric->port_index(*node, PortNum{static_cast<std::uint8_t>(p)});
    if (state.fabric->port(port).link != no_link) ports.push_back(port);
  }
  return ports;
}

json::value queues_view(const DaemonState& state, const std::vector<sampling::QueueLook>& looks) {
  constexpr std::uint32_t credit_bytes = 64;
  json::array queues;
  for (const auto& look : looks) {
    const NodeIndex node = state.fabric ? state.fabric->find_node(look.port.node) : no_node;
    json::object queue{
        {"node", node == no_node ? to_string(look.port.node) : state.name(state.fabric->node(node))},
        {"port", look.port.port.raw()}};
    if (look.failure) {
      queue["error"] = look.failure->message;
    } else {
      json::array depth;
      for (const std::uint32_t credits : look.depth)
        depth.emplace_back(std::uint64_t{credits} * credit_bytes);
      queue["depth_bytes"] = std::move(depth);
    }
    queues.push_back(std::move(queue));
  }
  return json::object{{"queues", std::move(queues)}};
}

Result<json::value> locality_view(const DaemonState& state) {
  if (!state.sample) return fail(no_fabric());
  json::array sets;
  for (std::size_t i = 0; i < state.sample->locality.size(); ++i) {
    const auto& locality = state.sample->locality[i];
    sets.push_back({{"set", (*state.sample->set_names)[i]},
                    {"generated", number(locality.generated)},
                    {"consumed", number(locality.consumed)},
                    {"total", number(locality.total)}});
  }
  return json::object{{"sweep", state.sample->number}, {"sets", std::move(sets)}};
}

}  // namespace heddle::control
