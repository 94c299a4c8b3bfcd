#include "heddle/qos_test_fabric.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <thread>

#include "base/json_access.h"
#include "fabric/source.h"
#include "fabric/unique_names.h"
#include "mad/header.h"
#include "mad/port_set.h"
#include "qos/fit.h"
#include "sim/bring_up.h"
#include "sim/flow/fabric_view.h"
#include "sim/flow/flow_plane.h"
#include "sim/host.h"
#include "simserve/command_socket.h"
#include "transport/requests.h"
#include "vlarb/image.h"

namespace heddle::cli {
namespace {

namespace json = boost::json;

constexpr Picoseconds at_once{0};
constexpr std::uint32_t all_inputs = 1U << 17U;  // IBA 14.2.5.8, of switches

/// Writes to the agents of a fabric without travelling.
class Writer {
 public:
  explicit Writer(sim::SimulatedFabric& fabric) : fabric_{fabric} {}

  /// Error: of qos::fit, naming the port, or Refused by an agent.
  Result<qos::Programming> program(LinkEnd end, const qos::Programming& plan) {
    const Fabric& truth = fabric_.description();
    const mad::PortInfo& info = fabric_.port_info(truth.port_index(end));
    const auto vls = qos::data_vls(info.operational_vls);
    if (!vls) return fail(vls.error());
    const qos::PortCapability port{info.vl_arb_high_cap, info.vl_arb_low_cap, *vls};
    const auto fitted = qos::fit(plan, port, 128U << info.neighbor_mtu);
    if (!fitted)
      return fail(fmt::format("{}/{}", unique_name(truth, end.node), end.port.raw()), fitted.error());
    const vlarb::Image image = vlarb::image_of(fitted->programming, port);
    const bool is_switch = truth.node(end.node).type == NodeType::Switch;
    const std::uint32_t number = is_switch ? end.port.raw() : 0U;
    bool good = true;
    for (std::uint32_t block = 0; block < vlarb::block_count; ++block) {
      if (image.lengths[block] == 0) continue;
      good = good && set(end, mad::SmAttr::VlArbitration, (block + 1) << 16U | number, image.blocks[block]);
    }
    good = good && set(end, mad::SmAttr::SlToVlTable, is_switch ? all_inputs | number : 0U, image.map);
    mad::PortInfo limited = mad::unchanged(info, 0);
    limited.vl_high_limit = image.limit.raw();
    good = good && set(end, mad::SmAttr::PortInfo, end.port.raw(), limited);
    if (!good) return fail(ErrorCode::Refused, "a simulated agent refused its tables");
    return fitted->programming;
  }

 private:
  template <class Attribute>
  bool set(LinkEnd end, mad::SmAttr attribute, std::uint32_t modifier, const Attribute& value) {
    auto packet = transport::directed_smp(
        {.method = mad::Method::Set, .attribute = attribute, .modifier = modifier}, {});
    mad::encode(value, mad::smp_data(packet.mad));
    const Node& node = fabric_.description().node(end.node);
    const PortIndex agent =
        node.type == NodeType::Switch ? node.first_port : fabric_.description().port_index(end);
    return fabric_.ask(agent, packet.mad, at_once) && mad::read_header(packet.mad).status == mad::status::ok;
  }

