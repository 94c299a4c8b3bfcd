#include "qos/wait_bound.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace heddle::qos {
namespace {

std::uint64_t rounded_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

/// The packets of one VL.
struct EntrySizes {
  std::uint64_t smallest = 0;
  std::uint64_t largest = 0;
  std::uint64_t grain = 0;  ///< greatest common divisor
};

/// An entry with weight.
struct Entry {
  unsigned vl = 0;
  std::uint64_t bytes = 0;           ///< most that one turn sends
  std::uint64_t packets = 0;         ///< most packets of one turn
  std::uint64_t turns_to_serve = 1;  ///< until one finds weight left: an overdraft is less than a packet
};

/// The most that others get between an entry of ours and the next that serves us.
struct Window {
  std::uint64_t bytes = 0;
  std::uint64_t packets = 0;
  std::uint64_t turns = 0;
};

class WaitBound {
 public:
  WaitBound(const VlArbitration& tables, const AnalyzerOptions& options)
      : limit_{tables.limit}, limit_bytes_{tables.limit.raw() * limit_unit_bytes}, grant_{options.grant} {
    for (unsigned vl = 0; vl < max_data_vls; ++vl) sizes_[vl] = sizes(options, vl);
    high_ = entries(tables.high, options.rounding);
    for (const auto& entry : high_) is_high_[entry.vl] = true;
    low_ = entries(tables.low, options.rounding);
    high_windows_ = windows(high_, options.rounding);
    low_windows_ = windows(low_, options.rounding);
  }

  [[nodiscard]] std::optional<std::uint64_t> of(unsigned vl) const {
    const auto high = in_high(vl);
    const auto low = in_low(vl);
    return high && low ? std::min(*high, *low) : high ? high : low;
  }

 private:
  static EntrySizes sizes(const AnalyzerOptions& options, unsigned vl) {
    if (options.rounding == Rounding::Units) return {weight_unit_bytes, weight_unit_bytes, weight_unit_bytes};
    EntrySizes sizes;
    const auto& mix = options.packets[vl];
    sizes.smallest = *std::ranges::min_element(mix);
    sizes.largest = *std::ranges::max_element(mix);
    for (const auto bytes : mix) sizes.grain = std::gcd(sizes.grain, std::uint64_t{bytes});
    return sizes;
  }

  [[nodiscard]] std::vector<Entry> entries(const ArbTable& table, Rounding rounding) const {
    std::vector<Entry> out;
    out.reserve(table.size());
    for (const auto& entry : table) {
      if (entry.weight == 0) continue;
      const auto& [smallest, largest, grain] = sizes_[entry.vl.raw()];
      const std::uint64_t weight = std::uint64_t{entry.weight} * weight_unit_bytes;
      // The last packet of a turn starts while a byte of weight is left.
      const std::uint64_t bytes =
          largest == smallest ? rounded_up(weight, largest) * largest : weight - 1 + largest;
      const std::uint64_t turns = rounding == Rounding::Deficit ? rounded_up(largest, weight) : 1;
      out.push_back({entry.vl.raw(), bytes, rounded_up(weight, smallest), turns});
    }
    return out;
  }

  [[nodiscard]] std::optional<std::uint64_t> in_high(unsigned vl) const {
    const auto& window = high_windows_[vl];
    if (!window) return std::nullopt;
    std::uint64_t packet = 0;
    std::uint64_t turn = 0;
    for (const auto& entry : low_) {
      if (entry.vl == vl) continue;
      packet = std::max(packet, sizes_[entry.vl].largest);
      turn = std::max(turn, entry.bytes);
    }
    // A low packet that went while nothing high was waiting cannot be stopped.
    if (limit_ == no_limit) return window->bytes + packet;
    if (grant_ == LowGrant::Packet) return window->bytes + grants(*window) * packet;
    // Such a packet is no chance for LowGrant::Entry; after it, a grant needs one more high packet first.
    return window->bytes + std::max(grants(*window) * turn, packet + grants_after_a_packet(*window) * turn);
  }

  [[nodiscard]] std::optional<std::uint64_t> in_low(unsigned vl) const {
    if (limit_ == no_limit) return std::nullopt;
    const auto& window = low_windows_[vl];
    if (!window) return std::nullopt;
    const std::uint64_t others = grant_ == LowGrant::Entry ? window->turns : window->packets;
    return window->bytes + (others + 1) * high_between_grants(vl);
  }

