#include "health/growth.h"

#include <algorithm>

#include "health/carry.h"

namespace heddle::health {
namespace {

std::uint64_t sum_of(const load::PortSample& sample) {
  std::uint64_t sum = 0;
  for (const load::Counter counter : judged) sum += sample.totals[load::at(counter)];
  return sum;
}

}  // namespace

Growth::Growth(FabricClock::duration window, FabricClock::duration long_window)
    : clock_{window, long_window} {}

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
  const auto steps = clock_.advance(now);
  if (steps.by == 0 && steps.long_by == 0) return;
  for (auto& [port, windows] : troubled_) windows.turn(steps.by, steps.long_by);
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
      if (judged[i] == load::Counter::LinkDowned) downed_.push_back(fabric.ref(port));
    }
    bases[i] = total;
    seen |= load::mask(judged[i]);
  }
}

void Growth::read(const load::Sample& sample) {
  if (sample.fabric != fabric_) rebase(sample.fabric);
  turn(sample.ended);
  full_.clear();
  downed_.clear();
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
