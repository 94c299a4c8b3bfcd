#include "sim/flow/path_migration.h"

#include <fmt/format.h>

namespace heddle::sim {

Result<ConnectionPaths*> PathMigration::connection(TrafficId flow) {
  if (plane_.flow(flow).path_offset) {
    return fail(ErrorCode::Refused, fmt::format("flow {} is no connection that can migrate", flow.raw()));
  }
  ConnectionPaths& paths = connections_[flow];
  // A flow that was removed and another one that has its number begin anew.
  if (paths.primary != plane_.path(flow)) paths = {};
  paths.primary = plane_.path(flow);
  return &paths;
}

Result<void> PathMigration::load_alternate(TrafficId flow, std::uint8_t offset) {
  auto found = connection(flow);
  if (!found) return fail(found.error());
  if ((*found)->state == MigrationState::Armed) {
    return fail(ErrorCode::Refused, "the alternate path of an armed connection stays until it has migrated");
  }
  (*found)->alternate = offset;
  return {};
}

Result<void> PathMigration::rearm(TrafficId flow) {
  auto found = connection(flow);
  if (!found) return fail(found.error());
  if (!(*found)->alternate || (*found)->state != MigrationState::Migrated) {
    return fail(ErrorCode::Refused, "only a migrated connection with an alternate path can be rearmed");
  }
  (*found)->state = MigrationState::Rearm;
  return {};
}

Result<void> PathMigration::arm(TrafficId flow) {
  auto found = connection(flow);
  if (!found) return fail(found.error());
  if ((*found)->state != MigrationState::Rearm) {
    return fail(ErrorCode::Refused, "a connection is armed when both of its ends have been rearmed");
  }
  (*found)->state = MigrationState::Armed;
  return {};
}

Result<void> PathMigration::migrate(TrafficId flow, Picoseconds at) {
  auto found = connection(flow);
  if (!found) return fail(found.error());
  ConnectionPaths& paths = **found;
  if (paths.state != MigrationState::Armed) {
    return fail(ErrorCode::Refused, "only an armed connection can migrate");
  }
  paths.primary = *paths.alternate;
  paths.alternate.reset();
  paths.state = MigrationState::Migrated;
  plane_.set_path(flow, paths.primary, at);
  return {};
}

ConnectionPaths PathMigration::paths(TrafficId flow) const {
  const auto it = connections_.find(flow);
  if (it != connections_.end() && it->second.primary == plane_.path(flow)) return it->second;
  return {plane_.path(flow), std::nullopt, MigrationState::Migrated};
}

void PathMigration::set_agent(PortIndex host, Agent agent) {
  if (agent == Agent::Silent) {
    silent_.insert(host);
  } else {
    silent_.erase(host);
  }
}

Result<void> PathMigration::arm_for(TrafficId flow, std::uint8_t offset) {
  for (auto& done : {load_alternate(flow, offset), rearm(flow), arm(flow)}) {
    if (!done) return done;
  }
  return {};
}

Result<void> PathMigration::arm_other(TrafficId flow) {
  auto found = connection(flow);
  if (!found) return fail(found.error());
  if ((*found)->state == MigrationState::Armed) return {};
  return arm_for(flow, static_cast<std::uint8_t>((*found)->primary ^ 1U));
}

Result<void> PathMigration::move(TrafficId flow, std::uint8_t offset, Picoseconds at) {
  auto found = connection(flow);
  if (!found) return fail(found.error());
  ConnectionPaths& paths = **found;
  const std::uint8_t former = paths.primary;
  if (former == offset) return {};
  if (paths.state == MigrationState::Armed && paths.alternate != offset) paths = {former, {}, {}};
  if (paths.state == MigrationState::Migrated) {
    if (auto armed = arm_for(flow, offset); !armed) return armed;
  }
  if (auto moved = migrate(flow, at); !moved) return moved;
  return arm_for(flow, former);
}

Result<void> PathMigration::move_all(std::uint8_t offset, Picoseconds at) {
  plane_.open_on(offset);
  Result<void> result;
  for (const TrafficId flow : plane_.ids()) {
    const TrafficFlow& spec = plane_.flow(flow);
    if (spec.path_offset) continue;
    if (silent_.contains(spec.from)) {
      const Fabric& fabric = plane_.view().description();
      result = fail(ErrorCode::Unreachable, fmt::format("the path migration agent of {} does not answer",
                                                        to_string(fabric.ref(spec.from))));
      continue;
    }
    if (auto moved = move(flow, offset, at); !moved) return moved;
  }
  return result;
}

}  // namespace heddle::sim
