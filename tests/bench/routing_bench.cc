/// Time of routing, rerouting and proving on full trees. Targets (one core): 11,664 hosts routed in 0.3 s,
/// with LMC 1 in 0.5 s; 16,000 hosts with LMC 1 in 0.8 s below 400 MB; one link in 5 ms; a proof in 1 s.
/// tests/bench/opensm_ratio.sh puts OpenSM's time beside it. HEDDLE_FABRIC=FILE adds that fabric (RouteFile,
/// OneLinkFile); selene-compute is to be routed in 0.3 s, and a link of it to be changed in 10 ms.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>

#include "base/random.h"
#include "fabric/generators.h"
#include "fabric/source.h"
#include "routing/proof.h"
#include "routing/quality.h"
#include "routing/update_plan.h"
#include "routing/updn.h"

namespace heddle::routing {
namespace {

std::shared_ptr<const Fabric> tree(std::int64_t hosts, std::int64_t lmc) {
  const std::string spec = hosts == 16000   ? "fattree:hosts=16000,radix=40"
                           : hosts == 11664 ? "tree:k=18,n=3,full"
                           : hosts == 3456  ? "tree:k=12,n=3,full"
                                            : "tree:k=8,n=3,full";
  return assign_lids(*generate(spec).value(), static_cast<std::uint8_t>(lmc)).value();
}

void note_memory(benchmark::State& state) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_MB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}

LinkIndex random_switch_link(const Fabric& fabric, Random& random) {
  while (true) {
    const LinkIndex link{static_cast<std::uint32_t>(random.below(fabric.links().size()))};
    if (fabric.node(fabric.link(link).a.node).type == NodeType::Switch &&
        fabric.node(fabric.link(link).b.node).type == NodeType::Switch) {
      return link;
    }
  }
}

void Route(benchmark::State& state) {
  const auto fabric = tree(state.range(0), state.range(1));
  for (auto _ : state) {
    auto router = UpDownRouter::make(*fabric).value();
    benchmark::DoNotOptimize(router.tables().row(SwitchIndex{0}).data());
  }
  note_memory(state);
  const auto router = UpDownRouter::make(*fabric).value();
  const Loads loads = all_to_all(router.graph(), router.tables());
  state.counters["largest_over_mean"] = loads.largest() / loads.mean(router.graph(), LinkSet::all(*fabric));
}
BENCHMARK(Route)
    ->ArgNames({"hosts", "lmc"})
    ->Args({1024, 0})
    ->Args({3456, 0})
    ->Args({3456, 1})
    ->Args({11664, 0})
    ->Args({11664, 1})
    ->Args({16000, 1})
    ->Unit(benchmark::kMillisecond);

/// One link off, or on again.
void one_link(benchmark::State& state, const Fabric& fabric) {
  auto router = UpDownRouter::make(fabric).value();
  const LinkSet all = LinkSet::all(fabric);
  Random random(1);
  std::size_t blocks = 0;
  bool off = false;
  LinkSet active = all;
  for (auto _ : state) {
    state.PauseTiming();
    active = all;
    if (!off) active.erase(random_switch_link(fabric, random));
    off = !off;
    state.ResumeTiming();
    blocks = std::max(blocks, router.update(active).size());
  }
  state.counters["most_blocks"] = static_cast<double>(blocks);
}
void OneLink(benchmark::State& state) { one_link(state, *tree(state.range(0), state.range(1))); }
BENCHMARK(OneLink)
    ->ArgNames({"hosts", "lmc"})
    ->Args({11664, 0})
    ->Args({11664, 1})
    ->Args({16000, 1})
    ->Unit(benchmark::kMillisecond);

void Prove(benchmark::State& state) {
  const auto fabric = tree(state.range(0), state.range(1));
  const auto router = UpDownRouter::make(*fabric).value();
  for (auto _ : state) {
    if (!prove(router.graph(), router.tables()).holds()) state.SkipWithError("refuted");
  }
}
BENCHMARK(Prove)
    ->ArgNames({"hosts", "lmc"})
    ->Args({11664, 0})
    ->Args({11664, 1})
    ->Unit(benchmark::kMillisecond);

/// Plan and proof of every mixture for one link that goes off.
void Transition(benchmark::State& state) {
  const auto fabric = tree(state.range(0), state.range(1));
  auto router = UpDownRouter::make(*fabric).value();
  const ForwardingTables before = router.tables();
  LinkSet active = LinkSet::all(*fabric);
  Random random(1);
  active.erase(random_switch_link(*fabric, random));
  router.update(active);
  std::size_t stages = 0;
  for (auto _ : state) {
    stages =
        plan_update(router.graph(), router.ranks(), before, router.tables(), &router.mends())->stages.size();
  }
  state.counters["stages"] = static_cast<double>(stages);
}
BENCHMARK(Transition)->ArgNames({"hosts", "lmc"})->Args({11664, 0})->Unit(benchmark::kMillisecond);

std::shared_ptr<const Fabric> described(const char* source, std::int64_t lmc) {
  return assign_lids(*load_fabric(source).value().fabric, static_cast<std::uint8_t>(lmc)).value();
}
void RouteFile(benchmark::State& state, const char* source) {
  const auto fabric = described(source, state.range(0));
  for (auto _ : state) {
    auto router = UpDownRouter::make(*fabric).value();
    benchmark::DoNotOptimize(router.tables().row(SwitchIndex{0}).data());
  }
}
void OneLinkFile(benchmark::State& state, const char* source) {
  one_link(state, *described(source, state.range(0)));
}

}  // namespace

void add_file(const char* source) {
  for (const auto& [name, run] :
       {std::pair{"RouteFile", &RouteFile}, std::pair{"OneLinkFile", &OneLinkFile}}) {
    benchmark::RegisterBenchmark(name, run, source)
        ->ArgName("lmc")
        ->Arg(0)
        ->Arg(1)
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace heddle::routing

int main(int argc, char** argv) {
  if (const char* const source = std::getenv("HEDDLE_FABRIC")) heddle::routing::add_file(source);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
