#include "qos/analyzer.h"

#include <algorithm>
#include <numeric>

#include "qos/checked_options.h"
#include "qos/distances.h"
#include "qos/grant_pattern.h"
#include "qos/stepped.h"
#include "qos/turns.h"
#include "qos/wait_bound.h"

namespace heddle::qos {
namespace {

constexpr std::uint64_t most_stepped_packets = 1U << 20U;

std::array<bool, max_data_vls> vls_in(const VlArbitration& tables) {
  std::array<bool, max_data_vls> in{};
  for (const auto& entry : tables.high) in[entry.vl.raw()] |= entry.weight != 0;
  for (const auto& entry : tables.low) in[entry.vl.raw()] |= entry.weight != 0;
  return in;
}

/// What a table's turns hold of each VL.
struct TableSums {
  std::array<std::uint64_t, max_data_vls> bytes{};
  std::array<std::uint64_t, max_data_vls> packets{};
  std::array<std::uint64_t, max_data_vls> selections{};

  TableSums(const Turns& turns, LowGrant grant) {
    for (const auto& turn : turns.list) {
      bytes[turn.vl] += std::uint64_t{turn.packets} * turn.bytes;
      packets[turn.vl] += turn.packets;
      selections[turn.vl] += grants_of(turn, grant);
    }
  }
};

Result<Analysis> closed_form(const VlArbitration& tables, const AnalyzerOptions& options, const Turns& high,
                             const Turns& low) {
  const bool starved = low.list.empty() || tables.limit == no_limit;
  const GrantPattern pattern = grant_pattern(high, starved ? no_limit : tables.limit);
  const LargestDistances largest = largest_distances(high, low, options.grant, pattern);

  // The whole schedule repeats after lcm(grants of the orbit, grants of the low sequence) grants.
  const std::uint64_t low_grants = starved ? 1 : grants_of(low, options.grant);
  const std::uint64_t tie = std::gcd(pattern.grants, low_grants);
  const Wide high_times = Wide{pattern.passes} * (starved ? 1 : low_grants / tie);
  const Wide low_times = starved ? 0 : pattern.grants / tie;
  const Wide packets = high_times * high.packets + low_times * low.packets;
  if (packets > (std::uint64_t{1} << 62U)) {
    return fail(ErrorCode::Unsupported,
                "the schedule's period has more than 2^62 packets: count runs instead");
  }
  const Wide bytes = high_times * high.bytes + low_times * low.bytes;
  const Wide selections = high_times * high.list.size() + low_times * low_grants;

  const TableSums in_high{high, LowGrant::Entry};
  const TableSums in_low{low, options.grant};
  const auto in = vls_in(tables);
  const WaitBounds waits = wait_bounds(tables, options);
  Analysis result;
  result.period_packets = static_cast<std::uint64_t>(packets);
  for (unsigned vl = 0; vl < max_data_vls; ++vl) {
    if (!in[vl]) continue;
    VlService service;
    service.vl = Vl{static_cast<std::uint8_t>(vl)};
    service.share = reduced(high_times * in_high.bytes[vl] + low_times * in_low.bytes[vl], bytes);
    service.packets =
        static_cast<std::uint64_t>(high_times * in_high.packets[vl] + low_times * in_low.packets[vl]);
    const Wide own = high_times * in_high.selections[vl] + low_times * in_low.selections[vl];
    service.mean_distance = own == 0 ? 0 : static_cast<double>(selections) / static_cast<double>(own);
    service.max_distance = largest[vl];
    service.wait_bytes = waits[vl];
    result.vls.push_back(service);
  }
  return result;
}

Result<Analysis> stepped(const VlArbitration& tables, const AnalyzerOptions& options) {
  const auto count = count_period(tables, options, most_stepped_packets);
  if (!count) {
    return fail(
        ErrorCode::Unsupported,
        "the schedule of these packet sizes does not repeat within a million packets: count runs instead, or "
        "use sizes that are multiples of 64");
  }
  Analysis result;
  result.period_packets = count->packets;
  const auto in = vls_in(tables);
  const WaitBounds waits = wait_bounds(tables, options);
  for (unsigned vl = 0; vl < max_data_vls; ++vl) {
    if (!in[vl]) continue;
    const auto& own = count->vls[vl];
    VlService service;
    service.vl = Vl{static_cast<std::uint8_t>(vl)};
    service.share = reduced(own.bytes, count->bytes);
    service.packets = own.packets;
    if (own.selections != 0) {
      service.mean_distance = static_cast<double>(own.distance_sum) / static_cast<double>(own.selections);
    }
    service.max_distance = own.max_distance;
    service.wait_bytes = waits[vl];
    result.vls.push_back(service);
  }
  return result;
}

bool sizes_are_mixed(const VlArbitration& tables, const AnalyzerOptions& options) {
  if (options.rounding == Rounding::Units) return false;
  const auto in = vls_in(tables);
  for (unsigned vl = 0; vl < max_data_vls; ++vl) {
    const auto& mix = options.packets[vl];
    if (in[vl] && std::ranges::any_of(mix, [&mix](auto bytes) { return bytes != mix.front(); })) return true;
  }
  return false;
}

}  // namespace

Result<Analysis> analyze(const VlArbitration& tables, const AnalyzerOptions& options) {
  if (auto good = check_options(tables, options); !good) return fail(good.error());
  if (!sizes_are_mixed(tables, options)) {
    const auto high = turns_of(tables.high, options);
    const auto low = turns_of(tables.low, options);
    if (high && low) return closed_form(tables, options, *high, *low);
  }
  return stepped(tables, options);
}

}  // namespace heddle::qos
