/// Agents of simulated hosts, as heddle-agent is one: each answers MADs at its host's port (apm/agent.h) and
/// moves the connections that its host has begun. Some can be made to behave as they should not.
///
/// A connection is moved by the end that sends; flows that were given a path of their own cannot move. The
/// fabric, the plane and the migration must outlive it. One thread, that of the fabric.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "apm/agent.h"
#include "sim/flow/path_migration.h"
#include "sim/simulated_fabric.h"
#include "sim/traffic_plane.h"

namespace heddle::sim {

enum class AgentConduct : std::uint8_t {
  Honest,
  Dead,    ///< says nothing, does nothing
  Late,    ///< answers a request when the next one comes
  Slow,    ///< connections take a while
  Half,    ///< every second connection cannot be moved
  Boasts,  ///< says that all have moved, against its own figures
  Lies,    ///< says that all have moved, with figures to it, and moves nothing
};

class HostAgents {
 public:
  HostAgents(SimulatedFabric& fabric, TrafficPlane& plane, PathMigration& migration, const apm::Key& key);
  ~HostAgents();
  HostAgents(const HostAgents&) = delete;
  HostAgents& operator=(const HostAgents&) = delete;

  /// From here on. Precondition: an end port of a channel adapter with a cable.
  void set_conduct(PortIndex host, AgentConduct conduct);
  /// Of Slow.
  static constexpr Picoseconds slowness = std::chrono::seconds{3};
  /// The agent begins anew: it has forgotten all but the number of the last order.
  void restart(PortIndex host);

 private:
  class At;
  [[nodiscard]] At& at(PortIndex host);

  apm::Key key_;
  std::vector<std::unique_ptr<At>> agents_;
};

}  // namespace heddle::sim
