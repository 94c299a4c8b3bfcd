/// Rules on what passes, or waits: counters that never move, trunks of which one link carries far more than
/// another, hosts that take less than their link brings.
/// Looks at what was counted from one end of a window to the other; what it found stands until the next one
/// has ended.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "health/finding.h"
#include "health/options.h"
#include "load/sample.h"

namespace heddle::health {

class TrafficWatch {
 public:
  explicit TrafficWatch(const Options& options);

  void on_sample(const load::Sample& sample);
  /// `since` is not filled in.
  [[nodiscard]] const std::vector<Finding>& findings() const { return findings_; }

 private:
  /// Of a port, as the window began.
  struct Base {
    std::uint64_t xmit_packets = 0;
    std::uint64_t rcv_packets = 0;
    std::uint64_t xmit_data = 0;
    std::uint64_t xmit_wait = 0;
    std::uint32_t gaps = 0;
    bool holds = false;  ///< it was Active, and was read
  };

  /// Of the direction that leaves a port, over the window; nothing where it cannot be told.
  struct Passed {
    std::optional<double> busy;     ///< 0..1
    std::optional<double> waiting;  ///< likewise: share of the time
  };

  void begin(const load::Sample& sample);
  void judge(const load::Sample& sample);
  void judge_counters(const load::Sample& sample, std::map<PortRef, unsigned>& silent);
  void judge_receivers(const load::Sample& sample, double seconds_passed, std::map<PortRef, unsigned>& slow);
  [[nodiscard]] std::size_t ports_behind(NodeIndex leaf, const std::vector<bool>& waits) const;
  [[nodiscard]] Passed passed(const load::Sample& sample, LinkEnd from, double seconds_passed) const;
  void judge_trunks(const load::Sample& sample, double seconds_passed);
  [[nodiscard]] bool is_whole(const load::Sample& sample, PortIndex port) const;

  FabricClock::duration window_;
  double unbalance_;
  double unbalance_from_;
  double slow_receiver_;
  load::TickTable ticks_;
  std::shared_ptr<const Fabric> fabric_;
  Instant began_{};
  std::vector<Base> bases_;             ///< by PortIndex of fabric_
  std::map<PortRef, unsigned> silent_;  ///< windows one after the other in which they did not move
  std::map<PortRef, unsigned> slow_;    ///< likewise, in which they waited for their host
  std::vector<Finding> findings_;
};

}  // namespace heddle::health
