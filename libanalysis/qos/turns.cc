#include "qos/turns.h"

#include <numeric>

namespace heddle::qos {
namespace {

/// Beyond these the closed form is slower than it is worth.
constexpr std::uint64_t most_turns = 1U << 18U;
constexpr std::uint64_t most_bytes = 1U << 30U;

std::uint32_t weight_bytes(const ArbEntry& entry) { return entry.weight * weight_unit_bytes; }

/// Packets of the first `turns` turns of an entry, when an overdraft is taken from the next.
std::uint64_t packets_after(std::uint64_t turns, std::uint32_t weight, std::uint32_t size) {
  return (turns * weight + size - 1) / size;
}

std::uint64_t rounds_to_repeat(const ArbTable& table, const AnalyzerOptions& options) {
  if (options.rounding != Rounding::Deficit) return 1;
  std::uint64_t rounds = 1;
  for (const auto& entry : table) {
    if (entry.weight == 0) continue;
    const std::uint32_t size = counted_bytes(entry.vl, options);
    rounds = std::lcm(rounds, size / std::gcd(size, weight_bytes(entry)));
    if (rounds * table.size() > most_turns) return 0;
  }
  return rounds;
}

}  // namespace

std::uint32_t counted_bytes(Vl vl, const AnalyzerOptions& options) {
  return options.rounding == Rounding::Units ? weight_unit_bytes : options.packets[vl.raw()].front();
}

std::optional<Turns> turns_of(const ArbTable& table, const AnalyzerOptions& options) {
  const std::uint64_t rounds = rounds_to_repeat(table, options);
  if (rounds == 0) return std::nullopt;
  Turns turns;
  turns.list.reserve(rounds * table.size());
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (const auto& entry : table) {
      if (entry.weight == 0) continue;
      const std::uint32_t size = counted_bytes(entry.vl, options);
      const std::uint64_t packets = packets_after(round + 1, weight_bytes(entry), size) -
                                    packets_after(round, weight_bytes(entry), size);
      if (packets == 0) continue;
      turns.list.push_back({entry.vl.raw(), size, static_cast<std::uint32_t>(packets)});
      turns.packets += packets;
      turns.bytes += packets * size;
    }
    if (turns.bytes > most_bytes) return std::nullopt;
  }
  return turns;
}

}  // namespace heddle::qos
