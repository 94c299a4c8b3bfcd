#include "sim/packet/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/packet/check.h"
#include "sim/packet/levels.h"
#include "sim/packet/trunks.h"

namespace heddle::packet {
namespace {

constexpr std::size_t sls = 32;
constexpr std::uint32_t mport_size = 4;
constexpr std::uint32_t mport_central_links = 2;
constexpr int central_width = 3;  ///< flits a cycle of a link to the centre, and at least of a central buffer

/// Packets at once that make up the width of a central link, each at `speed` flits a cycle.
constexpr std::uint8_t central_lanes(int speed) {
  return static_cast<std::uint8_t>(std::max(1, central_width / speed));
}

class NetworkBuilder {
 public:
  NetworkBuilder(std::shared_ptr<const Fabric> fabric, Programming programming, DataPlane plane) {
    net_.fabric = std::move(fabric);
    net_.programming = std::move(programming);
    net_.plane = std::move(plane);
    // Besides those that are read, one packet may be thrown away and one just finishing.
    const bool hierarchy = net_.plane.model == SwitchModel::OmniPath;
    const auto lanes = static_cast<std::uint32_t>(
        std::max<int>(net_.plane.input_lanes, hierarchy ? central_lanes(net_.plane.central_speed) : 1));
    net_.pools = Pools{net_.plane.vls, lanes + 2};
    net_.speeds = {static_cast<std::uint8_t>(hierarchy ? net_.plane.mport_speed : net_.plane.crossbar_speed),
                   static_cast<std::uint8_t>(net_.plane.central_speed)};
    net_.port_of_slot.assign(net_.fabric->ports().size(), nothing);
  }

  Result<Network> build() {
    for (std::uint32_t i = 0; i < net_.fabric->nodes().size(); ++i) {
      const Node& node = net_.fabric->node(NodeIndex{i});
      if (node.type == NodeType::Switch) {
        if (auto ok = add_switch(NodeIndex{i}); !ok) return fail(ok.error());
      } else if (auto ok = add_hosts(NodeIndex{i}); !ok) {
        return fail(ok.error());
      }
    }
    if (net_.hosts.empty()) return fail(ErrorCode::Invalid, "the fabric has no host port with a cable");
    join();
    if (net_.plane.count_lanes)
      net_.lane_counts.resize(net_.ports.size() * static_cast<std::size_t>(net_.plane.vls));
    if (net_.plane.virtual_allocation == VirtualAllocation::Blind || net_.plane.allocation_retry > 0)
      net_.retry_at.resize(net_.input_queues.size());
    if (net_.plane.up_routing != UpRouting::Programmed) find_levels(net_);
    if (net_.plane.trunk_routing != TrunkRouting::Programmed) find_trunks(net_);
    if (!net_.plane.sl_turns.empty()) {
      net_.plane.sl_turns.resize(sls);
      net_.input_turns.resize(net_.inputs.size() * sls);
      net_.host_turns.resize(net_.hosts.size() * sls);
    }
    net_.ties = net_.plane.model == SwitchModel::OmniPath || net_.plane.output_lanes > 1;
    return std::move(net_);
  }

 private:
  std::uint32_t add_pool(std::int32_t flits, PoolOwner owner) {
    net_.pool_owners.push_back(owner);
    const double equal = static_cast<double>(flits) / net_.plane.vls;
    const Share share{static_cast<std::int32_t>(equal * net_.plane.sharing.least),
                      std::min(flits, static_cast<std::int32_t>(equal * net_.plane.sharing.greatest))};
    return net_.pools.add(flits, share);
  }

  template <class Queues>
  std::uint32_t add_queues(Queues& queues) const {
    const auto first = static_cast<std::uint32_t>(queues.size());
    queues.resize(queues.size() + static_cast<std::size_t>(net_.plane.vls));
    return first;
  }

  Port& add_port(LinkEnd end, std::int32_t output_flits) {
    Port port;
    port.first_queue = add_queues(net_.port_queues);
    port.number = end.port.raw();
    port.slot = net_.fabric->port_index(end).raw();
    port.flight = net_.plane.delays.flight;
    if (output_flits > 0)
      port.pool = add_pool(output_flits, {static_cast<std::uint32_t>(net_.ports.size()), false});
    net_.port_of_slot[port.slot] = static_cast<std::uint32_t>(net_.ports.size());
    LinkState link;
    if (!net_.programming.rings.empty()) link.date_line = net_.programming.rings[port.slot].date_line;
    net_.links.push_back(link);
    net_.ports.push_back(port);
    net_.counts.emplace_back();
    return net_.ports.back();
  }

  std::uint8_t ring_of(std::uint32_t slot) const {
    return net_.programming.rings.empty() ? RingHop::no_ring : net_.programming.rings[slot].ring;
  }

