// Exact analysis of two full tables: the worst of many random and adversarial ones, not the mean.
#include <benchmark/benchmark.h>

#include "base/random.h"
#include "qos/analyzer.h"

namespace heddle::qos {
namespace {

ArbEntry random_entry(Random& random) {
  return {Vl{static_cast<std::uint8_t>(random.below(max_data_vls))},
          static_cast<std::uint8_t>(1 + random.below(255))};
}

VlArbitration full_tables(Random& random) {
  VlArbitration tables;
  for (std::size_t i = 0; i < max_entries; ++i) {
    tables.high.push_back(random_entry(random));
    tables.low.push_back(random_entry(random));
  }
  tables.limit = HighLimit{static_cast<std::uint8_t>(random.below(255))};
  return tables;
}

enum class Sizes { Default, PowersOfTwo, Odd };

AnalyzerOptions options(Random& random, LowGrant grant, Sizes sizes) {
  AnalyzerOptions out;
  out.grant = grant;
  for (auto& mix : out.packets) {
    if (sizes == Sizes::PowersOfTwo) mix = {64U << random.below(7)};
    if (sizes == Sizes::Odd) mix = {static_cast<std::uint32_t>(64 + random.below(40))};
  }
  return out;
}

/// A table of its own for each iteration.
void analyze_full_tables(benchmark::State& state, LowGrant grant, Sizes sizes) {
  std::uint64_t seed = 0;
  for (auto _ : state) {
    state.PauseTiming();
    Random random{++seed};
    const auto tables = full_tables(random);
    const auto chosen = options(random, grant, sizes);
    state.ResumeTiming();
    benchmark::DoNotOptimize(analyze(tables, chosen));
  }
}

void analyze_heaviest(benchmark::State& state) {
  // Two sizes that share no divisor, all weights the largest: the longest walk from grant to grant.
  VlArbitration tables;
  for (std::size_t i = 0; i < max_entries; ++i) {
    tables.high.push_back({Vl{static_cast<std::uint8_t>(i % 2)}, 255});
    tables.low.push_back({Vl{static_cast<std::uint8_t>(2 + i % 13)}, static_cast<std::uint8_t>(192 + i)});
  }
  tables.limit = HighLimit{static_cast<std::uint8_t>(state.range(0))};
  AnalyzerOptions chosen;
  chosen.packets[1] = {65};
  for (auto _ : state) benchmark::DoNotOptimize(analyze(tables, chosen));
}

BENCHMARK_CAPTURE(analyze_full_tables, entry_grant, LowGrant::Entry, Sizes::Default);
BENCHMARK_CAPTURE(analyze_full_tables, packet_grant, LowGrant::Packet, Sizes::Default);
BENCHMARK_CAPTURE(analyze_full_tables, entry_grant_sizes_per_vl, LowGrant::Entry, Sizes::PowersOfTwo);
BENCHMARK_CAPTURE(analyze_full_tables, entry_grant_odd_sizes, LowGrant::Entry, Sizes::Odd);
BENCHMARK(analyze_heaviest)->Arg(1)->Arg(16)->Arg(60)->Arg(254);

}  // namespace
}  // namespace heddle::qos

BENCHMARK_MAIN();
