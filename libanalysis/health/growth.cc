#include "health/growth.h"

#include <algorithm>
#include <limits>

#include "health/carry.h"

namespace heddle::health {
namespace {

std::uint64_t sum_of(const load::PortSample& sample) {
  std::uint64_t sum = 0;
  for (const load::Counter counter : judged) sum += sample.totals[load::at(counter)];
  return sum;
}

/// So many steps of a ring are overwritten by nothing.
template <class Ring, class Sums>
void turn_ring(Ring& ring, std::size_t& at, Sums& sums, std::size_t by) {
  for (std::size_t i = 0; i < std::min(by, ring.size()); ++i) {
    at = (at + 1) % ring.size();
    for (std::size_t c = 0; c < sums.size(); ++c) sums[c] -= ring[at][c];
    ring[at] = {};
  }
}

template <class Ring, class Sums>
void forgive_in(Ring& ring, std::size_t at, Sums& sums, std::size_t counter) {
  for (const std::size_t step : {at, (at + ring.size() - 1) % ring.size()}) {
    sums[counter] -= ring[step][counter];
    ring[step][counter] = 0;
  }
}

}  // namespace

void Windows::add(std::size_t counter, std::uint64_t growth) {
  const auto into = [&](Step& step, Sums& sums) {
    const std::uint64_t room = std::numeric_limits<std::uint32_t>::max() - step[counter];
    const std::uint64_t more = std::min(growth, room);
    step[counter] += static_cast<std::uint32_t>(more);
    sums[counter] += more;
  };
  into(ring_[at_], sums_);
  into(long_ring_[long_at_], long_sums_);
}

void Windows::turn(std::size_t by, std::size_t long_by) {
  turn_ring(ring_, at_, sums_, by);
  turn_ring(long_ring_, long_at_, long_sums_, long_by);
}

void Windows::forgive(std::size_t counter) {
  forgive_in(ring_, at_, sums_, counter);
  forgive_in(long_ring_, long_at_, long_sums_, counter);
}

bool Windows::empty() const {
  const auto nothing = [](std::uint64_t sum) { return sum == 0; };
  return std::ranges::all_of(sums_, nothing) && std::ranges::all_of(long_sums_, nothing);
}

Growth::Growth(FabricClock::duration window, FabricClock::duration long_window)
    : step_{std::max(window / Windows::steps, FabricClock::duration{1})},
      long_step_{std::max(long_window / Windows::long_steps, FabricClock::duration{1})} {}

const Windows* Growth::of(const PortRef& port) const {
  const auto it = troubled_.find(port);
  return it == troubled_.end() ? nullptr : &it->second;
}

void Growth::forgive(const PortRef& port, load::Counter counter) {
  if (const auto it = troubled_.find(port); it != troubled_.end()) it->second.forgive(judged_index(counter));
}

void Growth::rebase(const std::shared_ptr<const Fabric>& fabric) {
  const auto before = std::exchange(fabric_, fabric);
  if (!before) {
    const std::size_t slots = fabric->ports().size();
    sums_.assign(slots, 0);
    bases_.assign(slots, {});
    seen_.assign(slots, 0);
    return;
  }
  carry_over(*before, *fabric, sums_);
  carry_over(*before, *fabric, bases_);
  carry_over(*before, *fabric, seen_);
}

void Growth::turn(Instant now) {
  const std::int64_t turned = now.time_since_epoch() / step_;
  const std::int64_t long_turned = now.time_since_epoch() / long_step_;
  const auto by = static_cast<std::size_t>(std::max<std::int64_t>(turned - turned_, 0));
  const auto long_by = static_cast<std::size_t>(std::max<std::int64_t>(long_turned - long_turned_, 0));
  turned_ = turned;
  long_turned_ = long_turned;
  if (by == 0 && long_by == 0) return;
  for (auto& [port, windows] : troubled_) windows.turn(by, long_by);
  std::erase_if(troubled_, [](const auto& each) { return each.second.empty(); });
}

void Growth::take(const Fabric& fabric, PortIndex port, const load::PortSample& sample) {
  Bases& bases = bases_[port.raw()];
  load::CounterMask& seen = seen_[port.raw()];
  Windows* windows = nullptr;
  for (std::size_t i = 0; i < judged.size(); ++i) {
    if ((sample.known & load::mask(judged[i])) == 0) continue;
    const std::uint64_t total = sample.totals[load::at(judged[i])];
    // A first reading is what others have counted, however long ago.
    if ((seen & load::mask(judged[i])) != 0 && total > bases[i]) {
      if (windows == nullptr) windows = &troubled_[fabric.ref(port)];
      windows->add(i, total - bases[i]);
    }
    bases[i] = total;
    seen |= load::mask(judged[i]);
  }
}

void Growth::read(const load::Sample& sample) {
  if (sample.fabric != fabric_) rebase(sample.fabric);
  turn(sample.ended);
  full_.clear();
  for (std::size_t i = 0; i < sample.ports.size(); ++i) {
    const load::PortSample& port = sample.ports[i];
    const PortIndex index{static_cast<std::uint32_t>(i)};
    if ((port.saturated & judged_mask) != 0) {
      full_.emplace_back(fabric_->ref(index), port.saturated & judged_mask);
    }
    const std::uint64_t sum = sum_of(port);
    const bool all_seen = (port.known & judged_mask & ~seen_[i]) == 0;
    if (sum == sums_[i] && all_seen) continue;
    sums_[i] = sum;
    take(*fabric_, index, port);
  }
}

}  // namespace heddle::health
