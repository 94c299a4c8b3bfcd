// Speed of the packet simulator, on the cases of the table and on trees that grow.
// Rates are per second of CPU time: build the release preset, then build/release/tests/bench/packet_bench.
#include <benchmark/benchmark.h>

#include "support/packet_plant.h"

namespace heddle::packet {
namespace {

struct Case {
  const char* fabric;
  std::int32_t flits;  ///< of a packet
  int vls;
  double rate;
  RingRule ring_rule = RingRule::None;
  UpRouting up_routing = UpRouting::Programmed;
};

void run(benchmark::State& state, const Case& what) {
  const auto at = testing_support::plant(what.fabric);
  DataPlane with = testing_support::plane(what.vls, what.flits, 8 * std::max(4, what.flits / 4));
  with.ring_rule = what.ring_rule;
  with.up_routing = what.up_routing;
  // Half of the VLs are for those that have crossed the date line.
  const int lanes = what.ring_rule == RingRule::DateLine ? what.vls / 2 : what.vls;
  for (std::size_t sl = 0; sl < 32; ++sl) {
    with.sl_to_vl[sl] = static_cast<std::uint8_t>(sl % static_cast<unsigned>(lanes));
  }
  PacketSim sim = testing_support::simulator(at, with);
  for (int lane = 0; lane < lanes; ++lane) {
    sim.add_traffic(
        {.sl = static_cast<std::uint8_t>(lane), .message_flits = what.flits, .rate = what.rate / lanes}, 7);
  }
  sim.run_until(2000);
  sim.start_measuring();
  const Totals before = sim.totals();
  const Cycle from = sim.now();
  const Cycle step = std::max<Cycle>(100, 200000 / sim.host_count());
  for (auto _ : state) sim.run_until(sim.now() + step);
  const Totals& after = sim.totals();
  const auto rate = [&](std::uint64_t Totals::*what_counts) {
    return benchmark::Counter(static_cast<double>(after.*what_counts - before.*what_counts),
                              benchmark::Counter::kIsRate);
  };
  state.counters["flit_hops"] = rate(&Totals::flit_hops);
  state.counters["packet_hops"] = rate(&Totals::packet_hops);
  state.counters["events"] = rate(&Totals::events);
  std::uint64_t flits = 0;
  for (const Flow& flow : sim.measurements().by_sl) flits += flow.flits;
  state.counters["accepted"] =
      static_cast<double>(flits) / static_cast<double>(sim.now() - from) / sim.host_count();
  state.counters["in_flight"] = static_cast<double>(sim.packets_in_flight());
}

constexpr const char* torus = "torus:8x8,hosts=1,links=1";
constexpr const char* tree = "tree:k=8,n=3";

BENCHMARK_CAPTURE(run, torus_16_flits, Case{torus, 16, 4, 0.28, RingRule::DateLine});
BENCHMARK_CAPTURE(run, torus_1_flit, Case{torus, 1, 2, 0.3, RingRule::DateLine});
BENCHMARK_CAPTURE(run, tree_16_flits, Case{tree, 16, 4, 0.3, RingRule::None, UpRouting::Valiant});
BENCHMARK_CAPTURE(run, tree_1_flit, Case{tree, 1, 2, 0.5, RingRule::None, UpRouting::Valiant});
BENCHMARK_CAPTURE(run, hosts_128,
                  Case{"fattree:hosts=128,radix=16", 1, 2, 0.2, RingRule::None, UpRouting::Valiant});
BENCHMARK_CAPTURE(run, hosts_1024,
                  Case{"fattree:hosts=1024,radix=16", 1, 2, 0.2, RingRule::None, UpRouting::Valiant});
BENCHMARK_CAPTURE(run, hosts_8192,
                  Case{"fattree:hosts=8192,radix=32", 1, 2, 0.2, RingRule::None, UpRouting::Valiant});

}  // namespace
}  // namespace heddle::packet

BENCHMARK_MAIN();
