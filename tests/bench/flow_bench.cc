// The flow level: max-min rates of 100,000 flows on a 22-ary 3-tree (10,648 hosts, 63,888 channels), and the
// repair after one flow more or less.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>
#include <vector>

#include "base/random.h"
#include "fabric/generators.h"
#include "sim/bring_up.h"
#include "sim/flow/fabric_view.h"
#include "sim/flow/flow_plane.h"
#include "sim/flow/max_min.h"
#include "sim/scenario_hosts.h"
#include "sim/scenario_player.h"
#include "sim/simulated_fabric.h"

namespace heddle::sim {
namespace {

constexpr std::uint32_t k = 22;
constexpr std::uint32_t hosts = k * k * k;
constexpr double rate = 200e9;

enum class Demand : std::int64_t { Unlimited, Mixed, Light };

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Channels in six blocks: host to leaf, leaf to middle, middle to top, and down again. Up ports follow the
/// digits of the destination (d-mod-k).
std::vector<ChannelId> path(std::uint32_t from, std::uint32_t to) {
  const auto block = [](std::uint32_t stage, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return ChannelId{((stage * k + a) * k + b) * k + c};
  };
  const std::uint32_t from_pod = from / (k * k), from_leaf = from / k % k, from_port = from % k;
  const std::uint32_t pod = to / (k * k), leaf = to / k % k, port = to % k;
  std::vector<ChannelId> result{block(0, from_pod, from_leaf, from_port)};
  if (from / k != to / k) {
    result.push_back(block(1, from_pod, from_leaf, port));
    if (from_pod != pod) {
      result.push_back(block(2, from_pod, port, leaf));
      result.push_back(block(3, port, leaf, pod));
    }
    result.push_back(block(4, pod, port, leaf));
  }
  result.push_back(block(5, pod, leaf, port));
  return result;
}

struct Flow {
  std::vector<ChannelId> path;
  BitRate demand;
};

class Traffic {
 public:
  explicit Traffic(Demand demand) : demand_{demand} {}

  Flow flow() {
    const auto from = static_cast<std::uint32_t>(random.below(hosts));
    const auto to = static_cast<std::uint32_t>((from + 1 + random.below(hosts - 1)) % hosts);
    const double most = demand_ == Demand::Light ? 0.05 : 0.3;
    return {path(from, to), demand_ == Demand::Unlimited ? unlimited : BitRate{random.unit() * most * rate}};
  }
  std::vector<Flow> flows(std::int64_t count) {
    std::vector<Flow> result;
    for (std::int64_t i = 0; i < count; ++i) result.push_back(flow());
    return result;
  }

  Random random{1};

