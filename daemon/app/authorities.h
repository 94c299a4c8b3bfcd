/// Which authority is in force: the one place where the configuration is asked.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/config.h"
#include "app/disk_thread.h"
#include "app/plugin_server.h"
#include "authority/authority.h"
#include "authority/path_migrator.h"
#include "authority/plan_store.h"
#include "core/fabric_core.h"
#include "metrics/opensm_families.h"
#include "transport/transport.h"

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
  transport::Transport& transport;
  regulate::PathMigrator* migrator = nullptr;  ///< null where no host has an agent
  core::FabricCore& core;
  opensm::PlanStore& plans;
  /// How whoever was handed something comes back.
  std::function<Enter(core::Source)> entering;
};

/// What `around` names must outlive it. Errors: of PluginServer::listen.
[[nodiscard]] Result<AuthorityInForce> open_authority(const AroundAuthority& around, const Config& config);

/// What proves who one is to this fabric: key of the configuration, and value.
[[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> secrets_of(const Config& config);

/// Whether all that the authority hears is written down by record/. What the plugin says is not, nor what
/// became of a file for OpenSM.
[[nodiscard]] bool can_be_recorded(const Config& config);

}  // namespace heddle::app
