/// Tables that several tests use.
#pragma once

#include <cstdint>

#include "base/random.h"
#include "qos/analyzer.h"

namespace heddle::qos {

inline ArbEntry entry(unsigned vl, unsigned weight) {
  return {Vl{static_cast<std::uint8_t>(vl)}, static_cast<std::uint8_t>(weight)};
}

/// facts/qos.md 2: VL0 32 entries of weight 8-9 (264), VL1 16 of 9-10 (158), VL2 16 of 6-7 (106), VL3 one low
/// of 6.
inline VlArbitration configuration_a() {
  VlArbitration tables{{}, {entry(3, 6)}, HighLimit{1}};
  for (unsigned i = 0; i < 16; ++i) {
    tables.high.push_back(entry(0, 8));
    tables.high.push_back(entry(1, i < 14 ? 10 : 9));
    tables.high.push_back(entry(0, i < 8 ? 9 : 8));
    tables.high.push_back(entry(2, i < 10 ? 7 : 6));
  }
  return tables;
}

inline ArbTable random_table(Random& random, std::size_t entries, unsigned largest_weight) {
  ArbTable table;
  const auto vls = 1 + random.below(max_data_vls);
  for (std::size_t i = 0; i < entries; ++i) {
    const unsigned weight = random.chance(0.05) ? 0 : static_cast<unsigned>(1 + random.below(largest_weight));
    table.push_back(entry(static_cast<unsigned>(random.below(vls)), weight));
  }
  return table;
}

/// Up to `entries` in each table; the high table has weight.
inline VlArbitration random_tables(Random& random, std::size_t entries, std::size_t largest_weight) {
  const auto weight = static_cast<unsigned>(largest_weight);
  VlArbitration tables{
      random_table(random, entries, weight), random_table(random, random.below(entries + 1), weight),
      HighLimit{static_cast<std::uint8_t>(random.chance(0.5) ? random.below(4) : random.below(256))}};
  tables.high.front().weight = 1;
  return tables;
}

inline AnalyzerOptions random_options(Random& random) {
  static constexpr std::uint32_t sizes[] = {64, 64, 128, 192, 256, 512, 1000, 1024, 2048, 4096};
  AnalyzerOptions options;
  options.grant = random.chance(0.5) ? LowGrant::Entry : LowGrant::Packet;
  options.rounding = static_cast<Rounding>(random.below(3));
  const bool alike = random.chance(0.3);
  const std::uint32_t common = sizes[random.below(10)];
  for (auto& mix : options.packets) mix = {alike ? common : sizes[random.below(10)]};
  return options;
}

}  // namespace heddle::qos
