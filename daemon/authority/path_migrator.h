/// Moves the connections of hosts from one LID plane to another: by agents on the hosts that load alternate
/// paths and migrate them (IBA 17.2.8, Automatic Path Migration; verbs: ibv_modify_qp with
/// IBV_QP_PATH_MIG_STATE), or in the simulator. What it cannot reach stays where it is: tables are written in
/// stages for that.
#pragma once

#include <functional>

#include "base/result.h"
#include "base/units.h"
#include "regulation/governor_options.h"

namespace heddle::regulate {

class PathMigrator {
 public:
  using Done = std::function<void(const Result<void>&, Instant now)>;

  virtual ~PathMigrator() = default;

  /// Planes: all traffic can be moved, as far as is known.
  [[nodiscard]] virtual regulation::Movement movement() const { return regulation::Movement::Planes; }

  /// Connections with a loaded alternate path in this plane use it from here on, and have their former plane
  /// loaded as the next alternate when this is answered. Connections that are there already stay. Never
  /// answers from within the call. Errors: Unreachable names a host whose agent did not confirm.
  virtual void migrate(unsigned plane, Instant now, Done done) = 0;
};

}  // namespace heddle::regulate
