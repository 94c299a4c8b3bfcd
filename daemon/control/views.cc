#include "control/views.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <charconv>
#include <optional>
#include <vector>

#include "fabric/unique_names.h"
#include "load/glob.h"

namespace heddle::control {
namespace {

namespace json = boost::json;

/// A figure, or null for one that nobody knows.
json::value number(double figure) { return std::isnan(figure) ? json::value(nullptr) : json::value(figure); }

double gbits(BitRate rate) { return rate.value() / 1e9; }

Error no_fabric() {
  return {ErrorCode::Unreachable, "the fabric has not been discovered yet; ask again in a moment"};
}

const std::string* find(const Query& query, const std::string& key) {
  const auto it = query.find(key);
  return it == query.end() ? nullptr : &it->second;
}

Result<std::size_t> count_of(const Query& query, const std::string& key, std::size_t otherwise) {
  const auto* text = find(query, key);
  if (text == nullptr) return otherwise;
  std::size_t value = 0;
  const auto got = std::from_chars(text->data(), text->data() + text->size(), value);
  if (got.ec != std::errc{} || got.ptr != text->data() + text->size()) {
    return fail(ErrorCode::Invalid, fmt::format("{} must be a whole number, not '{}'", key, *text));
  }
  return value;
}

Result<double> real_of(const Query& query, const std::string& key, double otherwise) {
  const auto* text = find(query, key);
  if (text == nullptr) return otherwise;
  double value = 0;
  const auto got = std::from_chars(text->data(), text->data() + text->size(), value);
  if (got.ec != std::errc{} || got.ptr != text->data() + text->size()) {
    return fail(ErrorCode::Invalid, fmt::format("{} must be a number, not '{}'", key, *text));
  }
  return value;
}

std::string_view type_name(const Node& node) {
  if (node.type == NodeType::Switch) return "switch";
  if (node.type == NodeType::Router) return "router";
  return node.aggregation ? "aggregation" : "ca";
}

/// The sample's figures of a port, if the sample is of this snapshot or knows the port from another one.
const load::PortSample* sample_of(const DaemonState& state, LinkEnd end) {
  if (!state.sample) return nullptr;
  if (state.sample->fabric == state.fabric) return &state.sample->port(end);
  const PortIndex index = state.sample->fabric->find_port(state.fabric->ref(end));
  return index == no_port ? nullptr : &state.sample->port(index);
}

/// A pattern over a bare description means all nodes that have it.
bool matches(const DaemonState& state, const Node& node, std::string_view pattern) {
  return load::glob_matches(pattern, state.name(node)) || load::glob_matches(pattern, plain_name(node));
}

std::string end_name(const DaemonState& state, LinkEnd end) {
  return fmt::format("{}/{}", state.name(state.fabric->node(end.node)), end.port.raw());
}

/// By the names that are shown, or by bare descriptions.
bool matches(const DaemonState& state, const Link& link, std::string_view shown, std::string_view pattern) {
  const auto plain = [&](LinkEnd end) {
    return fmt::format("{}/{}", plain_name(state.fabric->node(end.node)), end.port.raw());
  };
  return load::glob_matches(pattern, shown) ||
         load::glob_matches(pattern, fmt::format("{} -- {}", plain(link.a), plain(link.b)));
}

json::object end_view(const DaemonState& state, LinkEnd end) {
  const Node& node = state.fabric->node(end.node);
  return {{"node", state.name(node)},
          {"guid", to_string(node.guid)},
          {"port", end.port.raw()},
          {"type", type_name(node)}};
}

std::uint64_t errors_of(const load::PortSample& sample) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < load::counter_count; ++i) {
    const auto counter = static_cast<load::Counter>(i);
    if (counter != load::Counter::XmitWait && (load::error_counters & load::mask(counter)) != 0)
      sum += sample.totals[i];
  }
  return sum;
}

json::object direction_view(const load::PortSample* sample) {
  if (sample == nullptr)
    return {{"bytes_per_second", nullptr}, {"utilization", nullptr}, {"congestion", nullptr}};
  return {{"bytes_per_second", number(sample->xmit_bytes_per_second)},
          {"packets_per_second", number(sample->xmit_packets_per_second)},
          {"utilization", number(sample->utilization)},
          {"congestion", number(sample->congestion)},
          {"bytes_total", sample->totals[load::at(load::Counter::XmitData)] * 4},
          {"errors_total", errors_of(*sample)}};
}

/// A link with what it is sorted by.
struct Row {
  const Link* link;
  std::string name;
  const load::PortSample* a;
  const load::PortSample* b;
};

/// Unknown figures sort last.
float known(float figure) { return load::is_known(figure) ? figure : -1; }

using Measure = double (*)(const Row&);

std::optional<Measure> measure_named(const std::string& name) {
  if (name == "utilization") {
    return [](const Row& row) -> double {
      return std::max(row.a ? known(row.a->utilization) : -1, row.b ? known(row.b->utilization) : -1);
    };
  }
  if (name == "congestion") {
    return [](const Row& row) -> double {
      return std::max(row.a ? known(row.a->congestion) : -1, row.b ? known(row.b->congestion) : -1);
    };
  }
  if (name == "rate") {
    return [](const Row& row) -> double {
      return std::max(row.a ? known(row.a->xmit_bytes_per_second) : -1,
                      row.b ? known(row.b->xmit_bytes_per_second) : -1);
    };
  }
  if (name == "errors") {
    return [](const Row& row) -> double {
      return static_cast<double>((row.a ? errors_of(*row.a) : 0) + (row.b ? errors_of(*row.b) : 0));
    };
  }
  return std::nullopt;
}

