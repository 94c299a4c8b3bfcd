/// The regulation as the daemon runs it: its journal, its timer, its metrics, and what stopping means for
/// links that are off; as the subnet manager, or beside OpenSM with its plugin. Everything that decides or
/// acts is in regulate/ and opensm/.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>

#include "app/alarm.h"
#include "app/config.h"
#include "app/disk_thread.h"
#include "app/plugin_server.h"
#include "authority/opensm/beside_opensm.h"
#include "authority/opensm/plan_store.h"
#include "journal/scribe.h"
#include "metrics/opensm_families.h"
#include "metrics/regulation_metrics.h"
#include "regulate/standalone.h"

namespace heddle::app {

class Regulation {
 public:
  struct Around {
    boost::asio::io_context& io;
    const transport::Clock& clock;
    transport::TransactionEngine& engine;
    regulate::FabricSeat& seat;
    opensm::PlanStore& plans;
    regulate::PathMigrator* migrator = nullptr;
    NodeNames names{};
    /// Called after each of its events: others may have something to do.
    std::function<void()> settle;
    /// Called after each event that is logged: links have changed, or are about to.
    std::function<void()> logged;
  };

  /// Opens the journal in the state directory, and listens for the plugin where there is one. Errors: of
  /// open_journal and PluginServer::listen. What `around` names must outlive it.
  static Result<std::unique_ptr<Regulation>> open(const Around& around, const Config& config);

  // As the subnet manager.
  [[nodiscard]] provision::Router router() { return standalone_->router(); }
  /// Once, before the first sweep.
  void use(provision::SubnetManager& manager) { standalone_->use(manager); }
  void configured(const provision::ProvisionReport& report, Lid own) { standalone_->configured(report, own); }

  // Beside OpenSM.
  /// After each sweep that found something new. `own`: the port on which the daemon is.
  void surveyed(const Survey& survey, PortNum own);
  /// A plan for the plugin was written by somebody else.
  void plan_written();

  [[nodiscard]] std::shared_ptr<const Survey> complete(std::shared_ptr<const Survey> survey);
  void on_sample(std::shared_ptr<const load::Sample> sample);
  /// What it waits for has changed.
  void settle();

  /// Brings links back if the configuration says so, and calls `done` when that has come about, or after a
  /// while. False: there is nothing to wait for, and `done` is not called.
  bool stop(std::function<void()> done);

  [[nodiscard]] regulate::Regulator& regulator() {
    return standalone_ ? standalone_->regulator() : beside_->regulator();
  }
  [[nodiscard]] const regulate::Regulator& regulator() const {
    return standalone_ ? standalone_->regulator() : beside_->regulator();
  }
  [[nodiscard]] std::shared_ptr<metrics::RegulationMetrics> metrics() const { return metrics_; }
  /// Null where the daemon is not beside OpenSM.
  [[nodiscard]] std::shared_ptr<metrics::OpenSmMetrics> opensm_metrics() const { return opensm_metrics_; }
  [[nodiscard]] Problems problems() const;

 private:
  Regulation(const Around& around, const Config& config, std::unique_ptr<journal::Journal> journal,
             const journal::Calendar& calendar);
  Result<void> listen_for_plugin(const Config& config, const journal::Calendar& calendar);
  void ring(Instant now);
  void publish();

  Around around_;
  OnStop on_stop_;
  EnergyDetail energy_detail_;
  std::unique_ptr<journal::Journal> journal_;  ///< `disk_` has it
  DiskThread disk_;
  journal::Scribe scribe_;
  std::optional<regulate::Standalone> standalone_;  ///< one of these two
  std::optional<opensm::BesideOpenSm> beside_;
  std::unique_ptr<opensm::PluginServer> plugin_;
  Alarm alarm_;
  std::shared_ptr<metrics::RegulationMetrics> metrics_ = std::make_shared<metrics::RegulationMetrics>();
  std::shared_ptr<metrics::OpenSmMetrics> opensm_metrics_;
  std::function<void()> stopped_;
  std::optional<Instant> stop_by_;
};

}  // namespace heddle::app
