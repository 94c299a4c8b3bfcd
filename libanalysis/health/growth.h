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

/// Of one port. A window has so many steps; what happened in the oldest one is forgotten at once.
class Windows {
 public:
  static constexpr int steps = 12;
  static constexpr int long_steps = 25;

  void add(std::size_t counter, std::uint64_t growth);
  /// The window moves on by so many steps.
  void turn(std::size_t by, std::size_t long_by);
  /// As if the counter had not grown in the last step and the one before it.
  void forgive(std::size_t counter);

  [[nodiscard]] std::uint64_t recent(load::Counter counter) const { return sums_[judged_index(counter)]; }
  [[nodiscard]] std::uint64_t all(load::Counter counter) const { return long_sums_[judged_index(counter)]; }
  [[nodiscard]] bool empty() const;

 private:
  using Step = std::array<std::uint32_t, judged.size()>;
  using Sums = std::array<std::uint64_t, judged.size()>;

  std::array<Step, steps> ring_{};
  std::array<Step, long_steps> long_ring_{};
  std::size_t at_ = 0;
  std::size_t long_at_ = 0;
  Sums sums_{};
  Sums long_sums_{};
};

class Growth {
 public:
  Growth(FabricClock::duration window, FabricClock::duration long_window);

  /// What this sweep read. Ports go on by PortRef where the snapshot is another one.
  void read(const load::Sample& sample);

  /// Null where nothing grew.
  [[nodiscard]] const Windows* of(const PortRef& port) const;
  [[nodiscard]] const std::map<PortRef, Windows>& troubled() const { return troubled_; }
  /// Ports whose counters stand at their largest value, and which.
  [[nodiscard]] const std::vector<std::pair<PortRef, load::CounterMask>>& full() const { return full_; }
  /// What the counter grew by lately was somebody's will.
  void forgive(const PortRef& port, load::Counter counter);

 private:
  using Bases = std::array<std::uint64_t, judged.size()>;

  void rebase(const std::shared_ptr<const Fabric>& fabric);
  void turn(Instant now);
  void take(const Fabric& fabric, PortIndex port, const load::PortSample& sample);

  FabricClock::duration step_;
  FabricClock::duration long_step_;
  std::int64_t turned_ = 0;  ///< steps of the windows until now
  std::int64_t long_turned_ = 0;
  std::shared_ptr<const Fabric> fabric_;
  std::vector<std::uint64_t> sums_;  ///< by PortIndex: of all that is judged, to see at a glance what grew
  std::vector<Bases> bases_;         ///< likewise: totals when they were read last
  std::vector<load::CounterMask> seen_;  ///< likewise: counters that have a base
  std::map<PortRef, Windows> troubled_;
  std::vector<std::pair<PortRef, load::CounterMask>> full_;
};

}  // namespace heddle::health
