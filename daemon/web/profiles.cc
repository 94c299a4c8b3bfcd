#include "web/profiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

namespace heddle::web {
namespace {

using Query = std::map<std::string, std::string>;

const std::string* find(const Query& query, const std::string& key) {
  const auto it = query.find(key);
  return it == query.end() ? nullptr : &it->second;
}

template <class Number>
std::optional<Number> whole_number(std::string_view text, int base) {
  Number value{};
  const auto got = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (got.ec != std::errc{} || got.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The ports whose own direction is "out".
Result<std::vector<PortIndex>> ports_of_node(const Fabric& fabric, const Query& query) {
  const std::string& name = *find(query, "node");
  const auto guid = name.starts_with("0x") ? whole_number<std::uint64_t>(std::string_view{name}.substr(2), 16)
                                           : std::nullopt;
  if (!guid) return fail(ErrorCode::Invalid, fmt::format("node must be a GUID, not '{}'", name));
  const NodeIndex node = fabric.find_node(NodeGuid{*guid});
  if (node == no_node) return fail(ErrorCode::NotFound, fmt::format("there is no node {}", name));
  const std::uint8_t count = fabric.node(node).port_count;
  std::vector<PortIndex> ports;
  if (const auto* text = find(query, "port")) {
    const auto port = whole_number<std::uint8_t>(*text, 10);
    if (!port || *port > count)
      return fail(ErrorCode::NotFound, fmt::format("node {} has no port {}", name, *text));
    ports.push_back(fabric.port_index(node, PortNum{*port}));
    return ports;
  }
  for (unsigned p = 1; p <= count; ++p) {
    const PortIndex port = fabric.port_index(node, PortNum{static_cast<std::uint8_t>(p)});
    if (fabric.port(port).link != no_link) ports.push_back(port);
  }
  return ports;
}

Result<std::vector<PortIndex>> ports_of_set(const control::DaemonState& state, const std::string& name) {
  const auto& names = state.sample->set_names;
  if (!names || !state.sets || state.sets->names() != names)
    return fail(ErrorCode::Unreachable, "the sets are being made; ask again in a moment");
  const auto it = std::ranges::find(*names, name);
  if (it == names->end()) return fail(ErrorCode::NotFound, fmt::format("there is no set '{}'", name));
  return state.sets->endpoints(static_cast<std::size_t>(it - names->begin()));
}

/// One sweep's sums.
struct Sums {
  double out = 0;
  double in = 0;
  bool out_known = false;
  bool in_known = false;
  float utilization = load::unknown;
  float congestion = load::unknown;
};

void take_larger(float& largest, float figure) {
  if (load::is_known(figure) && !(load::is_known(largest) && largest >= figure)) largest = figure;
}

Sums sums_at(const load::History& history, std::size_t place, const Fabric& fabric,
             const std::vector<PortIndex>& ports) {
  Sums sums;
  const auto add = [&](PortIndex port, double& sum, bool& known) {
    const load::HistoryPoint point = history.point(place, port);
    take_larger(sums.utilization, point.utilization);
    take_larger(sums.congestion, point.congestion);
    if (!load::is_known(point.utilization)) return;
    const LinkIndex link = fabric.port(port).link;
    if (link == no_link) return;
    sum += point.utilization * data_rate(fabric.link(link).width, fabric.link(link).speed).value() / 1e9;
    known = true;
  };
  for (const PortIndex port : ports) {
    add(port, sums.out, sums.out_known);
    const Port& own = fabric.port(port);
    if (const auto peer = fabric.peer({own.node, own.num}))
      add(fabric.port_index(*peer), sums.in, sums.in_known);
  }
  return sums;
}

}  // namespace

Result<std::string> summed_profile(const control::DaemonState& state, const Query& query) {
  const Fabric& fabric = *state.sample->fabric;
  const auto* set = find(query, "set");
  if (set == nullptr && find(query, "node") == nullptr)
    return fail(ErrorCode::Invalid, "node or set is missing: whose profile?");
  const auto ports = set != nullptr ? ports_of_set(state, *set) : ports_of_node(fabric, query);
  if (!ports) return fail(ports.error());
  const auto times = state.history->times();
  std::vector<Sums> rows;
  rows.reserve(times.size());
  for (std::size_t i = 0; i < times.size(); ++i) rows.push_back(sums_at(*state.history, i, fabric, *ports));

  std::string text = fmt::format(R"({{"ports":{})", ports->size());
  const auto column = [&](const char* name, auto figure) {
    text += fmt::format(R"(,"{}":[)", name);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i > 0) text += ',';
      const std::optional<double> value = figure(i);
      text += value ? fmt::format("{:.6g}", *value) : "null";
    }
    text += ']';
  };
  const auto known = [](float figure) {
    return load::is_known(figure) ? std::optional<double>{figure} : std::nullopt;
  };
  text += R"(,"at":[)";
  for (std::size_t i = 0; i < times.size(); ++i)
    text += fmt::format("{}{:.3f}", i > 0 ? "," : "", seconds(times[i].time_since_epoch()));
  text += ']';
  column("out", [&](std::size_t i) { return rows[i].out_known ? std::optional{rows[i].out} : std::nullopt; });
  column("in", [&](std::size_t i) { return rows[i].in_known ? std::optional{rows[i].in} : std::nullopt; });
  column("utilization", [&](std::size_t i) { return known(rows[i].utilization); });
  column("congestion", [&](std::size_t i) { return known(rows[i].congestion); });
  return text + "}\n";
}

}  // namespace heddle::web