json::object row_view(const DaemonState& state, const Row& row) {
  const Link& link = *row.link;
  const Port& a = state.fabric->port(link.a);
  const Port& b = state.fabric->port(link.b);
  return {{"name", row.name},
          {"a", end_view(state, link.a)},
          {"b", end_view(state, link.b)},
          {"width", std::string(to_string(link.width))},
          {"speed", std::string(to_string(link.speed))},
          {"gbit_per_second", gbits(data_rate(link.width, link.speed))},
          {"state", std::string(to_string(std::min(a.state, b.state)))},
          {"a_to_b", direction_view(row.a)},
          {"b_to_a", direction_view(row.b)}};
}

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

json::object node_summary(const DaemonState& state, NodeIndex index) {
  const Fabric& fabric = *state.fabric;
  const Node& node = fabric.node(index);
  std::size_t active = 0;
  std::size_t cabled = 0;
  Lid lid;
  for (unsigned p = 0; p <= node.port_count; ++p) {
    const Port& port = fabric.port(fabric.port_index(index, PortNum{static_cast<std::uint8_t>(p)}));
    if (lid == no_lid) lid = port.lid;
    if (p > 0 && port.link != no_link) ++cabled;
    if (p > 0 && port.state == PortState::Active) ++active;
  }
  return {{"name", state.name(node)}, {"guid", to_string(node.guid)}, {"type", type_name(node)},
          {"lid", lid.raw()},         {"ports", node.port_count},     {"cabled", cabled},
          {"active", active}};
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
  if (const auto peer = fabric.peer(end)) view["peer"] = end_view(state, *peer);
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
  if (state.light_round) view["light_round_seconds"] = seconds(*state.light_round);
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
  for (const auto& problem : state.problems) problems.emplace_back(problem);
  view["problems"] = std::move(problems);
  return view;
}

Result<json::value> links_view(const DaemonState& state, const Query& query) {
  if (!state.fabric) return fail(no_fabric());
  const auto top = count_of(query, "top", SIZE_MAX);
  if (!top) return fail(top.error());
  const auto least = real_of(query, "min_utilization", -2);
  if (!least) return fail(least.error());
  const auto* sort = find(query, "sort");
  const auto measure = sort == nullptr ? std::nullopt : measure_named(*sort);
  if (sort != nullptr && *sort != "name" && !measure) {
    return fail(ErrorCode::Invalid,
                fmt::format("sort must be name, utilization, congestion, rate or errors, not '{}'", *sort));
  }
  const auto* kind = find(query, "kind");
  if (kind != nullptr && *kind != "switch" && *kind != "host") {
    return fail(ErrorCode::Invalid, fmt::format("kind must be switch or host, not '{}'", *kind));
  }
  const auto* match = find(query, "match");
  const auto utilization = *measure_named("utilization");

  std::vector<Row> rows;
  const Fabric& fabric = *state.fabric;
  for (const Link& link : fabric.links()) {
    const bool between_switches = fabric.node(link.a.node).type == NodeType::Switch &&
                                  fabric.node(link.b.node).type == NodeType::Switch;
    if (kind != nullptr && between_switches != (*kind == "switch")) continue;
    Row row{&link, fmt::format("{} -- {}", end_name(state, link.a), end_name(state, link.b)),
            sample_of(state, link.a), sample_of(state, link.b)};
    if (match != nullptr && !matches(state, link, row.name, *match)) continue;
    if (utilization(row) < *least) continue;
    rows.push_back(std::move(row));
  }
  if (measure) {
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const Row& x, const Row& y) { return (*measure)(x) > (*measure)(y); });
  } else if (sort != nullptr) {
    std::stable_sort(rows.begin(), rows.end(), [](const Row& x, const Row& y) { return x.name < y.name; });
  }
  const std::size_t matched = rows.size();
  if (rows.size() > *top) rows.resize(*top);
  json::array links;
  links.reserve(rows.size());
  for (const Row& row : rows) links.push_back(row_view(state, row));
  return json::object{{"sweep", state.sample ? state.sample->number : 0},
                      {"at_seconds", state.sample ? seconds(state.sample->ended.time_since_epoch()) : 0},
                      {"matched", matched},
                      {"links", std::move(links)}};
}

Result<json::value> nodes_view(const DaemonState& state, const Query& query) {
  if (!state.fabric) return fail(no_fabric());
  const auto* type = find(query, "type");
  if (type != nullptr && *type != "switch" && *type != "ca" && *type != "aggregation" && *type != "router") {
    return fail(ErrorCode::Invalid,
                fmt::format("type must be switch, ca, aggregation or router, not '{}'", *type));
  }
  const auto* match = find(query, "match");
  json::array nodes;
  for (std::uint32_t i = 0; i < state.fabric->nodes().size(); ++i) {
    const Node& node = state.fabric->node(NodeIndex{i});
    if (type != nullptr && type_name(node) != *type) continue;
    if (match != nullptr && !matches(state, node, *match)) continue;
    nodes.push_back(node_summary(state, NodeIndex{i}));
  }
  return json::object{{"nodes", std::move(nodes)}};
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
                       sample_of(state, link.a), sample_of(state, link.b)});
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

Result<json::value> fabric_view(const DaemonState& state) {
  if (!state.fabric) return fail(no_fabric());
  json::array nodes;
  for (std::uint32_t i = 0; i < state.fabric->nodes().size(); ++i)
    nodes.push_back(node_summary(state, NodeIndex{i}));
  json::array links;
  for (const Link& link : state.fabric->links()) {
    links.push_back({{"a", end_view(state, link.a)},
                     {"b", end_view(state, link.b)},
                     {"width", std::string(to_string(link.width))},
                     {"speed", std::string(to_string(link.speed))}});
  }
  return json::object{
      {"epoch", state.fabric->epoch()}, {"nodes", std::move(nodes)}, {"links", std::move(links)}};
}

}  // namespace heddle::control
