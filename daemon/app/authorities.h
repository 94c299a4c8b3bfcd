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
#include "authority/fabric_seat.h"
#include "authority/plan_store.h"
#include "metrics/opensm_families.h"
#include "transport/transactions.h"

namespace heddle::app {

struct AuthorityInForce {
  /// Where the daemon is beside OpenSM; it outlives what uses it.
  std::unique_ptr<opensm::PluginServer> plugin;
  /// Where the daemon writes OpenSM's file, and waits for `opensm.reload`: the journal does not.
  std::unique_ptr<DiskThread> tables;
  std::unique_ptr<authority::Authority> authority;
  /// Null where the daemon is not beside OpenSM.
  std::shared_ptr<metrics::OpenSmMetrics> opensm_metrics;
};

struct AroundAuthority {
  boost::asio::io_context& io;
  Backend& backend;
  transport::TransactionEngine& engine;
  authority::Seat& seat;
  opensm::PlanStore& plans;
  /// What reaches the authority by another way than its functions enters by this.
  std::function<void(const std::function<void()>&)> enter;
};

/// What `around` names must outlive it. Errors: of PluginServer::listen.
[[nodiscard]] Result<AuthorityInForce> open_authority(const AroundAuthority& around, const Config& config);

}  // namespace heddle::app
