// Speed of pushing QoS tables to all ports of a simulated fabric and reading them back, and of a verify; the
// simulator in the same process, window 64. Time is that of the processor; the fabric's own stands beside it.

#include <fmt/format.h>

#include "bench/cpu_seconds.h"
#include "bench/fabric_argument.h"
#include "support/managed_world.h"

namespace heddle::vlarb {
namespace {

template <class Run>
void measure(ManagedWorld& world, std::string_view what, Run run) {
  const auto sent = world.sim.engine.statistics().sent;
  const Instant from = world.sim.now;
  const double cpu = cpu_seconds();
  const Outcome outcome = run();
  const double took = cpu_seconds() - cpu;
  fmt::print(
      "{:28} {:>8} MADs {:7.3f} s CPU {:7.3f} s fabric time, {} ports, {} written, {} differ, {} silent\n",
      what, world.sim.engine.statistics().sent - sent, took, seconds(world.sim.now - from),
      outcome.report.ports, outcome.report.ports_written, outcome.report.differ.size(),
      outcome.report.silent.size());
}

}  // namespace
}  // namespace heddle::vlarb

int main(int argc, char** argv) {
  using namespace heddle::vlarb;
  heddle::sim::Options options;
  options.mad_latency = heddle::Picoseconds{5'000'000};  // 5 us one way
  ManagedWorld world{heddle::fabric_argument(argc, argv, 1, "fattree:hosts=8400,radix=36"), options};
  world.bring_up();
  measure(world, "push and read back", [&] { return world.push(for_ports("")); });
  measure(world, "verify", [&] { return world.verify(); });
  measure(world, "push of what is there", [&] { return world.push(for_ports("")); });
  return 0;
}