 private:
  Demand demand_;
};

MaxMin empty_net() { return MaxMin(std::vector<BitRate>(6UL * hosts, BitRate{rate})); }

void solve_from_scratch(benchmark::State& state) {
  MaxMin net = empty_net();
  for (const Flow& flow : Traffic(static_cast<Demand>(state.range(0))).flows(100'000)) {
    net.add(flow.path, flow.demand);
  }
  net.solve();
  for (auto _ : state) net.solve();
}
BENCHMARK(solve_from_scratch)->ArgName("demand")->DenseRange(0, 2)->Unit(benchmark::kMillisecond);

/// The same with all that comes before: the lists of flows per channel from nothing.
void add_flows_and_solve(benchmark::State& state) {
  const auto flows = Traffic(static_cast<Demand>(state.range(0))).flows(100'000);
  for (auto _ : state) {
    MaxMin net = empty_net();
    for (const Flow& flow : flows) net.add(flow.path, flow.demand);
    net.solve();
    benchmark::DoNotOptimize(net.rate(FlowId{0}));
  }
}
BENCHMARK(add_flows_and_solve)->ArgName("demand")->DenseRange(0, 2)->Unit(benchmark::kMillisecond);

struct Update {
  double seconds;
  std::size_t changed;
  std::size_t repaired;
};

/// CPU time of one update: quantiles, and mean and worst of those that changed at most 100 flows ("few").
void report(benchmark::State& state, std::vector<Update> updates) {
  std::sort(updates.begin(), updates.end(),
            [](const Update& a, const Update& b) { return a.seconds < b.seconds; });
  const auto at = [&](double quantile) {
    return updates[static_cast<std::size_t>(quantile * static_cast<double>(updates.size() - 1))];
  };
  double few = 0, few_worst = 0, few_count = 0;
  for (const Update& u : updates) {
    if (u.changed > 100) continue;
    few += u.seconds;
    few_worst = std::max(few_worst, u.seconds);
    ++few_count;
  }
  state.counters["p50_us"] = at(0.5).seconds * 1e6;
  state.counters["p50_changed"] = static_cast<double>(at(0.5).changed);
  state.counters["p50_repaired"] = static_cast<double>(at(0.5).repaired);
  state.counters["p90_us"] = at(0.9).seconds * 1e6;
  state.counters["p90_changed"] = static_cast<double>(at(0.9).changed);
  state.counters["few_us"] = few / std::max(1.0, few_count) * 1e6;
  state.counters["few_worst_us"] = few_worst * 1e6;
  state.counters["few_share"] = few_count / static_cast<double>(updates.size());
}

/// One flow goes, one comes, each with an update of its own.
void one_flow_more_or_less(benchmark::State& state) {
  Traffic traffic(static_cast<Demand>(state.range(0)));
  MaxMin net = empty_net();
  std::vector<FlowId> ids;
  for (const Flow& flow : traffic.flows(state.range(1))) ids.push_back(net.add(flow.path, flow.demand));
  net.solve();
  std::vector<Update> updates;
  const auto update = [&] {
    const double start = cpu_seconds();
    net.update();
    updates.push_back({cpu_seconds() - start, net.changed().size(), net.repaired()});
  };
  for (auto _ : state) {
    const std::size_t victim = traffic.random.below(ids.size());
    net.remove(ids[victim]);
    update();
    const Flow flow = traffic.flow();
    ids[victim] = net.add(flow.path, flow.demand);
    update();
  }
  report(state, std::move(updates));
}
BENCHMARK(one_flow_more_or_less)
    ->ArgNames({"demand", "flows"})
    ->Args({0, 10'000})
    ->Args({0, 100'000})
    ->Args({1, 100'000})
    ->Args({2, 100'000})
    ->Iterations(500)
    ->Unit(benchmark::kMicrosecond);

constexpr Picoseconds second{1'000'000'000'000};

/// 8,000 hosts and 1,200 switches, brought up.
struct Live {
  Live() {
    fabric.set_change_listener(&plane);
    bring_up(fabric);
  }
  SimulatedFabric fabric{*generate("tree:k=20,n=3")};
  FabricView view{fabric};
  FlowPlane plane{view};
  ScenarioPlayer player{fabric.description()};
};

Live& live() {
  static Live everything;
  return everything;
}

/// A phase of uniform traffic comes and goes: routes, rates and meters of 64,000 flows.
void phase_comes_and_goes(benchmark::State& state) {
  Live& l = live();
  static Picoseconds now{0};
  const auto phase = parse_phase("load = 0.9\ndestinations = 8\n", "bench");
  for (auto _ : state) {
    now += second;
    const auto id = l.player.add(*phase, now);
    l.plane.set_schedule(&l.player);
    l.plane.advance(now + second / 2);
    static_cast<void>(l.player.remove(*id, l.plane, now + second / 2));
    l.plane.set_schedule(nullptr);
    l.plane.advance(now + second);
  }
}
BENCHMARK(phase_comes_and_goes)->Unit(benchmark::kMillisecond);

/// The same on four VLs, which share the links by default tables: 16,000 flows on each.
void phases_on_four_vls(benchmark::State& state) {
  Live& l = live();
  static Picoseconds now{1'000 * second};
  for (auto _ : state) {
    now += second;
    std::vector<PhaseId> ids;
    for (int sl = 0; sl < 4; ++sl) {
      const auto phase = parse_phase("load = 0.4\ndestinations = 2\nsl = " + std::to_string(sl), "bench");
      ids.push_back(*l.player.add(*phase, now));
    }
    l.plane.set_schedule(&l.player);
    l.plane.advance(now + second / 2);
    for (const PhaseId id : ids) static_cast<void>(l.player.remove(id, l.plane, now + second / 2));
    l.plane.set_schedule(nullptr);
    l.plane.advance(now + second);
  }
}
BENCHMARK(phases_on_four_vls)->Iterations(1)->Unit(benchmark::kMillisecond);

/// With 64,000 flows: a link goes off; then every port is read.
void link_off_then_read_all(benchmark::State& state) {
  Live l;
  static_cast<void>(l.player.add(*parse_phase("load = 0.9\ndestinations = 8\n", "bench"), Picoseconds{0}));
  l.plane.set_schedule(&l.player);
  l.plane.advance(second);
  const Fabric& fabric = l.fabric.description();
  Random random{1};
  Picoseconds now = second;
  double change = 0, read = 0;
  for (auto _ : state) {
    const LinkIndex link{static_cast<std::uint32_t>(random.below(fabric.links().size()))};
    const double start = cpu_seconds();
    now += second;
    l.fabric.cut(link, now);
    l.plane.advance(now + second / 2);
    const double middle = cpu_seconds();
    now += second;
    std::uint64_t sum = 0;
    for (std::uint32_t p = 0; p < fabric.ports().size(); ++p)
      sum += l.plane.read(PortIndex{p}, now).xmit_data;
    benchmark::DoNotOptimize(sum);
    change += middle - start;
    read += cpu_seconds() - middle;
  }
  const auto runs = static_cast<double>(state.iterations());
  state.counters["link_us"] = change / runs * 1e6;
  state.counters["read_ns_per_port"] = read / runs / static_cast<double>(fabric.ports().size()) * 1e9;
}
BENCHMARK(link_off_then_read_all)->Iterations(50)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace heddle::sim

BENCHMARK_MAIN();
