/// Why packets came in broken at a port, or were thrown away there, where its agent tells
/// (PortRcvErrorDetails and PortXmitDiscardDetails, IBA 16.1.4.1 and 16.1.4.2): with that, a finding knows
/// whom to blame. Asked of ports only that a rule tells of.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "fabric/fabric.h"

namespace heddle::health {

/// Packets that PortRcvErrors counted.
struct ReceiveKinds {
  std::uint64_t physical = 0;   ///< broken on this very link
  std::uint64_t malformed = 0;  ///< whole, and wrong as they were sent
  std::uint64_t overruns = 0;   ///< more than there was room for
  friend bool operator==(const ReceiveKinds&, const ReceiveKinds&) = default;
};

/// Packets that PortXmitDiscards counted.
struct DiscardKinds {
  std::uint64_t inactive = 0;   ///< the link was not Active
  std::uint64_t too_large = 0;  ///< for the MTU of the other end
  std::uint64_t too_old = 0;    ///< the switch's lifetime limit, or that of the head of a queue
  friend bool operator==(const DiscardKinds&, const DiscardKinds&) = default;
};

/// Since the port's counters were reset. None: the agent does not tell.
struct DetailReading {
  PortIndex port = no_port;
  std::optional<ReceiveKinds> received;
  std::optional<DiscardKinds> discarded;
};

struct DetailRound {
  std::shared_ptr<const Fabric> fabric;
  std::vector<DetailReading> ports;
};

class ErrorDetails {
 public:
  /// What ports that the round did not read had told is forgotten.
  void on_round(const DetailRound& round);

  /// What it grew by since the port was read first; before it grew, what stood there then.
  [[nodiscard]] std::optional<ReceiveKinds> received(const PortRef& port) const;
  [[nodiscard]] std::optional<DiscardKinds> discarded(const PortRef& port) const;

 private:
  struct Port {
    DetailReading first;
    DetailReading last;
  };
  std::map<PortRef, Port> ports_;
};

}  // namespace heddle::health
