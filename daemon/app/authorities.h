/// Which authority is in force: the one place where the configuration is asked.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>

#include "app/backend.h"
#include "app/config.h"
#include "app/disk_thread.h"
#include "app/plugin_server.h"
#include "authority/authority.h"
#include "authority/path_migrator.h"
#include "authority/plan_store.h"
#include "core/fabric_core.h"
#include "metrics/opensm_families.h"

namespace heddle::app {

/// The authority, and what must outlive it.
struct AuthorityInForce {
  /// Where the daemon is beside OpenSM.
  std::unique_ptr<opensm::PluginServer> plugin;
  /// Where the daemon writes OpenSM's file, and waits for `opensm.reload`: the journal does not.
  std::unique_ptr<DiskThread> tables;
  /// Null where no host moves its connections.
  std::unique_ptr<regulate::PathMigrator> hosts;
  /// Null where the daemon is not beside OpenSM.
  std::shared_ptr<metrics::OpenSmMetrics> opensm_metrics;
  std::unique_ptr<authority::Authority> authority;
};

struct AroundAuthority {
  boost::asio::io_context& io;
  Backend& backend;
  core::FabricCore& core;
  opensm::PlanStore& plans;
  Enter enter;
};

/// What `around` names must outlive it. Errors: of PluginServer::listen.
[[nodiscard]] Result<AuthorityInForce> open_authority(const AroundAuthority& around, const Config& config);

}  // namespace heddle::app
