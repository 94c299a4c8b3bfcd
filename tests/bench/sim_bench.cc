// The simulated fabric by itself: what one MAD costs, there and back, on a fabric of about 46,000 ports.

#include <benchmark/benchmark.h>

#include <vector>

#include "fabric/generators.h"
#include "mad/counters.h"
#include "mad/header.h"
#include "sim/bring_up.h"
#include "sim/simulated_fabric.h"

namespace heddle::sim {
namespace {

constexpr const char* large_tree = "fattree:hosts=8400,radix=36";

struct Bench {
  Bench() {
    bring_up(fabric);
    PortIndex own = no_port;
    for (std::uint32_t i = 0; i < fabric.description().ports().size(); ++i) {
      const Port& port = fabric.description().port(PortIndex{i});
      if (port.link == no_link) continue;
      const Node& node = fabric.description().node(port.node);
      const bool is_switch = node.type == NodeType::Switch;
      if (!is_switch && own == no_port) own = PortIndex{i};
      const PortIndex agent = is_switch ? node.first_port : PortIndex{i};
      ports.push_back({fabric.port_info(agent).lid, port.num});
    }
    client = fabric
                 .attach(own,
                         [this](const mad::Packet& packet, Picoseconds) {
                           const auto counters =
                               mad::decode_gmp<mad::PortCountersExtended>(mad::gmp_data(packet.mad));
                           benchmark::DoNotOptimize(counters.xmit_data);
                           ++answers;
                         })
                 .value();
  }

  struct Target {
    Lid lid;
    PortNum num;
  };

  SimulatedFabric fabric{generate(large_tree).value()};
  std::vector<Target> ports;
  ClientId client;
  std::size_t answers = 0;
};

Bench& bench() {
  static Bench instance;
  return instance;
}

mad::Packet counters_of(const Bench::Target& target, mad::PmAttr attribute) {
  mad::Packet packet;
  mad::Header header;
  header.mgmt_class = mad::MgmtClass::Perf;
  header.attribute = static_cast<std::uint16_t>(attribute);
  mad::write_header(header, packet.mad);
  packet.address.dlid = target.lid;
  packet.address.dqp = packet.address.sqp = mad::gsi_qp;
  packet.mad[mad::gmp_data_offset + 1] = target.num.raw();
  return packet;
}

/// A sweep in batches of 64, decoded by the receiver.
void sweep(benchmark::State& state, mad::PmAttr attribute) {
  Bench& b = bench();
  const std::size_t before = b.answers;
  std::size_t sent = 0;
  for (auto _ : state) {
    b.fabric.send(Picoseconds{0}, b.client, counters_of(b.ports[sent % b.ports.size()], attribute));
    if (++sent % 64 == 0) b.fabric.advance(Picoseconds{0});
  }
  b.fabric.advance(Picoseconds{0});
  if (b.answers - before != sent) state.SkipWithError("answers are missing");
  state.counters["ports"] = static_cast<double>(b.ports.size());
  state.SetItemsProcessed(static_cast<std::int64_t>(sent));
}

void extended_counters(benchmark::State& state) { sweep(state, mad::PmAttr::PortCountersExtended); }
BENCHMARK(extended_counters);

void port_counters(benchmark::State& state) { sweep(state, mad::PmAttr::PortCounters); }
BENCHMARK(port_counters);

/// Three hops out and back.
void port_info_by_directed_route(benchmark::State& state) {
  Bench& b = bench();
  mad::Packet packet;
  mad::Header header;
  header.mgmt_class = mad::MgmtClass::SubnDirected;
  header.attribute = static_cast<std::uint16_t>(mad::SmAttr::PortInfo);
  header.modifier = 1;
  mad::DirectedRoute route;
  route.hop_count = 3;
  route.initial_path[1] = PortNum{1};
  route.initial_path[2] = PortNum{19};
  route.initial_path[3] = PortNum{19};
  mad::write_directed_route(route, packet.mad);
  mad::write_header(header, packet.mad);
  const std::size_t before = b.answers;
  std::size_t sent = 0;
  for (auto _ : state) {
    b.fabric.send(Picoseconds{0}, b.client, packet);
    if (++sent % 64 == 0) b.fabric.advance(Picoseconds{0});
  }
  b.fabric.advance(Picoseconds{0});
  if (b.answers - before != sent) state.SkipWithError("answers are missing");
}
BENCHMARK(port_info_by_directed_route);

}  // namespace
}  // namespace heddle::sim

BENCHMARK_MAIN();
