#include "control/health_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/printable.h"
#include "control/view_parts.h"
#include "fabric/unique_names.h"
#include "load/glob.h"

namespace heddle::control {
namespace {

namespace json = boost::json;

/// Whom a name means: an adapter's description begins with that of its host.
std::set<NodeGuid> nodes_of_host(const DaemonState& state, const std::string& host) {
  std::set<NodeGuid> found;
  for (const Node& node : state.fabric->nodes()) {
    const std::string plain = plain_name(node);
    const bool is_host = node.type == NodeType::ChannelAdapter && plain.substr(0, plain.find(' ')) == host;
    if (is_host || plain == host || state.name(node) == host || to_string(node.guid) == host) {
      found.insert(node.guid);
    }
  }
  return found;
}

/// "leaf-1/17", or the node where it is about no port of it.
std::string place(const DaemonState& state, const PortRef& ref) {
  const NodeIndex index = state.fabric->find_node(ref.node);
  const std::string name = index == no_node ? to_string(ref.node) : state.name(state.fabric->node(index));
  return ref.port == PortNum{0} ? name : fmt::format("{}/{}", name, ref.port.raw());
}

json::object finding_view(const DaemonState& state, const health::Finding& finding) {
  const std::string at = place(state, finding.at);
  const auto text = [](std::string_view words) { return json::value(std::string(words)); };
  return {{"rule", text(health::to_string(finding.rule))},
          {"sure", text(health::to_string(finding.sureness))},
          {"where", finding.peer ? fmt::format("{} -- {}", at, place(state, *finding.peer)) : at},
          {"at", at},
          {"blame", finding.blame ? json::value(place(state, *finding.blame)) : json::value()},
          {"since_seconds", std::max(0.0, seconds(state.now - finding.since))},
          {"what", finding.what},
          {"advice", finding.advice}};
}

json::object order_view(const DaemonState& state, const health::IsolationOrder& order) {
  return {{"link", fmt::format("{} -- {}", place(state, order.link.a), place(state, order.link.b))},
          {"reason", order.reason}};
}

}  // namespace

Result<void> write_bit_errors(const DaemonState& state, const Query& query, const TextSink& out) {
  if (!state.fabric) return fail(no_fabric());
  std::vector<std::pair<std::string, const health::PortBitErrors*>> rows;
  const auto* match = find(query, "match");
  if (state.bit_errors) {
    for (const health::PortBitErrors& port : *state.bit_errors) {
      std::string name = place(state, port.port);
      if (match == nullptr || load::glob_matches(*match, name)) rows.emplace_back(std::move(name), &port);
    }
  }
  const auto badness = [](const auto& row) {
    const health::BitErrorRates& rates = row.second->long_window;
    return std::pair{-rates.effective.value_or(0), -rates.raw.value_or(0)};
  };
  std::ranges::stable_sort(rows, {}, badness);
  out("{\"ports\":[");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const health::PortBitErrors& port = *rows[i].second;
    if (i > 0) out(",");
    out(json::serialize(json::object{{"port", rows[i].first},
                                     {"raw", number(port.window.raw)},
                                     {"effective", number(port.window.effective)},
                                     {"raw_long", number(port.long_window.raw)},
                                     {"effective_long", number(port.long_window.effective)}}));
  }
  out("]}");
  return {};
}

Result<void> write_health(const DaemonState& state, const Query& query, const TextSink& out) {
  if (!state.fabric) return fail(no_fabric());
  if (!state.health) {
    return fail(ErrorCode::Unreachable, "the counters have not been read yet; ask again in a moment");
  }
  const auto* host = find(query, "host");
  std::set<NodeGuid> nodes;
  if (host != nullptr) {
    nodes = nodes_of_host(state, *host);
    if (nodes.empty()) {
      return fail(
          ErrorCode::NotFound,
          fmt::format("no node of the fabric is called '{}'; 'heddle nodes' lists them", printable(*host)));
    }
  }
  std::vector<const health::Finding*> shown;
  std::size_t sure = 0;
  for (const health::Finding& finding : state.health->findings) {
    const bool concerns = host == nullptr || nodes.contains(finding.at.node) ||
                          (finding.peer && nodes.contains(finding.peer->node));
    if (!concerns) continue;
    shown.push_back(&finding);
    sure += finding.sureness == health::Sureness::Sure ? 1 : 0;
  }
  out(fmt::format("{{\"well\":{},\"ports\":{},\"sure\":{},\"likely\":{},\"findings\":[", shown.empty(),
                  state.health->ports, sure, shown.size() - sure));
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (i > 0) out(",");
    out(json::serialize(finding_view(state, *shown[i])));
  }
  json::array orders;
  json::array out_of_use;
  if (host == nullptr) {
    for (const auto& order : state.to_isolate) orders.push_back(order_view(state, order));
    for (const auto& order : state.isolated) {
      json::object view = order_view(state, order);
      view["for_seconds"] = std::max(0.0, seconds(order.until - state.now));
      out_of_use.push_back(std::move(view));
    }
  }
  out(fmt::format("],\"isolate\":\"{}\",\"isolate_links\":{},\"isolated_links\":{}}}",
                  to_string(state.isolate), json::serialize(orders), json::serialize(out_of_use)));
  return {};
}

}  // namespace heddle::control
