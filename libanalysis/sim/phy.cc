#include "sim/phy.h"

#include <chrono>

namespace heddle::sim {
namespace {

/// Before correction; vendors' PAM4 links have 1e-8 and more when they are well.
constexpr double pam4_bit_errors = 1e-8;

double seconds_of(Picoseconds time) { return std::chrono::duration<double>(time).count(); }

std::uint64_t background(LinkWidth width, LinkSpeed speed, Picoseconds now) {
  if (speed < LinkSpeed::Hdr) return 0;
  return static_cast<std::uint64_t>(data_rate(width, speed).value() * pam4_bit_errors * seconds_of(now));
}

}  // namespace

PhyTotals Phy::total(const State& state, Picoseconds now) {
  const double time = seconds_of(now - state.since);
  return {state.until_then.corrected + static_cast<std::uint64_t>(state.errors.corrected_per_second * time),
          state.until_then.uncorrectable +
              static_cast<std::uint64_t>(state.errors.uncorrectable_per_second * time)};
}

void Phy::set(PortIndex port, const BitErrors& errors, Picoseconds now) {
  State& state = states_[port];
  state.until_then = total(state, now);
  state.since = now;
  state.errors = errors;
}

PhyTotals Phy::read(PortIndex port, LinkWidth width, LinkSpeed speed, Picoseconds now) const {
  PhyTotals totals{background(width, speed, now), 0};
  if (const auto it = states_.find(port); it != states_.end()) {
    const PhyTotals own = total(it->second, now);
    totals.corrected += own.corrected - it->second.base.corrected;
    totals.uncorrectable = own.uncorrectable - it->second.base.uncorrectable;
  }
  return totals;
}

std::uint64_t Phy::symbol_errors(PortIndex port, Picoseconds now) const {
  const auto it = states_.find(port);
  return it == states_.end() ? 0 : total(it->second, now).uncorrectable - it->second.symbol_base;
}

void Phy::reset(PortIndex port, LinkWidth width, LinkSpeed speed, Picoseconds now) {
  State& state = states_[port];
  state.base = total(state, now);
  // Modulo 2^64, as the sum in read().
  state.base.corrected += background(width, speed, now);
}

void Phy::reset_symbol_errors(PortIndex port, Picoseconds now) {
  if (const auto it = states_.find(port); it != states_.end()) {
    it->second.symbol_base = total(it->second, now).uncorrectable;
  }
}

}  // namespace heddle::sim
