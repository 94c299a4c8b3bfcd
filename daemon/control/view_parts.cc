#include "control/view_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace heddle::control {

namespace json = boost::json;

namespace {

/// Of a direction, by the port where it comes in.
void add_bit_errors(const health::PortBitErrors* bits, json::object& direction) {
  const auto rates = bits == nullptr ? health::BitErrorRates{} : health::worse_window(*bits);
  direction["raw_ber"] = number(rates.raw);
  direction["effective_ber"] = number(rates.effective);
}

}  // namespace

json::value number(double figure) { return std::isnan(figure) ? json::value(nullptr) : json::value(figure); }

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

const load::PortSample* sample_of(const DaemonState& state, LinkEnd end) {
  if (!state.sample) return nullptr;
  if (state.sample->fabric == state.fabric) return &state.sample->port(end);
  const PortIndex index = state.sample->fabric->find_port(state.fabric->ref(end));
  return index == no_port ? nullptr : &state.sample->port(index);
}

std::string end_name(const DaemonState& state, LinkEnd end) {
  return fmt::format("{}/{}", state.name(state.fabric->node(end.node)), end.port.raw());
}

std::string link_name(const DaemonState& state, const Link& link) {
  return fmt::format("{} -- {}", end_name(state, link.a), end_name(state, link.b));
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

void add_plane(const DaemonState& state, LinkIndex link, json::object& view) {
  const auto plane = state.planes ? state.planes->of(link) : std::nullopt;
  if (!plane) return;
  view["plane"] = plane->number;
  view["planes"] = plane->of;
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

BitErrorsByPort::BitErrorsByPort(const DaemonState& state) : of_(state.fabric->ports().size()) {
  if (!state.bit_errors) return;
  for (const health::PortBitErrors& port : *state.bit_errors) {
    if (const PortIndex index = state.fabric->find_port(port.port); index != no_port)
      of_[index.raw()] = &port;
  }
}

const health::PortBitErrors* bit_errors_of(const DaemonState& state, LinkEnd end) {
  if (!state.bit_errors) return nullptr;
  const auto it = std::ranges::find(*state.bit_errors, state.fabric->ref(end), &health::PortBitErrors::port);
  return it == state.bit_errors->end() ? nullptr : &*it;
}

Row row_of(const DaemonState& state, const Link& link, const BitErrorsByPort& bits) {
  return {&link,
          link_name(state, link),
          sample_of(state, link.a),
          sample_of(state, link.b),
          bits.of(state.fabric->port_index(link.a)),
          bits.of(state.fabric->port_index(link.b))};
}

json::object row_view(const DaemonState& state, const Row& row) {
  const Link& link = *row.link;
  const Port& a = state.fabric->port(link.a);
  const Port& b = state.fabric->port(link.b);
  json::object view{{"name", row.name},
                    {"a", end_view(state, link.a)},
                    {"b", end_view(state, link.b)},
                    {"width", std::string(to_string(link.width))},
                    {"speed", std::string(to_string(link.speed))},
                    {"gbit_per_second", gbits(data_rate(link.width, link.speed))},
                    {"state", std::string(to_string(std::min(a.state, b.state)))},
                    {"a_to_b", direction_view(row.a)},
                    {"b_to_a", direction_view(row.b)}};
  add_bit_errors(row.bits_b, view["a_to_b"].as_object());
  add_bit_errors(row.bits_a, view["b_to_a"].as_object());
  add_plane(state, a.link, view);
  return view;
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

}  // namespace heddle::control
