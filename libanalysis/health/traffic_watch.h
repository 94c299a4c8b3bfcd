/// Rules on what passes: counters that never move, trunks of which one link carries far more than another.
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

  /// Looks at the fabric ahead of the first sample, which is likely to be of it.
  void prepare(const std::shared_ptr<const Fabric>& fabric);
  void on_sample(const load::Sample& sample);
  /// `since` is not filled in.
  [[nodiscard]] const std::vector<Finding>& findings() const { return findings_; }

 private:
  /// Of a port, as the window began.
  struct Base {
    std::uint64_t xmit_packets = 0;
    std::uint64_t rcv_packets = 0;
    std::uint64_t xmit_data = 0;
    std::uint32_t gaps = 0;
    bool holds = false;  ///< it was Active, and was read
  };

  void look_at(const std::shared_ptr<const Fabric>& fabric);
  void begin(const load::Sample& sample);
  void judge(const load::Sample& sample);
  void judge_counters(const load::Sample& sample, std::map<PortRef, unsigned>& silent);
  void find_trunks();
  /// None where it cannot be told.
  [[nodiscard]] std::optional<double> busy(const load::Sample& sample, LinkEnd from,
                                           double seconds_passed) const;
  void judge_trunks(const load::Sample& sample, double seconds_passed);
  [[nodiscard]] bool is_whole(const load::Sample& sample, PortIndex port) const;

  FabricClock::duration window_;
  double unbalance_;
  double unbalance_from_;
  std::shared_ptr<const Fabric> fabric_;
  std::vector<std::vector<LinkEnd>> trunks_;  ///< of fabric_: a list for each direction between two switches
  bool sampled_ = false;
  Instant began_{};
  std::vector<Base> bases_;             ///< by PortIndex of fabric_
  std::map<PortRef, unsigned> silent_;  ///< windows one after the other in which they did not move
  std::vector<Finding> findings_;
};

}  // namespace heddle::health
