/// How much the error counters of ports grew within two windows that slide: only of ports where any grew, so
/// that a fabric without errors costs one comparison a port and sweep.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "health/sliding.h"
#include "load/sample.h"

namespace heddle::health {

/// Counters that rules look at.
inline constexpr std::array judged{load::Counter::SymbolErrors,
                                   load::Counter::LinkRecovers,
                                   load::Counter::LinkDowned,
                                   load::Counter::RcvErrors,
                                   load::Counter::XmitDiscards,
                                   load::Counter::LocalLinkIntegrityErrors,
                                   load::Counter::ExcessiveBufferOverrunErrors};
inline constexpr load::CounterMask judged_mask =
    load::mask(load::Counter::SymbolErrors, load::Counter::LinkRecovers, load::Counter::LinkDowned,
               load::Counter::RcvErrors, load::Counter::XmitDiscards, load::Counter::LocalLinkIntegrityErrors,
               load::Counter::ExcessiveBufferOverrunErrors);

[[nodiscard]] constexpr std::size_t judged_index(load::Counter counter) {
  std::size_t i = 0;
  while (judged[i] != counter) ++i;
  return i;
}

/// Of one port.
class Windows : public Sliding<judged.size()> {
 public:
  [[nodiscard]] std::uint64_t recent(load::Counter counter) const {
    return Sliding::recent(judged_index(counter));
  }
  [[nodiscard]] std::uint64_t all(load::Counter counter) const { return Sliding::all(judged_index(counter)); }
};

class Growth {
 public:
  Growth(FabricClock::duration window, FabricClock::duration long_window);

  /// Makes room ahead of the first sweep, which is likely to be of this fabric. No more than that: which
  /// sweeps there are is told by read().
  void prepare(const std::shared_ptr<const Fabric>& fabric) {
    if (!fabric_) rebase(fabric);
  }
  /// What this sweep read. Ports go on by PortRef where the snapshot is another one.
  void read(const load::Sample& sample);

  /// Null where nothing grew.
  [[nodiscard]] const Windows* of(const PortRef& port) const;
  [[nodiscard]] const std::map<PortRef, Windows>& troubled() const { return troubled_; }
  /// Ports whose link went down since they were read before (LinkDowned), as the last sweep showed.
  [[nodiscard]] const std::vector<PortRef>& downed() const { return downed_; }
  /// Ports whose counters stand at their largest value, and which.
  [[nodiscard]] const std::vector<std::pair<PortRef, load::CounterMask>>& full() const { return full_; }
  /// What the counter grew by lately was somebody's will.
  void forgive(const PortRef& port, load::Counter counter);

 private:
  using Bases = std::array<std::uint64_t, judged.size()>;

  void rebase(const std::shared_ptr<const Fabric>& fabric);
  void turn(Instant now);
  void take(const Fabric& fabric, PortIndex port, const load::PortSample& sample);

  StepClock clock_;
  std::shared_ptr<const Fabric> fabric_;
  std::vector<std::uint64_t> sums_;  ///< by PortIndex: of all that is judged, to see at a glance what grew
  std::vector<Bases> bases_;         ///< likewise: totals when they were read last
  std::vector<load::CounterMask> seen_;  ///< likewise: counters that have a base
  std::map<PortRef, Windows> troubled_;
  std::vector<PortRef> downed_;
  std::vector<std::pair<PortRef, load::CounterMask>> full_;
};

}  // namespace heddle::health
