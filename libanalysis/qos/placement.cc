#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "qos/dtable.h"

namespace heddle::qos {
namespace {

std::uint32_t bit_reversed(std::uint32_t value, int bits) {
  std::uint32_t out = 0;
  for (int i = 0; i < bits; ++i) out |= ((value >> i) & 1U) << (bits - 1 - i);
  return out;
}

bool all_free(const std::vector<bool>& used, std::uint32_t offset, std::uint32_t distance) {
  for (std::size_t at = offset; at < used.size(); at += distance) {
    if (used[at]) return false;
  }
  return true;
}

}  // namespace

Result<std::vector<std::uint32_t>> place_by_distance(std::uint32_t entries,
                                                     const std::vector<std::uint32_t>& distances) {
  std::vector<std::size_t> order(distances.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return distances[i]; });
  std::vector<bool> used(entries, false);
  std::vector<std::uint32_t> offsets(distances.size(), 0);
  for (const std::size_t i : order) {
    const std::uint32_t distance = distances[i];
    if (!std::has_single_bit(distance) || distance > entries || entries % distance != 0) {
      return fail(
          ErrorCode::Invalid,
          fmt::format("distance {} is not a power of two that divides the {} entries", distance, entries));
    }
    const int bits = std::countr_zero(distance);
    std::uint32_t turn = 0;
    while (turn < distance && !all_free(used, bit_reversed(turn, bits), distance)) ++turn;
    if (turn == distance) {
      return fail(
          ErrorCode::Invalid,
          fmt::format("no room for {} more entries at distance {}: the distances need more than the {} "
                      "entries, make one longer",
                      entries / distance, distance, entries));
    }
    offsets[i] = bit_reversed(turn, bits);
    for (std::size_t at = offsets[i]; at < used.size(); at += distance) used[at] = true;
  }
  return offsets;
}

void correct_weights(DTable& table, const std::vector<std::int64_t>& corrections,
                     const std::vector<std::uint32_t>& least) {
  for (std::size_t lane = 0; lane < corrections.size(); ++lane) {
    std::int64_t left = corrections[lane];
    bool changed = true;
    while (left != 0 && changed) {
      changed = false;
      for (std::size_t i = table.size(); i-- > 0 && left != 0;) {
        auto& entry = table[i];
        if (entry.lane.raw() != lane || entry.weight == 0) continue;
        if (left < 0 && entry.weight <= least[lane]) continue;
        entry.weight += left > 0 ? 1U : ~0U;
        left += left > 0 ? -1 : 1;
        changed = true;
      }
    }
  }
}

std::vector<std::uint32_t> sbt_weights(const std::vector<double>& shares) {
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  std::vector<std::uint32_t> weights;
  std::vector<std::pair<double, std::size_t>> rests;
  std::uint32_t given = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double exact = sum > 0 ? 100 * shares[i] / sum : 0;
    weights.push_back(static_cast<std::uint32_t>(exact + 1e-9));
    rests.emplace_back(weights[i] - exact, i);
    given += weights[i];
  }
  std::ranges::stable_sort(rests);
  for (std::size_t i = 0; i < rests.size() && given < 100 && sum > 0; ++i, ++given)
    ++weights[rests[i].second];
  return weights;
}

}  // namespace heddle::qos
