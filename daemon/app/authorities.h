/// Which authority is in force: the one place where the configuration is asked.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/config.h"
#include "app/disk_thread.h"
#include "app/plugin_server.h"
#include "app/tables_file.h"
#include "authority/authority.h"
#include "authority/path_migrator.h"
#include "authority/plan_store.h"
#include "core/fabric_core.h"
#include "metrics/opensm_families.h"
#include "record/recorder.h"
#include "record/replay.h"
#include "transport/transport.h"

namespace heddle::opensm {
class BesideOpenSm;
}

namespace heddle::app {

/// Where OpenSM's plugin is heard.
struct PluginDoor {
  std::unique_ptr<opensm::PluginServer> server;  ///< null where a run is played
  /// In front of it, where a run is recorded or played.
  std::unique_ptr<opensm::PluginBehind> behind;
  std::shared_ptr<opensm::BesideOpenSm*> listener;  ///< null: nobody listens as yet
};

/// The authority, and what must outlive it.
struct AuthorityInForce {
  /// Where the daemon is beside OpenSM.
  PluginDoor plugin;
  /// Where the daemon writes OpenSM's file, and waits for `opensm.reload`: the journal does not.
  std::unique_ptr<TablesThread> tables;
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
  /// Of what OpenSM's plugin says, with its words.
  std::function<void(const std::function<void()>& then, std::string_view words)> hearing{};
  record::Recorder* recorder = nullptr;  ///< of a run that is recorded
  record::Replay* replay = nullptr;      ///< of one that is played: no socket, no file
};

/// What `around` names must outlive it. Errors: of PluginServer::listen.
[[nodiscard]] Result<AuthorityInForce> open_authority(const AroundAuthority& around, const Config& config);

/// For a daemon that may own the fabric later (shares_state()): one that writes nothing, and says whom it
/// follows. Errors: as above.
[[nodiscard]] Result<AuthorityInForce> follow(const AroundAuthority& around, const Config& config,
                                              std::function<std::string()> whom);
/// What takes the place of `following`, whose authority has gone into the core. The plugin has to say hello
/// again once the core uses it.
[[nodiscard]] AuthorityInForce take_over(const AroundAuthority& around, const Config& config,
                                         AuthorityInForce following);
/// Whether this daemon can do what an owner has to: nodes in sight, or the OpenSM beside it the master.
[[nodiscard]] bool is_fit(const AuthorityInForce& in_force, const core::FabricCore& core);

/// What proves who one is to this fabric: key of the configuration, and value.
[[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> secrets_of(const Config& config);

/// Whether all that the authority hears is written down by record/. What daemons that take turns keep
/// together is not.
[[nodiscard]] bool can_be_recorded(const Config& config);

}  // namespace heddle::app