  Result<void> add_switch(NodeIndex index) {
    const Node& node = net_.fabric->node(index);
    SwitchElement element;
    element.node = index;
    element.ports = node.port_count;
    element.first_port = static_cast<std::uint32_t>(net_.ports.size());
    const routing::SwitchIndex row = net_.programming.forwarding.find(node.guid);
    if (row == routing::no_switch) {
      return fail(ErrorCode::NotFound,
                  fmt::format("switch {} has no forwarding table", to_string(node.guid)));
    }
    element.row = static_cast<std::uint32_t>(row.raw());
    for (unsigned p = 0; p <= node.port_count; ++p) {
      Port& port =
          add_port({index, PortNum{static_cast<std::uint8_t>(p)}}, p == 0 ? 0 : net_.plane.output_flits);
      port.at_switch = static_cast<std::uint32_t>(net_.switches.size());
    }
    net_.switches.push_back(element);
    if (net_.plane.model == SwitchModel::InfiniBand) {
      add_single_crossbar(net_.switches.back());
    } else {
      add_hierarchy(net_.switches.back());
    }
    return {};
  }

  Input& add_input(const SwitchElement& element, std::uint32_t place) {
    Input input;
    input.first_queue = add_queues(net_.input_queues);
    input.place = static_cast<std::uint8_t>(place);
    input.at_switch = static_cast<std::uint32_t>(net_.switches.size() - 1);
    input.first_output = element.first_output;
    net_.inputs.push_back(input);
    return net_.inputs.back();
  }

  Output& add_output(std::uint32_t first_input, std::uint32_t inputs) {
    Output output;
    output.first_input = first_input;
    output.inputs = static_cast<std::uint16_t>(inputs);
    output.last = static_cast<std::uint16_t>(inputs - 1);
    output.waiters = static_cast<std::uint32_t>(net_.waiters.size());
    net_.waiters.resize(net_.waiters.size() + (inputs + 63) / 64);
    net_.outputs.push_back(output);
    return net_.outputs.back();
  }

  /// An output that leads into the output buffer of a port.
  void add_port_output(const SwitchElement& element, std::uint32_t number, std::uint32_t first_input,
                       std::uint32_t inputs) {
    Output& output = add_output(first_input, inputs);
    output.lanes = static_cast<std::uint16_t>(net_.plane.output_lanes);
    const std::uint32_t port_id = element.first_port + number;
    Port& port = net_.ports[port_id];
    output.target = port_id;
    output.pool = port.pool;
    output.ring = ring_of(port.slot);
    if (net_.plane.ring_rule == RingRule::Bubble && output.ring != RingHop::no_ring)
      output.spare = net_.plane.largest_packet();
    port.outputs[port.outputs[0] == nothing ? 0 : 1] =
        static_cast<std::uint32_t>(&output - net_.outputs.data());
  }

  void add_single_crossbar(SwitchElement& element) {
    element.first_output = static_cast<std::uint32_t>(net_.outputs.size());
    element.first_input = static_cast<std::uint32_t>(net_.inputs.size());
    for (std::uint32_t p = 1; p <= element.ports; ++p) {
      Input& input = add_input(element, p - 1);
      input.number = static_cast<std::uint8_t>(p);
      input.lanes = static_cast<std::uint8_t>(net_.plane.input_lanes);
    }
    for (std::uint32_t p = 1; p <= element.ports; ++p) {
      add_port_output(element, p, element.first_input, element.ports);
    }
  }

