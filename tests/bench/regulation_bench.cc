// What a plan costs: from a sample to the set of links, and from rising load to the order that brings links
// back.

#include <benchmark/benchmark.h>

#include <cstdlib>

#include "fabric/generators.h"
#include "fabric/source.h"
#include "regulation/governor.h"
#include "routing/quality.h"

namespace heddle::regulation {
namespace {

/// 11,664 hosts and 1,620 switches: 34,992 links, 46,656 switch ports between switches and 11,664 to hosts.
const char* const large = "xgft:3;18,18,36;1,18,18";
const char* const paper = "torus:8x8,hosts=1,links=4,speed=DDR,ports=24";

struct Scene {
  std::shared_ptr<const Fabric> fabric;
  std::unique_ptr<Network> network;
  std::shared_ptr<const load::Sample> sample;
  power::PowerModel power;
  std::vector<Exempt> exempt;
  routing::LinkSet all;

  /// `source`: a generator or a file.
  Scene(const std::string& source, double load, std::uint8_t lmc = 0)
      : fabric{*assign_lids(*load_fabric(source).value().fabric, lmc)} {
    NetworkOptions options;
    options.managers = {manager()};
    options.planes = 1U << lmc;
    network = *Network::make(fabric, options);
    exempt = exemptions(*fabric, {}, {}, {});
    all = all_links();
    sample = sample_of(load);
  }
  /// Every port alike, as where all that flows is more than the links bear.
  [[nodiscard]] std::shared_ptr<const load::Sample> every_port(double load, Instant began) const {
    auto result = std::make_shared<load::Sample>(*sample);
    result->began = began;
    for (const Link& link : fabric->links()) {
      const double rate = data_rate(link.width, link.speed).value();
      for (const LinkEnd end : {link.a, link.b})
        result->ports[fabric->port_index(end).raw()].xmit_bytes_per_second =
            static_cast<float>(load * rate / 8);
    }
    return result;
  }
  [[nodiscard]] routing::LinkSet all_links() const { return routing::LinkSet::all(*fabric); }
  [[nodiscard]] Lid manager() const {
    for (const Port& port : fabric->ports()) {
      if (fabric->node(port.node).type == NodeType::ChannelAdapter && port.lid != no_lid) return port.lid;
    }
    return no_lid;
  }
  /// Every host sends `load` of its link to all others alike; links between switches carry what that makes.
  [[nodiscard]] std::shared_ptr<const load::Sample> sample_of(double load) const {
    auto result = std::make_shared<load::Sample>();
    result->fabric = fabric;
    result->ports.resize(fabric->ports().size());
    const routing::SwitchGraph& graph = network->graph();
    const auto set = [&](PortIndex port, double bits) {
      result->ports[port.raw()].xmit_bytes_per_second = static_cast<float>(bits / 8);
      result->ports[port.raw()].congestion = 0;
    };
    const double rate = load * network->capacity(fabric->port(graph.targets().back().port).link);
    for (const routing::Target& target : graph.targets()) {
      if (target.kind != routing::TargetKind::Host) continue;
      set(target.port, rate);
      set(fabric->port_index(graph.node(target.at), target.out), rate);
    }
    const auto hosts = network->host_switches();
    const double count = static_cast<double>(graph.host_count());
    Traffic traffic{TrafficMatrix{hosts.size()}, std::vector<double>(graph.targets().size(), 0)};
    for (std::size_t s = 0; s < hosts.size(); ++s) {
      const double from = graph.hosts_at(hosts[s]);
      for (std::size_t d = 0; d < hosts.size(); ++d) {
        if (s != d) traffic.matrix.set(s, d, from * rate * graph.hosts_at(hosts[d]) / (count - 1));
      }
      for (const std::uint32_t t : graph.targets_at(hosts[s])) traffic.share[t] = 1 / from;
    }
    const std::vector<double> carried = predicted_loads(*network, network->tables(all_links()), traffic);
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
      const routing::SwitchIndex s{i};
      std::size_t at = graph.first_hop(s);
      for (const routing::Hop& hop : graph.hops(s))
        set(fabric->port_index(graph.node(s), hop.out), carried[at++]);
    }
    return result;
  }
};

void plan(benchmark::State& state, const char* spec, SelectPolicy policy) {
  Scene scene{spec, 0.1};
  SelectOptions options;
  options.policy = policy;
  for (auto _ : state) {
    const MeasuredLoads loads = measured_loads(*scene.network, *scene.sample);
    const Traffic traffic = estimate_traffic(*scene.network, loads, scene.network->tables(scene.all));
    SelectionProblem problem;
    problem.network = scene.network.get();
    problem.power = &scene.power;
    problem.exempt = scene.exempt;
    problem.available = problem.current = &scene.all;
    problem.loads = &loads;
    problem.traffic = &traffic;
    const auto selection = select_links(problem, options);
    state.counters["off"] = static_cast<double>(scene.all.count() - selection->active.count());
    state.counters["of_least"] = selection->watts / selection->least_watts;
    state.counters["busiest"] = selection->busiest;
  }
}
BENCHMARK_CAPTURE(plan, torus_8x8_trunk, paper, SelectPolicy::Trunk)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan, torus_8x8_general, paper, SelectPolicy::General)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan, ports_46000_trunk, large, SelectPolicy::Trunk)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(2);
BENCHMARK_CAPTURE(plan, ports_46000_general, large, SelectPolicy::General)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(2);

