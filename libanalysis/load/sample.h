/// One sweep over all ports: a consistent, time-stamped picture that never changes once it is published.
/// Shared by `shared_ptr<const Sample>` between threads without locks; metrics, page and governor read it.
/// All arrays are dense by the PortIndex and NodeIndex of its own `fabric`.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/units.h"
#include "fabric/fabric.h"
#include "load/counter.h"

namespace heddle::load {

/// What is not known: no two readings of the port, a saturated counter, a gap, no answer.
inline constexpr float unknown = std::numeric_limits<float>::quiet_NaN();
[[nodiscard]] inline bool is_known(float figure) { return !std::isnan(figure); }

/// Of a port that has not been read.
inline constexpr Instant never = Instant::min();

enum class PortStatus : std::uint8_t {
  NotSampled,  ///< has no counters: port 0 of a channel adapter or a base switch port 0, a node without LID
  Fresh,       ///< read in this sweep
  Failed,      ///< asked in this sweep without success; the totals are older
  Resting,     ///< down, and not this sweep's turn to be read; the totals are older
};

struct PortSample {
  CounterValues totals{};   ///< since the first reading; data in units of 4 bytes
  Instant at = never;       ///< when the data counters were read
  Instant wait_at = never;  ///< when XmitWait was read
  CounterMask known = 0;
  CounterMask saturated = 0;      ///< stand at their largest value: the totals are lower bounds
  std::uint32_t saturations = 0;  ///< readings with a saturated data or packet counter so far
  std::uint32_t gaps = 0;         ///< readings so far whose growth could not be told
  float xmit_bytes_per_second = unknown;
  float rcv_bytes_per_second = unknown;
  float xmit_packets_per_second = unknown;
  float rcv_packets_per_second = unknown;
  float utilization = unknown;  ///< of the direction that leaves this port; 0..1
  float congestion = unknown;   ///< share of the time that this port had data and could not send; 0..1
  PortStatus status = PortStatus::NotSampled;
};

/// Errors of all kinds that were counted at a port, waiting for credits not among them.
[[nodiscard]] inline std::uint64_t error_count(const PortSample& port) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < counter_count; ++i) {
    const auto counter = static_cast<Counter>(i);
    if (counter != Counter::XmitWait && (error_counters & mask(counter)) != 0) sum += port.totals[i];
  }
  return sum;
}

/// Sums and means over a switch's or the whole fabric's links.
struct Figures {
  double xmit_bytes_per_second = 0;
  double rcv_bytes_per_second = 0;
  std::uint32_t cabled = 0;      ///< ports with a cable
  std::uint32_t unmeasured = 0;  ///< of them, those whose utilization is not known
  float utilization_mean = unknown;
  float utilization_max = unknown;
  float congestion_mean = unknown;
  float congestion_max = unknown;
};

struct FabricFigures {
  Figures links;              ///< over all ports with a cable, both ends of it
  double injected = 0;        ///< bytes/s that hosts send; aggregation nodes excluded
  double delivered = 0;       ///< bytes/s that hosts receive; likewise
  double aggregation_in = 0;  ///< bytes/s between switches and aggregation nodes
  double aggregation_out = 0;
};

struct SampleFailure {
  enum class Reason : std::uint8_t { Timeout, BadAnswer, NotSent };
  PortIndex port;
  Reason reason = Reason::Timeout;
};

/// Locality of a set of nodes (IBPM); unknown where nothing is generated, or consumed, respectively.
struct SetLocality {
  float generated = unknown;
  float consumed = unknown;
  float total = unknown;
};

struct Sample {
  std::shared_ptr<const Fabric> fabric;
  std::uint64_t number = 0;  ///< of the sweep, from 1
  Instant began;
  Instant ended;
  std::vector<PortSample> ports;  ///< by PortIndex
  std::vector<Figures> nodes;     ///< by NodeIndex
  FabricFigures total;
  std::vector<SampleFailure> failures;
  /// Names of the locality sets and, at the same position, their figures.
  std::shared_ptr<const std::vector<std::string>> set_names;
  std::vector<SetLocality> locality;

  [[nodiscard]] const PortSample& port(PortIndex i) const { return ports[i.raw()]; }
  [[nodiscard]] const PortSample& port(LinkEnd end) const { return ports[fabric->port_index(end).raw()]; }
};

/// Bytes per second that leave `port`: by its own transmit counter, else by what the other end received.
[[nodiscard]] float leaving(const Fabric& fabric, const std::vector<PortSample>& ports, PortIndex port);
/// Bytes per second that come in at `port`, likewise.
[[nodiscard]] float entering(const Fabric& fabric, const std::vector<PortSample>& ports, PortIndex port);

}  // namespace heddle::load
