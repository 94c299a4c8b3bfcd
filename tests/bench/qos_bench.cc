// Exact analysis of two full tables, random and adversarial, and designs for eight SLs.
#include <benchmark/benchmark.h>

#include "base/random.h"
#include "qos/analyzer.h"
#include "qos/designer.h"

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

void design_eight_sls(benchmark::State& state, Rounding rounding) {
  constexpr double shares[] = {0.3286, 0.1, 0.1414, 0.13, 0.11, 0.09, 0.0533, 0.0467};
  DesignRequest request;
  request.rounding = rounding;
  for (std::size_t i = 0; i < 8; ++i) {
    SlRequest sl;
    sl.sl = Sl{static_cast<std::uint8_t>(i)};
    sl.share = shares[i];
    sl.priority = i < static_cast<std::size_t>(state.range(0)) ? Priority::High : Priority::Low;
    request.sls.push_back(sl);
  }
  for (auto _ : state) benchmark::DoNotOptimize(design(request));
}

BENCHMARK_CAPTURE(design_eight_sls, whole_packets, Rounding::Up)
    ->Arg(8)
    ->Arg(6)
    ->Arg(4)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(design_eight_sls, units, Rounding::Units)
    ->Arg(8)
    ->Arg(6)
    ->Arg(4)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(analyze_full_tables, entry_grant, LowGrant::Entry, Sizes::Default);
BENCHMARK_CAPTURE(analyze_full_tables, packet_grant, LowGrant::Packet, Sizes::Default);
BENCHMARK_CAPTURE(analyze_full_tables, entry_grant_sizes_per_vl, LowGrant::Entry, Sizes::PowersOfTwo);
BENCHMARK_CAPTURE(analyze_full_tables, entry_grant_odd_sizes, LowGrant::Entry, Sizes::Odd);
BENCHMARK(analyze_heaviest)->Arg(1)->Arg(16)->Arg(60)->Arg(254);

}  // namespace
}  // namespace heddle::qos

BENCHMARK_MAIN();