  /// MPorts: inputs of their ports, outputs to their ports and two to the centre. Then the centre. With one
  /// arbiter for each port all inputs of the switch, which lie in one row, have their places in one order,
  /// and the centre's outputs to the ports serve the MPorts too.
  void add_hierarchy(SwitchElement& element) {
    const std::uint32_t mports = (element.ports + mport_size - 1) / mport_size;
    element.first_input = static_cast<std::uint32_t>(net_.inputs.size());
    std::vector<std::uint32_t> to_centre;
    const bool one = net_.plane.output_arbiter == OutputArbiter::One;
    const auto all = static_cast<std::uint32_t>(element.ports + mports * mport_central_links);
    for (std::uint32_t m = 0; m < mports; ++m) {
      const auto first_output = static_cast<std::uint32_t>(net_.outputs.size());
      const auto first_input = static_cast<std::uint32_t>(net_.inputs.size());
      const std::uint32_t size = std::min(mport_size, element.ports - m * mport_size);
      for (std::uint32_t i = 0; i < size; ++i) {
        Input& input = add_input(element, one ? m * mport_size + i : i);
        input.number = static_cast<std::uint8_t>(m * mport_size + i + 1);
        input.first_output = first_output;
        input.lanes = static_cast<std::uint8_t>(net_.plane.input_lanes);
      }
      for (std::uint32_t i = 0; i < size && !one; ++i) {
        add_port_output(element, m * mport_size + i + 1, first_input, size);
      }
      for (std::uint32_t i = 0; i < mport_central_links; ++i) {
        (one ? add_output(element.first_input, all) : add_output(first_input, size)).lanes =
            central_lanes(net_.plane.mport_speed);
        to_centre.push_back(static_cast<std::uint32_t>(net_.outputs.size() - 1));
      }
    }
    element.first_output = static_cast<std::uint32_t>(net_.outputs.size());
    const auto first_central = static_cast<std::uint32_t>(net_.inputs.size());
    for (std::uint32_t i = 0; i < to_centre.size(); ++i) {
      Input& input = add_input(element, one ? element.ports + i : i);
      input.central = true;
      input.lanes = central_lanes(net_.plane.central_speed);
      input.pool = add_pool(net_.plane.central_flits / static_cast<std::int32_t>(mport_central_links),
                            {to_centre[i], true});
      input.feeder = to_centre[i];
      Output& feeder = net_.outputs[to_centre[i]];
      feeder.central = true;
      feeder.target = first_central + i;
      feeder.pool = input.pool;
    }
    for (std::uint32_t p = 1; p <= element.ports; ++p) {
      if (one) {
        add_port_output(element, p, element.first_input, all);
      } else {
        add_port_output(element, p, first_central, static_cast<std::uint32_t>(to_centre.size()));
      }
    }
  }

  Result<void> add_hosts(NodeIndex index) {
    const Node& node = net_.fabric->node(index);
    for (unsigned p = 1; p <= node.port_count; ++p) {
      const LinkEnd end{index, PortNum{static_cast<std::uint8_t>(p)}};
      const heddle::Port& at = net_.fabric->port(end);
      if (at.link == no_link || node.aggregation) continue;
      if (at.lid == no_lid) {
        return fail(ErrorCode::NotFound,
                    fmt::format("host port {} has no LID: run a subnet manager or assign_lids first",
                                to_string(net_.fabric->ref(end))));
      }
      Port& port = add_port(end, 0);
      const auto host = static_cast<std::uint32_t>(net_.hosts.size());
      port.host_side = true;
      port.host = host;
      net_.hosts.push_back({net_.fabric->port_index(end), at.lid, net_.port_of_slot[port.slot], nothing});
      const std::size_t last = at.lid.raw() + (std::size_t{1} << at.lmc);
      if (net_.host_of_lid.size() < last) net_.host_of_lid.resize(last, nothing);
      for (std::size_t lid = at.lid.raw(); lid < last; ++lid) net_.host_of_lid[lid] = host;
    }
    return {};
  }

  /// Flits on the fastest link of the fabric take one cycle.
  void join() {
    double fastest = 0;
    for (const Link& link : net_.fabric->links()) {
      fastest = std::max(fastest, data_rate(link.width, link.speed).value());
    }
    for (const Link& link : net_.fabric->links()) {
      const double rate = data_rate(link.width, link.speed).value();
      const int flit_cycles = rate > 0 ? static_cast<int>(std::ceil(fastest / rate - 1e-9)) : 1;
      const std::uint32_t a = net_.port_of_slot[net_.fabric->port_index(link.a).raw()];
      const std::uint32_t b = net_.port_of_slot[net_.fabric->port_index(link.b).raw()];
      if (a == nothing || b == nothing) continue;
      connect(a, b, flit_cycles);
      connect(b, a, flit_cycles);
    }
  }

  void connect(std::uint32_t from, std::uint32_t to, int flit_cycles) {
    Port& port = net_.ports[from];
    const Port& far = net_.ports[to];
    net_.links[from].cabled = net_.links[from].up = true;
    port.peer = to;
    port.flit_cycles = static_cast<std::int16_t>(flit_cycles);
    if (far.host_side) {
      port.to_host = true;
      port.far = far.host;
      port.room = add_pool(net_.plane.host_flits, {from, false});
      net_.hosts[port.far].leaf = port.at_switch;
      return;
    }
    const SwitchElement& element = net_.switches[far.at_switch];
    port.far = element.first_input + far.number - 1;
    port.room = add_pool(net_.plane.input_flits, {from, false});
    Input& input = net_.inputs[port.far];
    input.pool = port.room;
    input.feeder = from;
    if (!port.host_side) input.ring = ring_of(port.slot);
  }

  Network net_;
};

}  // namespace

Result<Network> build_network(std::shared_ptr<const Fabric> fabric, Programming programming,
                              DataPlane plane) {
  if (auto ok = check(plane, *fabric, programming); !ok) return fail(ok.error());
  return NetworkBuilder{std::move(fabric), std::move(programming), std::move(plane)}.build();
}

}  // namespace heddle::packet