/// From the sample with the rising load to the order: half of all links between switches are off.
void fast_back(benchmark::State& state, const char* spec) {
  const Scene scene{spec, 0.9, 1};
  using std::chrono::seconds;
  const auto rising = scene.every_port(0.9, Instant{} + seconds{3});
  Memory memory;
  std::vector<LinkRef> down;
  for (const Trunk& trunk : scene.network->trunks()) {
    for (const LinkIndex link : trunk.links) {
      if (link.raw() % 2 != 0) continue;
      OffRecord off;
      off.link = link_ref(*scene.fabric, scene.fabric->link(link));
      off.port = off.link.a;
      off.full = power::mode_of(scene.fabric->link(link));
      off.reason = "quiet";
      memory.off[off.link] = off;
      down.push_back(off.link);
    }
  }
  for (auto _ : state) {
    state.PauseTiming();
    GovernorOptions options;
    options.mode = Mode::Enforce;
    options.select.policy = SelectPolicy::General;
    Governor governor{options};
    (void)governor.on(
        {Instant{}, TopologyChanged{scene.fabric, {scene.manager()}, scene.network->ranks_by_guid()}});
    StepId step;
    for (const Action& action : governor.on({Instant{}, Restarted{memory, down}})) {
      if (const auto* write = std::get_if<WriteTables>(&action)) step = write->step;
    }
    (void)governor.on({Instant{}, StepDone{step}});
    (void)governor.on({Instant{}, StepDone{StepId{step.raw() + 1}}});
    // Quiet samples first, of which the second is all of the tables in force, so that it is judged: the
    // selection that it calls for is not due again so soon.
    for (const int second : {1, 2}) {
      const Instant at = Instant{} + seconds{second};
      (void)governor.on({at, LoadsMeasured{scene.every_port(0.01, at)}});
    }
    state.ResumeTiming();
    const auto actions = governor.on({Instant{} + seconds{3}, LoadsMeasured{rising}});
    for (const Action& action : actions) {
      if (const auto* ports = std::get_if<SetPorts>(&action))
        state.counters["links"] = static_cast<double>(ports->ports.size());
    }
  }
}
BENCHMARK_CAPTURE(fast_back, ports_46000, large)->Unit(benchmark::kMillisecond)->Iterations(2);
BENCHMARK_CAPTURE(fast_back, torus_8x8, paper)->Unit(benchmark::kMillisecond)->Iterations(20);

}  // namespace

/// What HEDDLE_FABRIC names: a file or a generator.
void add_file(const char* source) {
  for (const auto& [name, policy] : {std::pair{"plan/file_trunk", SelectPolicy::Trunk},
                                     std::pair{"plan/file_general", SelectPolicy::General}}) {
    benchmark::RegisterBenchmark(name, plan, source, policy)->Unit(benchmark::kMillisecond)->Iterations(2);
  }
}

}  // namespace heddle::regulation

int main(int argc, char** argv) {
  if (const char* const source = std::getenv("HEDDLE_FABRIC")) heddle::regulation::add_file(source);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
