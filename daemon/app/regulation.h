/// The regulation as the daemon runs it: its journal, its timer, its metrics, and what stopping means for
/// links that are off. Everything that decides or acts is in regulate/ and authority/.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "app/alarm.h"
#include "app/config.h"
#include "app/disk_thread.h"
#include "authority/authority.h"
#include "journal/scribe.h"
#include "metrics/regulation_metrics.h"
#include "regulate/regulator.h"

namespace heddle::app {

class Regulation {
 public:
  struct Around {
    boost::asio::io_context& io;
    const transport::Clock& clock;
    authority::Authority& authority;  ///< with an actuator
    DiskThread& disk;
    NodeNames names{};
    /// Its alarm enters by this.
    std::function<void(const std::function<void()>&)> enter;
    /// Called with each event before it is in the journal: links have changed, or are about to.
    std::function<void(const journal::Event&)> logged;
  };

  /// Opens the journal in the state directory. Before the first sweep. Errors: of open_journal. What `around`
  /// names must outlive it.
  static Result<std::unique_ptr<Regulation>> open(const Around& around, const Config& config);
  /// Ports by which an earlier run turned links off, by the journal in the state directory, for a daemon that
  /// regulates none. A journal that is not there, or that cannot be read, knows of none.
  static std::vector<PortRef> ports_left_off(const Config& config, const transport::Clock& clock);
  ~Regulation();
  Regulation(const Regulation&) = delete;
  Regulation& operator=(const Regulation&) = delete;

  void on_sample(std::shared_ptr<const load::Sample> sample);
  /// After each event: sets the alarm for what it waits for.
  void settle();

  /// What is under way goes on where somebody takes it up again; it is ended where nobody does.
  enum class Changes : std::uint8_t { GoOn, End };
  /// Brings links back if the configuration says so, or leaves them, and calls `done` when that has come
  /// about, or after a while. False: there is nothing to wait for, and `done` is not called.
  bool stop(Changes changes, std::function<void()> done);

  void set_mode(regulation::Mode mode) {
    regulator_.set_mode(mode, "the configuration", around_.clock.now(), [](const Result<std::string>&) {});
  }
  [[nodiscard]] regulate::Regulator& regulator() { return regulator_; }
  [[nodiscard]] const regulate::Regulator& regulator() const { return regulator_; }
  [[nodiscard]] std::shared_ptr<metrics::RegulationMetrics> metrics() const { return metrics_; }

 private:
  Regulation(const Around& around, const Config& config, std::unique_ptr<journal::Journal> journal,
             const journal::Calendar& calendar);
  void publish();
  /// There is nothing more to wait for.
  [[nodiscard]] bool has_stopped() const;

  Around around_;
  OnStop on_stop_;
  EnergyDetail energy_detail_;
  std::unique_ptr<journal::Journal> journal_;  ///< the disk thread has it
  journal::Scribe scribe_;
  regulate::Regulator regulator_;
  Alarm alarm_;
  std::shared_ptr<metrics::RegulationMetrics> metrics_ = std::make_shared<metrics::RegulationMetrics>();
  std::function<void()> stopped_;
  std::optional<Instant> stop_by_;
};

}  // namespace heddle::app
