// Sampling and scraping of a fabric of 8,400 hosts with their switches (50,400 ports), the simulated fabric
// in the same process, window 64: ports a second at one and two MADs a port, what a sweep, a scrape and 1 Hz
// sampling take, memory per port, and where the time of a sweep goes.
//
//   sampling_bench [GENERATOR]      all figures are CPU time of one core

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <vector>

#include "base/random.h"
#include "bench/cpu_seconds.h"
#include "mad/counters.h"
#include "metrics/metrics.h"
#include "sampling/readings.h"
#include "sampling/sampler.h"
#include "sim/bring_up.h"
#include "sim/flow/fabric_view.h"
#include "sim/flow/flow_plane.h"
#include "support/sim_world.h"

namespace heddle {
namespace {

double resident_bytes() {
  std::ifstream file{"/proc/self/statm"};
  double pages = 0;
  file >> pages >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double timed(const std::function<void()>& work) {
  const double begin = cpu_seconds();
  work();
  return cpu_seconds() - begin;
}
double best_of(int times, const std::function<void()>& work) {
  double best = timed(work);
  for (int i = 1; i < times; ++i) best = std::min(best, timed(work));
  return best;
}

sim::Options options_of(bool wide_errors) {
  sim::Options options;
  options.traits.extended_errors = wide_errors;
  return options;
}

struct World {
  World(const std::shared_ptr<const Fabric>& description, bool wide_errors)
      : fabric{description}, sim{description, options_of(wide_errors)}, view{sim.fabric}, plane{view} {
    sim.fabric.set_change_listener(&plane);
    sim::bring_up(sim.fabric);
    sim.fabric.set_counter_source(&plane);
    // Every host sends to another.
    std::vector<PortIndex> hosts;
    for (const Node& node : fabric->nodes()) {
      if (node.type == NodeType::ChannelAdapter) hosts.push_back(PortIndex{node.first_port.raw() + 1});
    }
    std::vector<PortIndex> targets = hosts;
    Random{1}.shuffle(targets);
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      if (hosts[i] != targets[i])
        static_cast<void>(plane.add({.from = hosts[i], .to = targets[i]}, sim.ps()));
    }
    const auto figures = plane.figures(sim.ps());
    fmt::print("{} flows, {} of them without a route, {:.0f} Gbit/s\n", figures.flows, figures.unroutable,
               figures.delivered.value() / 1e9);
    sampler.use(fabric);
  }
  ~World() {
    sim.fabric.set_counter_source(nullptr);
    sim.fabric.set_change_listener(nullptr);
  }

  void sweep() {
    sim.now += std::chrono::seconds{1};
    if (!sampler.begin_sweep(sim.now)) std::abort();
    sim.run([&] { return !sampler.sweeping(); });
  }

  std::shared_ptr<const Fabric> fabric;
  test::SimWorld sim;
  sim::FabricView view;
  sim::FlowPlane plane;
  metrics::Metrics metrics;
  sampling::Sampler sampler{
      sim.engine, {.interval = {}, .history = 300}, [this](std::shared_ptr<const load::Sample> sample) {
        metrics.publish(std::move(sample), sampler.statistics(), sim.engine);
      }};
};

void print(const char* what, double value, const char* unit, const char* goal = "") {
  fmt::print("{:<56} {:>12.3f} {:<10} {}\n", what, value, unit, goal);
  std::fflush(stdout);
}

double print_sweep(World& world, double ports, const char* mads, const char* goal) {
  world.sweep();
  const double once = best_of(5, [&] { world.sweep(); });
  const load::Sample& sample = *world.sampler.latest();
  print(fmt::format("sweep, {} MAD(s) a port", mads).c_str(), once, "s", goal);
  print("  ports a second", ports / once, "ports/s", mads[0] == '2' ? "at least 200000" : "");
  const auto fresh = std::ranges::count(sample.ports, load::PortStatus::Fresh, &load::PortSample::status);
  fmt::print("  {} ports read, {} failures, mean utilization {:.3f}\n", fresh, sample.failures.size(),
             sample.total.links.utilization_mean);
  return once;
}

/// The parts of a sweep, each alone, as often as a sweep at two MADs a port has them.
void print_parts(World& world, std::size_t ports) {
  fmt::print("\nwhere the time of a sweep at two MADs a port goes\n");
  const Fabric& fabric = *world.fabric;
  std::vector<mad::Packet> requests;
  requests.reserve(2 * ports);
  const auto make_requests = [&] {
    requests.clear();
    for (const PortIndex port : world.sampler.agents().ports()) {
      const Port& p = fabric.port(port);
      const Node& node = fabric.node(p.node);
      const Lid lid = node.type == NodeType::Switch ? fabric.port(node.first_port).lid : p.lid;
      for (const auto attribute : {mad::PmAttr::PortCountersExtended, mad::PmAttr::PortCounters}) {
        transport::PmaAddress address;
        address.dlid = lid;
        requests.push_back(transport::perf_gmp(mad::Method::Get, attribute, 0, address));
        mad::select_port(p.num, mad::gmp_data(requests.back().mad));
      }
    }
  };
  make_requests();
  std::vector<mad::Packet> answers;
  answers.reserve(requests.size());
  const auto client = *world.sim.fabric.attach(
      world.sim.port(), [&](const mad::Packet& packet, Picoseconds) { answers.push_back(packet); });
  const double simulator = timed([&] {
    std::uint64_t tid = 1;
    for (mad::Packet& packet : requests) {
      mad::Header header = mad::read_header(packet.mad);
      header.tid = tid++;
      mad::write_header(header, packet.mad);
      world.sim.fabric.send(world.sim.ps(), client, packet);
      if (tid % 64 == 0) world.sim.fabric.advance(world.sim.ps());
    }
    world.sim.fabric.advance(world.sim.ps());
  });
  world.sim.fabric.detach(client);
  print("  simulated fabric: PMA, forwarding, counters", simulator, "s");
  if (answers.size() != requests.size()) fmt::print("  {} answers?\n", answers.size());

  load::Reading reading;
  const double decoding = timed([&] {
    for (std::size_t i = 0; i < answers.size(); i += 2) {
      const auto wide = mad::decode_gmp<mad::PortCountersExtended>(mad::gmp_data(answers[i].mad));
      sampling::read_extended(wide, load::traffic_counters | load::cast_counters, world.sim.now, reading);
      const auto narrow = mad::decode_gmp<mad::PortCounters>(mad::gmp_data(answers[i + 1].mad));
      sampling::read_basic(narrow, load::error_counters, world.sim.now, reading);
    }
  });
  print("  decoding", decoding, "s");

  load::Accumulator accumulator;
  accumulator.rebase(world.fabric, load::LocalitySets::find(fabric, {}));
  double adding = 0;
  double finishing = 0;
  for (int sweep = 1; sweep < 4; ++sweep) {
    const Instant now{std::chrono::seconds{sweep}};
    adding = timed([&] {
      for (const PortIndex port : world.sampler.agents().ports()) {
        reading.at = now;
        reading.present = load::traffic_counters | load::cast_counters;
        accumulator.add(port, reading);
        reading.present = load::error_counters;
        accumulator.add(port, reading);
      }
    });
    finishing = timed([&] { static_cast<void>(accumulator.finish(now, now)); });
  }
  print("  totals of each reading", adding, "s");
  print("  rates, figures, locality at the end", finishing, "s");
  load::History history{300};
  history.rebase(world.fabric);
  const auto sample = world.sampler.latest();
  if (sample->fabric == world.fabric) {
    print("  history", best_of(3, [&] { history.append(*sample); }), "s");
  }
}

int run(const std::string& spec) {
  const double before = resident_bytes();
  const auto generated = generate(spec);
  if (!generated) {
    fmt::print(stderr, "{}\n", generated.error().message);
    return 2;
  }
  const auto fabric = *assign_lids(**generated);
  const std::size_t ports = [&] {
    std::size_t count = 0;
    for (const Port& port : fabric->ports()) count += port.link != no_link ? 1 : 0;
    return count;
  }();
  const auto of_ports = static_cast<double>(ports);
  fmt::print("{}: {} nodes, {} links, {} cabled ports\n\n", spec, fabric->nodes().size(),
             fabric->links().size(), ports);

  {
    World world{fabric, false};
    print_sweep(world, of_ports, "2", "below 0.5");
    print_parts(world, ports);
  }
  fmt::print("\n");
  malloc_trim(0);  // what the first world leaves behind
  World world{fabric, true};
  const double sweep = print_sweep(world, of_ports, "1", "below 0.5");
  print("1 Hz sampling", 100 * sweep, "% of core", "below 50");

  // A whole scrape, thrown away as it comes.
  std::string piece;
  double bytes = 0;
  double longest = 0;
  const double scrape = best_of(3, [&] {
    bytes = longest = 0;
    auto exposition = world.metrics.scrape();
    bool more = true;
    while (more) {
      piece.clear();
      longest = std::max(longest, timed([&] { more = exposition.next(piece); }));
      bytes += static_cast<double>(piece.size());
    }
  });
  print("scrape", scrape, "s", "below 0.5");
  print("  text", bytes / 1e6, "MB");
  print("  longest piece (the most that a sweep waits for)", longest * 1e3, "ms");

  for (int i = 0; i < 300; ++i) {
    if (world.sampler.history().sweeps() == 300) break;
    world.sweep();
  }
  const double memory = resident_bytes() - before;
  print("memory, simulator and history of 300 sweeps included", memory / 1e6, "MB");
  print("  per port", memory / of_ports, "bytes", "below 4096");
  return 0;
}

}  // namespace
}  // namespace heddle

int main(int argc, char** argv) { return heddle::run(argc > 1 ? argv[1] : "fattree:hosts=8400,radix=40"); }
