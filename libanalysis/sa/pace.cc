#include "sa/pace.h"

#include <algorithm>

namespace heddle::sa {

Pace::Turn Pace::take(Lid lid, std::uint32_t transaction, std::size_t records, std::size_t all, Instant now) {
  const auto table = static_cast<double>(all);
  const double most = std::max(options_.burst, options_.tables_at_once * table);
  const double per_second = std::max(options_.per_second, options_.tables_per_second * table);
  const auto [found, is_new] = of_.try_emplace(lid, Allowance{most, now, ~transaction});
  Allowance& allowance = found->second;
  allowance.left = std::min(most, allowance.left + per_second * std::max(0.0, seconds(now - allowance.at)));
  allowance.at = now;
  const auto cost = static_cast<double>(records);
  if (allowance.left < std::min(cost, most))
    return allowance.granted == transaction ? Turn::UnderWay : Turn::Refused;
  allowance.left -= cost;
  allowance.granted = transaction;
  return Turn::Granted;
}

}  // namespace heddle::sa
