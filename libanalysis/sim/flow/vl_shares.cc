#include "sim/flow/vl_shares.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace heddle::sim {
namespace {

constexpr std::size_t most_known = 4096;

bool is_active(Vl vl, std::uint16_t active) { return vl.raw() < vl_count && (active >> vl.raw() & 1U) != 0; }

/// The entries that count while only these VLs have data.
qos::ArbTable only(const qos::ArbTable& table, std::uint16_t active) {
  qos::ArbTable result;
  std::copy_if(table.begin(), table.end(), std::back_inserter(result), [active](const qos::ArbEntry& entry) {
    return entry.weight > 0 && entry.vl.raw() < qos::max_data_vls && is_active(entry.vl, active);
  });
  return result;
}

bool is_weightless(const qos::VlArbitration& tables) {
  return qos::total_weight(tables.high) == 0 && qos::total_weight(tables.low) == 0;
}

std::string bytes_of(const qos::VlArbitration& tables) {
  std::string bytes{static_cast<char>(tables.limit.raw()), static_cast<char>(tables.high.size())};
  for (const auto* table : {&tables.high, &tables.low}) {
    for (const qos::ArbEntry& entry : *table) {
      bytes.push_back(static_cast<char>(entry.vl.raw()));
      bytes.push_back(static_cast<char>(entry.weight));
    }
  }
  return bytes;
}

/// For tables whose schedule takes too long to repeat.
VlRates by_weight(const qos::VlArbitration& tables) {
  VlRates shares{};
  const double total = qos::total_weight(tables.high) + qos::total_weight(tables.low);
  for (const auto* table : {&tables.high, &tables.low}) {
    for (const qos::ArbEntry& entry : *table) shares.at(entry.vl.raw()) += entry.weight / total;
  }
  return shares;
}

}  // namespace

VlRates VlShares::analyze(const qos::VlArbitration& tables, std::uint16_t active) const {
  VlRates shares{};
  if (is_weightless(tables)) {
    for (std::size_t vl = 0; vl < vl_count; ++vl) {
      if ((active >> vl & 1U) != 0) shares[vl] = 1.0 / std::popcount(active);
    }
    return shares;
  }
  qos::VlArbitration served{only(tables.high, active), only(tables.low, active), tables.limit};
  if (served.high.empty()) std::swap(served.high, served.low);  // a table alone needs no limit
  if (served.high.empty()) return shares;
  const auto analysis = qos::analyze(served, options_);
  if (!analysis) return by_weight(served);
  for (const qos::VlService& service : analysis->vls) shares.at(service.vl.raw()) = service.share.value();
  return shares;
}

const VlRates& VlShares::of(const qos::VlArbitration& tables, std::uint16_t active) {
  auto key = std::pair(bytes_of(tables), active);
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  if (known_.size() >= most_known) known_.clear();
  return known_.emplace(std::move(key), analyze(tables, active)).first->second;
}

VlRates VlShares::divide(const qos::VlArbitration& tables, double capacity, const VlRates& wanted) {
  VlRates given{};
  std::uint16_t open = 0;
  for (std::size_t vl = 0; vl < vl_count; ++vl) {
    if (wanted[vl] > 0) open = static_cast<std::uint16_t>(open | 1U << vl);
  }
  double left = capacity;
  while (open != 0) {
    // Whoever wants less than its share among those left gets all of it; then the others share anew.
    const VlRates& shares = of(tables, open);
    std::uint16_t satisfied = 0;
    for (std::size_t vl = 0; vl < vl_count; ++vl) {
      if ((open >> vl & 1U) == 0 || wanted[vl] > shares[vl] * left) continue;
      given[vl] = wanted[vl];
      satisfied = static_cast<std::uint16_t>(satisfied | 1U << vl);
    }
    if (satisfied == 0) {
      for (std::size_t vl = 0; vl < vl_count; ++vl) {
        if ((open >> vl & 1U) != 0) given[vl] = shares[vl] * left;
      }
      break;
    }
    for (std::size_t vl = 0; vl < vl_count; ++vl) {
      if ((satisfied >> vl & 1U) != 0) left -= given[vl];
    }
    open = static_cast<std::uint16_t>(open & ~satisfied);
    left = std::max(left, 0.0);
  }
  return given;
}

bool serves(const qos::VlArbitration& tables, Vl vl) {
  const auto has = [vl](const qos::ArbTable& table) {
    return std::any_of(table.begin(), table.end(),
                       [vl](const qos::ArbEntry& entry) { return entry.vl == vl && entry.weight > 0; });
  };
  return is_weightless(tables) || has(tables.high) || has(tables.low);
}

}  // namespace heddle::sim
