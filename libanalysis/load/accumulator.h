/// Collects the readings of sweep after sweep into Samples: totals that only grow, rates over the true time
/// between two readings of a port, and the figures that follow. One thread; the Samples it publishes may go
/// anywhere. Buffers of Samples that nobody holds any more are used again, so that steady state allocates
/// nothing per port.
#pragma once

#include <memory>
#include <vector>

#include "fabric/fabric.h"
#include "load/locality.h"
#include "load/port_counts.h"
#include "load/reading.h"
#include "load/sample.h"
#include "load/tick.h"

namespace heddle::load {

class Accumulator {
 public:
  explicit Accumulator(TickTable ticks = {});
  ~Accumulator();

  /// Goes on with another snapshot: ports that are in both keep totals, gaps and the reading to compare with,
  /// by their PortRef. What was read since the last finish() is kept as well.
  void rebase(std::shared_ptr<const Fabric> fabric, std::shared_ptr<const LocalitySets> sets);
  [[nodiscard]] const std::shared_ptr<const Fabric>& fabric() const { return fabric_; }

  /// Ports by PortIndex of fabric(). A port may be read several times in a sweep.
  Advance add(PortIndex port, const Reading& reading);
  void confirm_reset(PortIndex port, CounterMask counters, Instant at);
  void suspect_reset(PortIndex port, CounterMask counters);
  /// This sweep got no answer from the port, or none that could be read.
  void fail(PortIndex port, SampleFailure::Reason reason);
  /// This sweep leaves the port out because it is down.
  void rest(PortIndex port);

  /// Publishes what has been collected since the last finish(). Precondition: rebase() has been called.
  [[nodiscard]] std::shared_ptr<const Sample> finish(Instant began, Instant ended);

 private:
  class Pool;
  struct PortLimits {
    Capacity capacity;           ///< never 0: a link may come up after the snapshot was taken
    float bytes_per_second = 0;  ///< 0 while down
    float ticks_per_second = 0;
  };

  [[nodiscard]] std::shared_ptr<Sample> blank() const;
  Sample& next();
  PortSample& open(PortIndex port);
  void close(std::size_t port);

  TickTable ticks_;
  std::shared_ptr<Pool> pool_;
  std::shared_ptr<const Fabric> fabric_;
  std::shared_ptr<const LocalitySets> sets_;
  std::uint64_t number_ = 0;

  // By PortIndex of fabric_.
  std::vector<PortLimits> limits_;
  std::vector<PortCounts> counts_;
  std::vector<bool> touched_;       ///< read since the last finish()
  std::vector<PortStatus> status_;  ///< as far as the sampler said

  std::shared_ptr<const Sample> last_;  ///< on fabric_, though perhaps a copy of what was published
  std::shared_ptr<Sample> next_;        ///< being filled; none before there is something to fill in
};

}  // namespace heddle::load
