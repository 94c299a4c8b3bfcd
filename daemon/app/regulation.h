/// The regulation as the daemon runs it: its journal, its timer, its metrics, and what stopping means for
/// links that are off. Everything that decides or acts is in regulate/.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>

#include "app/alarm.h"
#include "app/config.h"
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
    regulate::PathMigrator* migrator = nullptr;
    /// Called after each of its events: others may have something to do.
    std::function<void()> settle;
  };

  /// Opens the journal in the state directory. Errors: of open_journal. What `around` names must outlive it.
  static Result<std::unique_ptr<Regulation>> open(const Around& around, const Config& config);

  [[nodiscard]] provision::Router router() { return standalone_.router(); }
  /// Once, before the first sweep.
  void use(provision::SubnetManager& manager) { standalone_.use(manager); }

  [[nodiscard]] std::shared_ptr<const Survey> complete(std::shared_ptr<const Survey> survey) const {
    return standalone_.complete(std::move(survey));
  }
  void configured(const provision::ProvisionReport& report, Lid own) { standalone_.configured(report, own); }
  void on_sample(std::shared_ptr<const load::Sample> sample);
  /// What it waits for has changed.
  void settle();

  /// Brings links back if the configuration says so, and calls `done` when that has come about, or after a
  /// while. False: there is nothing to wait for, and `done` is not called.
  bool stop(std::function<void()> done);

  [[nodiscard]] regulate::Regulator& regulator() { return standalone_.regulator(); }
  [[nodiscard]] const regulate::Regulator& regulator() const { return standalone_.regulator(); }
  [[nodiscard]] std::shared_ptr<metrics::RegulationMetrics> metrics() const { return metrics_; }

 private:
  Regulation(const Around& around, const Config& config, std::unique_ptr<journal::Journal> journal,
             const journal::Calendar& calendar);
  void ring(Instant now);
  void publish();

  Around around_;
  OnStop on_stop_;
  std::unique_ptr<journal::Journal> journal_;
  regulate::Standalone standalone_;
  Alarm alarm_;
  std::shared_ptr<metrics::RegulationMetrics> metrics_ = std::make_shared<metrics::RegulationMetrics>();
  std::function<void()> stopped_;
  std::optional<Instant> stop_by_;
};

}  // namespace heddle::app
