/// Which links went down by themselves, and which by somebody's will: an order of this daemon, a port that
/// was disabled, a switch that was switched off. PortInfo shows only how a port stands, and LinkDowned counts
/// both.
#pragma once

#include <deque>
#include <map>
#include <set>

#include "fabric/change.h"
#include "health/growth.h"

namespace heddle::health {

class DropWatch {
 public:
  explicit DropWatch(FabricClock::duration window) : window_{window} {}

  /// Links that are off, or about to be, by this daemon's orders.
  void will(std::set<LinkRef> links) { willed_ = std::move(links); }
  [[nodiscard]] const std::set<LinkRef>& willed() const { return willed_; }
  void on_fabric(const Fabric& before, const Fabric& after, Instant now);
  /// Takes from the counters what was willed, and forgets what is older than the window.
  void settle(Growth& growth, Instant now);

  /// How often sweeps saw the link go by itself, within the window.
  [[nodiscard]] std::size_t count(const LinkRef& link) const;

 private:
  void excuse(const LinkRef& link, Instant until);

  FabricClock::duration window_;
  std::set<LinkRef> willed_;
  std::set<LinkRef> held_;              ///< that went by will and are not back
  std::map<PortRef, Instant> excused_;  ///< ports whose LinkDowned and XmitDiscards are excused until then
  std::map<LinkRef, std::deque<Instant>> drops_;
};

}  // namespace heddle::health