  /// Most low grants in a window of high packets, the first of them at its very start.
  [[nodiscard]] std::uint64_t grants(const Window& window) const {
    return limit_ == one_packet ? 1 + window.packets : 1 + window.bytes / limit_bytes_;
  }
  [[nodiscard]] std::uint64_t grants_after_a_packet(const Window& window) const {
    if (window.bytes == 0) return 0;
    return limit_ == one_packet ? window.packets : 1 + (window.bytes - 1) / limit_bytes_;
  }

  /// By VL. Each part is the largest of any window; none if the VL has no entry.
  using Windows = std::array<std::optional<Window>, max_data_vls>;

  static Windows windows(const std::vector<Entry>& table, Rounding rounding) {
    Windows out;
    if (rounding == Rounding::Deficit) {
      for (unsigned vl = 0; vl < max_data_vls; ++vl) out[vl] = longest_window(table, vl);
      return out;
    }
    // Every own entry serves: a window is what was sent since the one before.
    Window sent;
    Windows after;
    for (std::size_t i = 0; i < 2 * table.size(); ++i) {
      const Entry& entry = table[i % table.size()];
      if (const auto& last = after[entry.vl]) {
        include({sent.bytes - last->bytes, sent.packets - last->packets, sent.turns - last->turns},
                out[entry.vl]);
      }
      sent = {sent.bytes + entry.bytes, sent.packets + entry.packets, sent.turns + 1};
      after[entry.vl] = sent;
    }
    return out;
  }

  static void include(const Window& window, std::optional<Window>& longest) {
    if (!longest) longest = window;
    longest->bytes = std::max(longest->bytes, window.bytes);
    longest->packets = std::max(longest->packets, window.packets);
    longest->turns = std::max(longest->turns, window.turns);
  }

  [[nodiscard]] static std::optional<Window> longest_window(const std::vector<Entry>& table, unsigned vl) {
    std::optional<Window> longest;
    for (std::size_t from = 0; from < table.size(); ++from) {
      if (table[from].vl != vl) continue;
      include(window_after(table, from), longest);
    }
    return longest;
  }

  static Window window_after(const std::vector<Entry>& table, std::size_t from) {
    Window window;
    const unsigned vl = table[from].vl;
    std::array<std::uint16_t, max_entries> turns{};
    for (std::size_t at = from + 1;; ++at) {
      if (at == table.size()) at = 0;
      const Entry& entry = table[at];
      if (entry.vl == vl) {
        if (++turns[at] == entry.turns_to_serve) return window;
      } else {
        window.bytes += entry.bytes;
        window.packets += entry.packets;
        ++window.turns;
      }
    }
  }

  /// Most that others send from the high table from one grant to the next.
  [[nodiscard]] std::uint64_t high_between_grants(unsigned vl) const {
    std::uint64_t largest = 0;
    std::uint64_t grain = 0;
    for (unsigned other = 0; other < max_data_vls; ++other) {
      if (other == vl || !is_high_[other]) continue;
      largest = std::max(largest, sizes_[other].largest);
      grain = std::gcd(grain, sizes_[other].grain);
    }
    if (largest == 0 || limit_ == one_packet) return largest;
    // Before the last packet, the bytes sent are a multiple of the grain and below the limit.
    return rounded_up(limit_bytes_, grain) * grain - grain + largest;
  }

  HighLimit limit_;
  std::uint64_t limit_bytes_;
  LowGrant grant_;
  std::array<EntrySizes, max_data_vls> sizes_;
  std::vector<Entry> high_;
  std::array<bool, max_data_vls> is_high_{};
  Windows high_windows_;
  Windows low_windows_;
  std::vector<Entry> low_;
};

}  // namespace

WaitBounds wait_bounds(const VlArbitration& tables, const AnalyzerOptions& options) {
  const WaitBound bound{tables, options};
  WaitBounds bounds;
  for (unsigned vl = 0; vl < max_data_vls; ++vl) bounds[vl] = bound.of(vl);
  return bounds;
}

}  // namespace heddle::qos
