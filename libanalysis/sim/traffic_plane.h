/// A data plane that carries flows and answers for the counters that they move: at flow level or at packet
/// level. What plays scenarios, takes commands and keeps time knows no more of it than this.
///
/// Times never go back from one call to the next. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"
#include "sim/change.h"
#include "sim/counter_source.h"
#include "sim/flow/forwarding_view.h"
#include "sim/flow/max_min.h"

namespace heddle::sim {

class FlowSchedule;

struct TrafficFlow {
  PortIndex from;  ///< of a channel adapter or router
  PortIndex to;    ///< an end port: of a channel adapter or router, or port 0 of a switch
  Sl sl{0};
  BitRate demand = unlimited;  ///< never more than the source's link carries
  /// Added to the base LID of `to` (LMC). None: a connection that can migrate, on the path that set_path() or
  /// open_on() says (path_migration.h).
  std::optional<std::uint8_t> path_offset{};
};

using TrafficId = Id<struct TrafficIdTag, std::uint32_t>;

struct FlowFigures {
  std::size_t flows = 0;
  std::size_t unroutable = 0;     ///< of these, without a route
  std::size_t into_off_link = 0;  ///< of these, routed into a link that is off
  BitRate wanted;
  BitRate delivered;
  std::uint64_t delivered_bytes = 0;  ///< since the start
  std::uint64_t lost_bytes = 0;  ///< flow level: wanted by flows without a way; packet level: sent and lost
  /// For how long traffic stood still because it asked more of this machine than it may.
  Picoseconds stood_still{0};
};

class TrafficPlane : public CounterSource, public ChangeListener {
 public:
  /// Errors: Invalid for ends that cannot send or receive, or are the same port.
  virtual Result<TrafficId> add(const TrafficFlow& flow, Picoseconds at) = 0;
  virtual void remove(TrafficId flow, Picoseconds at) = 0;
  virtual void set_demand(TrafficId flow, BitRate demand, Picoseconds at) = 0;

  /// Of a flow without a path offset of its own.
  virtual void set_path(TrafficId flow, std::uint8_t offset, Picoseconds at) = 0;
  /// Where such flows are from their beginning, those that are added later.
  virtual void open_on(std::uint8_t offset) = 0;
  /// All flows that are there.
  [[nodiscard]] virtual std::vector<TrafficId> ids() const = 0;
  /// Added to the base LID of its destination.
  [[nodiscard]] virtual std::uint8_t path(TrafficId flow) const = 0;

  /// Must outlive the plane, or be taken away with nullptr.
  virtual void set_schedule(FlowSchedule* schedule) = 0;
  /// Runs the schedule up to and including `at`. Call it no later than next_event(), before the fabric
  /// changes.
  virtual void advance(Picoseconds at) = 0;
  [[nodiscard]] virtual std::optional<Picoseconds> next_event() const = 0;
  /// This machine did not get through with what was scheduled in time: what follows comes so much later.
  /// Nothing for a plane that looks after that by itself.
  virtual void postpone(Picoseconds /*by*/) {}

  [[nodiscard]] virtual const ForwardingView& view() const = 0;
  [[nodiscard]] virtual const TrafficFlow& flow(TrafficId id) const = 0;
  /// What the flow carries at `at`, after all changes made so far.
  [[nodiscard]] virtual BitRate rate(TrafficId flow, Picoseconds at) = 0;
  [[nodiscard]] virtual FlowFigures figures(Picoseconds at) = 0;
};

}  // namespace heddle::sim
