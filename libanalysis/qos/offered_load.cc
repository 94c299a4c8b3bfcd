#include "qos/offered_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "qos/checked_options.h"
#include "qos/distances.h"
#include "qos/grant_pattern.h"
#include "qos/turns.h"

namespace heddle::qos {
namespace {

constexpr double unlimited = 1e30;
/// Rounds per time at which a table has certainly run dry.
constexpr double most_rounds = 1e9;

/// A VL in one round of each table. Rounds are scaled so that their bytes sum to 1.
struct Part {
  double high = 0;
  double low = 0;
  double low_packets = 0;
  double low_grants = 0;       ///< that `low` takes: turns, or packets
  double grants_per_byte = 0;  ///< low grants that its high bytes bring
  double offered = 0;
};

class Fluid {
 public:
  explicit Fluid(const std::array<Part, max_data_vls>& parts) : parts_{parts} {}

  [[nodiscard]] std::array<double, max_data_vls> solve() const {
    double high = most_rounds;
    double low = tied_low(high);
    if (total(high, low) > 1) {
      high = root(0, most_rounds, [this](double rounds) { return total(rounds, tied_low(rounds)) - 1; });
      low = tied_low(high);
    } else if (total(high, most_rounds) > 1) {
      low = root(low, most_rounds, [&](double rounds) { return total(high, rounds) - 1; });
    } else {
      low = most_rounds;
    }
    std::array<double, max_data_vls> shares{};
    for (unsigned vl = 0; vl < max_data_vls; ++vl) shares[vl] = got(parts_[vl], high, low);
    return shares;
  }

 private:
  static double got(const Part& part, double high, double low) {
    return std::min(part.offered, high * part.high + low * part.low);
  }

  [[nodiscard]] double total(double high, double low) const {
    double sum = 0;
    for (const auto& part : parts_) sum += got(part, high, low);
    return sum;
  }

  /// Low rounds for which the high rounds bring the grants; `most_rounds` if they bring more than can be
  /// used.
  [[nodiscard]] double tied_low(double high) const {
    const auto excess = [&](double low) {
      double sum = 0;
      for (const auto& part : parts_) {
        const double could = high * part.high + low * part.low;
        const double active = could > 0 ? std::min(1.0, part.offered / could) : 1;
        // A grant to a VL with little to send is spent on the packets that came since the last.
        sum += std::min(low * part.low_grants, active * low * part.low_packets);
        sum -= active * high * part.high * part.grants_per_byte;
      }
      return sum;
    };
    if (excess(most_rounds) <= 0) return most_rounds;
    return root(0, most_rounds, excess);
  }

  /// Of a function that grows. Halves in logarithms: rounds span many orders of magnitude.
  template <class Function>
  static double root(double from, double to, Function&& function) {
    from = std::max(from, 1e-15);
    for (int i = 0; i < 100; ++i) {
      const double middle = std::sqrt(from * to);
      (function(middle) > 0 ? to : from) = middle;
    }
    return std::sqrt(from * to);
  }

  const std::array<Part, max_data_vls>& parts_;
};

}  // namespace

Result<std::array<double, max_data_vls>> shares_under_load(const VlArbitration& tables,
                                                           const AnalyzerOptions& options,
                                                           const OfferedLoads& loads) {
  if (auto good = check_options(tables, options); !good) return fail(good.error());
  std::array<Part, max_data_vls> parts;
  for (unsigned vl = 0; vl < max_data_vls; ++vl) {
    if (loads[vl] && !(*loads[vl] >= 0 && *loads[vl] <= 1e6)) {
      return fail(ErrorCode::Invalid,
                  fmt::format("VL{}: a load of {}, give 0 to 1 of the link rate", vl, *loads[vl]));
    }
    const auto& mix = options.packets[vl];
    if (std::ranges::any_of(mix, [&mix](auto bytes) { return bytes != mix.front(); })) {
      return fail(ErrorCode::Unsupported, fmt::format("VL{}: offered loads need one packet size per VL", vl));
    }
    parts[vl].offered = loads[vl].value_or(unlimited);
  }
  const auto high = turns_of(tables.high, options);
  const auto low = turns_of(tables.low, options);
  if (!high || !low) {
    return fail(ErrorCode::Unsupported, "these packet sizes take too long to repeat: use multiples of 64");
  }
  const GrantPattern pattern = grant_pattern(*high, low->list.empty() ? no_limit : tables.limit);
  const double high_bytes = static_cast<double>(high->bytes);
  for (const auto& turn : high->list) {
    auto& part = parts[turn.vl];
    part.high += static_cast<double>(turn.packets) * turn.bytes / high_bytes;
    // In scaled bytes, as everything here.
    part.grants_per_byte =
        pattern.grants == 0 ? 0
        : tables.limit == one_packet
            ? 1.0 / turn.bytes
            : static_cast<double>(pattern.grants) / static_cast<double>(pattern.passes) / high_bytes;
  }
  for (const auto& turn : low->list) {
    auto& part = parts[turn.vl];
    const double low_bytes = static_cast<double>(low->bytes);
    part.low += static_cast<double>(turn.packets) * turn.bytes / low_bytes;
    part.low_packets += turn.packets / low_bytes;
    part.low_grants += static_cast<double>(grants_of(turn, options.grant)) / low_bytes;
  }
  return Fluid{parts}.solve();
}

}  // namespace heddle::qos
