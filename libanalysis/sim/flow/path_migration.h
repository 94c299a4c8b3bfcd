/// Automatic path migration as simulated channel adapters do it (IBA 17.2.8), and the agents on their hosts
/// that use it: each connection has a primary path, perhaps an alternate one, and a migration state. The
/// agents keep an alternate path loaded and armed; told to, they move all connections of their host to a LID
/// plane.
///
/// Flows of the plane with a path offset of their own are not connections that can migrate (datagrams,
/// programs that choose LIDs by themselves): they stay where they are. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "base/result.h"
#include "sim/traffic_plane.h"

namespace heddle::sim {

enum class MigrationState : std::uint8_t {
  Migrated,  ///< on the primary path; whatever alternate is loaded is not to be used
  Rearm,     ///< this end is ready to be armed, and waits for the other one
  Armed,     ///< may migrate to the alternate path
};

/// Paths are named by what is added to the base LID of the destination.
struct ConnectionPaths {
  std::uint8_t primary = 0;
  std::optional<std::uint8_t> alternate;
  MigrationState state = MigrationState::Migrated;
  friend bool operator==(const ConnectionPaths&, const ConnectionPaths&) = default;
};

class PathMigration {
 public:
  explicit PathMigration(TrafficPlane& plane) : plane_{plane} {}

  // As verbs do it, one connection at a time (ibv_modify_qp).

  /// Errors: Refused for a flow that cannot migrate, and while armed.
  Result<void> load_alternate(TrafficId flow, std::uint8_t offset);
  /// Migrated to Rearm: this end. Errors: Refused without an alternate path, or in another state.
  Result<void> rearm(TrafficId flow);
  /// Rearm to Armed: the other end has answered. Errors: Refused in another state.
  Result<void> arm(TrafficId flow);
  /// Armed to Migrated: the alternate path is the primary one from here on. Errors: Refused in another state.
  Result<void> migrate(TrafficId flow, Picoseconds at);
  [[nodiscard]] ConnectionPaths paths(TrafficId flow) const;

  // As the agents do it.

  /// Of one connection: has the way to the other plane loaded and armed. Errors: as above.
  Result<void> arm_other(TrafficId flow);
  /// To the path with this offset, with the one that it had armed for the way back. Errors: as above.
  Result<void> move(TrafficId flow, std::uint8_t offset, Picoseconds at);

  /// Moves every connection to the path with this offset, those that are opened later included, and arms it
  /// for the way back. Errors: Unreachable names a host whose agent does not answer; the others have moved.
  Result<void> move_all(std::uint8_t offset, Picoseconds at);
  /// The agent of this host port does not answer, or does again.
  enum class Agent : std::uint8_t { Answers, Silent };
  void set_agent(PortIndex host, Agent agent);

 private:
  [[nodiscard]] Result<ConnectionPaths*> connection(TrafficId flow);
  Result<void> arm_for(TrafficId flow, std::uint8_t offset);

  TrafficPlane& plane_;
  std::map<TrafficId, ConnectionPaths> connections_;  ///< that have been touched
  std::set<PortIndex> silent_;
};

}  // namespace heddle::sim