  sim::SimulatedFabric& fabric_;
};

/// The last channel adapter's first cabled port.
Result<PortIndex> last_host(const Fabric& fabric) {
  for (std::size_t i = fabric.nodes().size(); i-- > 0;) {
    const Node& node = fabric.nodes()[i];
    if (node.type != NodeType::ChannelAdapter || node.aggregation) continue;
    if (auto port = sim::find_host(fabric, to_string(node.guid))) return port;
  }
  return fail(ErrorCode::NotFound, "the fabric has no host");
}

bool serves(const qos::ArbTable& table, Vl vl) {
  return std::ranges::any_of(
      table, [vl](const qos::ArbEntry& entry) { return entry.vl == vl && entry.weight != 0; });
}

}  // namespace

Result<QosTestResult> test_on_own_fabric(const QosTestFabric& how, const qos::Programming& plan,
                                         const std::vector<Sl>& sls, const qos::AnalyzerOptions& options) {
  const auto description = load_fabric(how.source);
  if (!description) return fail(description.error());
  sim::Options sim_options;
  sim_options.traits.data_vls = static_cast<std::uint8_t>(how.vls);
  sim_options.traits.arbitration_cap = static_cast<std::uint8_t>(how.entries);
  sim::SimulatedFabric fabric{description->fabric, sim_options};
  const Fabric& truth = fabric.description();
  const auto from = sim::find_host(truth, how.from);
  if (!from) return fail(from.error());
  const auto to = how.to.empty() ? last_host(truth) : sim::find_host(truth, how.to);
  if (!to) return fail(to.error());

  sim::FabricView view{fabric};
  sim::FlowPlaneOptions plane_options;
  plane_options.arbitration = options;
  sim::FlowPlane plane{view, plane_options};
  fabric.set_change_listener(&plane);
  sim::bring_up(fabric);
  Writer writer{fabric};
  QosTestResult result;
  for (const Link& link : truth.links()) {
    for (const LinkEnd end : {link.a, link.b}) {
      auto programmed = writer.program(end, plan);
      if (!programmed) return fail(programmed.error());
      if (truth.port_index(end) == *from) result.programming = *std::move(programmed);
    }
  }
  std::vector<sim::TrafficId> flows;
  for (const Sl sl : sls) {
    const auto flow = plane.add({.from = *from, .to = *to, .sl = sl}, at_once);
    if (!flow) return fail(flow.error());
    flows.push_back(*flow);
  }
  for (const auto flow : flows) result.rates.push_back(plane.rate(flow, at_once));
  fabric.set_change_listener(nullptr);
  return result;
}

Result<std::vector<BitRate>> test_on_served_fabric(const std::string& name, const std::string& from,
                                                   const std::string& to, const std::vector<Sl>& sls,
                                                   std::chrono::milliseconds settle) {
  std::vector<std::int64_t> flows;
  std::optional<Error> error;
  for (const Sl sl : sls) {
    const auto added = simserve::command(
        name, json::object{
                  {"command", "traffic"}, {"action", "add"}, {"from", from}, {"to", to}, {"sl", sl.raw()}});
    if (!added) {
      error = added.error();
      break;
    }
    flows.push_back(count_at(*added, "flow"));
  }
  std::vector<BitRate> rates;
  if (!error) {
    std::this_thread::sleep_for(settle);
    const auto list = simserve::command(name, json::object{{"command", "traffic"}, {"action", "list"}});
    if (!list) error = list.error();
    const json::value answer = list ? json::value(*list) : json::value();
    for (const std::int64_t flow : flows) {
      if (!list) break;
      BitRate rate{0};
      for (const auto& each : array_at(answer, "flows")) {
        if (count_at(each, "flow") == flow) rate = BitRate{number_at(each, "bits_per_second")};
      }
      rates.push_back(rate);
    }
  }
  for (const std::int64_t flow : flows) {
    const auto removed =
        simserve::command(name, json::object{{"command", "traffic"}, {"action", "remove"}, {"flow", flow}});
    if (!removed && !error) error = removed.error();
  }
  if (error) return fail(*error);
  return rates;
}

Result<std::vector<double>> predicted_shares(const qos::Programming& programming, const std::vector<Sl>& sls,
                                             const qos::AnalyzerOptions& options) {
  // Only VLs that carry a flow are served.
  std::array<unsigned, qos::max_data_vls> flows{};
  for (const Sl sl : sls) {
    const Vl vl = programming.map.vl[sl.raw()];
    if (vl != qos::drop_vl) ++flows[vl.raw()];
  }
  qos::VlArbitration active = programming.tables;
  const auto keep = [&flows](qos::ArbTable& table) {
    std::erase_if(table, [&flows](const qos::ArbEntry& entry) { return flows[entry.vl.raw()] == 0; });
  };
  keep(active.high);
  keep(active.low);
  if (qos::total_weight(active.high) == 0) {  // then the low table has the link to itself
    active.high = std::move(active.low);
    active.low.clear();
  }
  std::vector<double> shares(sls.size(), 0);
  if (qos::total_weight(active.high) == 0) return shares;
  const auto analysis = qos::analyze(active, options);
  if (!analysis) return fail(analysis.error());
  for (std::size_t i = 0; i < sls.size(); ++i) {
    const Vl vl = programming.map.vl[sls[i].raw()];
    if (vl == qos::drop_vl || (!serves(active.high, vl) && !serves(active.low, vl))) continue;
    for (const auto& service : analysis->vls) {
      if (service.vl == vl) shares[i] = service.share.value() / flows[vl.raw()];
    }
  }
  return shares;
}

}  // namespace heddle::cli
