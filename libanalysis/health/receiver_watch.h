/// Hosts that take packets more slowly than their link brings them. What is for such a host waits at its
/// switch, takes the room of what is for others, and these wait in turn: congestion that spreads from one
/// host. A link that carries what it can is no sign of it: what waits there waits for its turn.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "health/finding.h"
#include "health/options.h"
#include "load/sample.h"

namespace heddle::health {

class ReceiverWatch {
 public:
  explicit ReceiverWatch(const Options& options);

  /// Looks at the fabric ahead of the first sample, which is likely to be of it.
  void prepare(const std::shared_ptr<const Fabric>& fabric);
  void on_sample(const load::Sample& sample);
  /// Of the last window that has ended. `since` is not filled in.
  [[nodiscard]] const std::vector<Finding>& findings() const { return findings_; }

 private:
  /// A switch's port that leads to a host.
  struct Seat {
    PortIndex port;
    LinkEnd from;
    LinkEnd to;
  };
  /// Seconds of the window.
  struct Times {
    float starved = 0;  ///< had data and no credits, its link not being full
    float busy = 0;
  };

  void look_at(const std::shared_ptr<const Fabric>& fabric);
  void judge(const load::Sample& sample);
  [[nodiscard]] std::size_t ports_behind(const load::Sample& sample, NodeIndex leaf) const;

  FabricClock::duration window_;
  float limit_;
  std::shared_ptr<const Fabric> fabric_;
  std::vector<Seat> seats_;
  std::vector<Times> times_;  ///< by PortIndex of fabric_
  bool sampled_ = false;
  Instant began_{};
  Instant last_{};                    ///< sample
  std::map<PortRef, unsigned> slow_;  ///< windows one after the other
  std::vector<Finding> findings_;
};

}  // namespace heddle::health
