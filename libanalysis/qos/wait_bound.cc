#include "qos/wait_bound.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace heddle::qos {
namespace {

struct EntryBound {
  std::uint64_t bytes = 0;    ///< most that one turn sends
  std::uint64_t packets = 0;  ///< most packets of one turn
};

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

class WaitBound {
 public:
  WaitBound(const VlArbitration& tables, Vl vl, const AnalyzerOptions& options)
      : tables_{tables}, vl_{vl}, options_{options} {}

  [[nodiscard]] std::optional<std::uint64_t> high() const {
    const auto window = longest_window(tables_.high);
    if (!window) return std::nullopt;
    const std::uint64_t packet =
        largest_low([this](const ArbEntry& entry) { return largest_packet(entry.vl); });
    // A low packet that went while nothing high was waiting cannot be stopped.
    if (tables_.limit == no_limit) return window->bytes + packet;
    if (options_.grant == LowGrant::Packet) return window->bytes + grants(*window) * packet;
    const std::uint64_t entry = largest_low([this](const ArbEntry& low) { return turn(low).bytes; });
    // Such a packet is no chance for LowGrant::Entry; after it, a grant needs one more high packet first.
    const std::uint64_t after_packet = packet + grants_after_a_packet(*window) * entry;
    return window->bytes + std::max(grants(*window) * entry, after_packet);
  }

  [[nodiscard]] std::optional<std::uint64_t> low() const {
    if (tables_.limit == no_limit) return std::nullopt;
    const auto window = longest_window(tables_.low);
    if (!window) return std::nullopt;
    const std::uint64_t others = options_.grant == LowGrant::Entry ? window->turns : window->packets;
    return window->bytes + (others + 1) * high_between_grants();
  }

 private:
  struct Window {
    std::uint64_t bytes = 0;
    std::uint64_t packets = 0;
    std::uint64_t turns = 0;
  };

  /// Most low grants in a window of high packets, the first of them at its very start.
  [[nodiscard]] std::uint64_t grants(const Window& window) const {
    if (tables_.limit == one_packet) return 1 + window.packets;
    return 1 + window.bytes / (tables_.limit.raw() * limit_unit_bytes);
  }
  [[nodiscard]] std::uint64_t grants_after_a_packet(const Window& window) const {
    if (window.bytes == 0) return 0;
    if (tables_.limit == one_packet) return window.packets;
    return 1 + (window.bytes - 1) / (tables_.limit.raw() * limit_unit_bytes);
  }

  [[nodiscard]] std::uint32_t largest_packet(Vl vl) const {
    if (options_.rounding == Rounding::Units) return weight_unit_bytes;
    return *std::ranges::max_element(options_.packets[vl.raw()]);
  }
  [[nodiscard]] std::uint32_t smallest_packet(Vl vl) const {
    if (options_.rounding == Rounding::Units) return weight_unit_bytes;
    return *std::ranges::min_element(options_.packets[vl.raw()]);
  }

  /// The last packet of a turn starts while a byte of weight is left.
  [[nodiscard]] EntryBound turn(const ArbEntry& entry) const {
    const std::uint64_t weight = std::uint64_t{entry.weight} * weight_unit_bytes;
    const std::uint64_t large = largest_packet(entry.vl);
    const std::uint64_t small = smallest_packet(entry.vl);
    return {large == small ? ceil_div(weight, large) * large : weight - 1 + large, ceil_div(weight, small)};
  }

  /// Turns of an entry of ours until one finds weight left: an overdraft is less than a packet.
  [[nodiscard]] std::uint64_t turns_until_served(const ArbEntry& entry) const {
    if (options_.rounding != Rounding::Deficit) return 1;
    return ceil_div(largest_packet(entry.vl), std::uint64_t{entry.weight} * weight_unit_bytes);
  }

  /// The most that others get between an entry of ours and the next that serves us.
  [[nodiscard]] std::optional<Window> longest_window(const ArbTable& table) const {
    std::optional<Window> longest;
    for (std::size_t from = 0; from < table.size(); ++from) {
      if (!mine(table[from])) continue;
      Window window;
      std::vector<std::uint64_t> turns(table.size(), 0);
      for (std::size_t at = (from + 1) % table.size();; at = (at + 1) % table.size()) {
        const auto& entry = table[at];
        if (mine(entry)) {
          if (++turns[at] == turns_until_served(entry)) break;
        } else if (entry.weight != 0) {
          const auto bound = turn(entry);
          window.bytes += bound.bytes;
          window.packets += bound.packets;
          ++window.turns;
        }
      }
      if (!longest || window.bytes > longest->bytes) {
        const Window kept = longest.value_or(Window{});
        longest =
            Window{window.bytes, std::max(window.packets, kept.packets), std::max(window.turns, kept.turns)};
      } else {
        longest->packets = std::max(longest->packets, window.packets);
        longest->turns = std::max(longest->turns, window.turns);
      }
    }
    return longest;
  }

  [[nodiscard]] bool mine(const ArbEntry& entry) const { return entry.vl == vl_ && entry.weight != 0; }

  template <class Size>
  [[nodiscard]] std::uint64_t largest_low(Size size) const {
    std::uint64_t largest = 0;
    for (const auto& entry : tables_.low) {
      if (entry.weight != 0 && entry.vl != vl_) largest = std::max<std::uint64_t>(largest, size(entry));
    }
    return largest;
  }

  /// Most that the high table sends from one grant to the next.
  [[nodiscard]] std::uint64_t high_between_grants() const {
    std::uint64_t largest = 0;
    std::uint64_t grain = 0;
    for (const auto& entry : tables_.high) {
      if (entry.weight == 0 || entry.vl == vl_) continue;
      largest = std::max<std::uint64_t>(largest, largest_packet(entry.vl));
      for (const auto size : sizes(entry.vl)) grain = std::gcd(grain, std::uint64_t{size});
    }
    if (largest == 0 || tables_.limit == one_packet) return largest;
    // Before the last packet, the bytes sent are a multiple of the grain and below the limit.
    const std::uint64_t limit = tables_.limit.raw() * limit_unit_bytes;
    return ceil_div(limit, grain) * grain - grain + largest;
  }

  [[nodiscard]] PacketMix sizes(Vl vl) const {
    return options_.rounding == Rounding::Units ? PacketMix{weight_unit_bytes} : options_.packets[vl.raw()];
  }

  const VlArbitration& tables_;
  Vl vl_;
  const AnalyzerOptions& options_;
};

}  // namespace

std::optional<std::uint64_t> wait_bound(const VlArbitration& tables, Vl vl, const AnalyzerOptions& options) {
  const WaitBound bound{tables, vl, options};
  const auto high = bound.high();
  const auto low = bound.low();
  return high && low ? std::min(*high, *low) : high ? high : low;
}

}  // namespace heddle::qos
