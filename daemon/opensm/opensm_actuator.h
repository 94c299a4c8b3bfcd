/// Carries decisions of the regulation out where OpenSM is the subnet manager: tables by a plan that the
/// plugin makes OpenSM route by, stage by stage; port states by MADs of the daemon's own.
///
/// - A plan is on disk before the plugin hears of it, and says everything: what happens to the daemon or to
///   OpenSM afterwards changes nothing of it.
/// - A stage is confirmed when the plugin says so (every switch has answered, multicast included) and the
///   tables beside the links concerned have been read back; those of multicast before links go off.
/// - A port is set only between SUBNET UP and the next heavy sweep, and off only when a plan with the link in
///   `off` has been confirmed since.
/// - Without a plugin, or while its OpenSM is not the master, nothing is ordered but links that come back.
///
/// The io_context thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "opensm/plugin_event.h"
#include "opensm/plugin_port.h"
#include "opensm/table_check.h"
#include "plan/plan.h"
#include "provision/link_driver.h"
#include "regulate/actuator.h"
#include "regulate/path_migrator.h"
#include "regulate/standalone_actuator.h"

namespace heddle::opensm {

/// Whether opensm.conf leaves widths and speeds alone (force_link_width 0 and so on).
enum class Reduction : std::uint8_t { Refused, Allowed };

struct OpenSmActuatorOptions {
  std::string plan_path;
  unsigned planes = 1;
  std::size_t most_read_back = 64;  ///< switches
  FabricClock::duration step_timeout = std::chrono::seconds{60};
  Reduction reduction = Reduction::Refused;
  provision::LinkDriverOptions driver;
};

class OpenSmActuator final : public regulate::Actuator {
 public:
  /// `migrator` null: no connection can move. All must outlive the actuator.
  OpenSmActuator(transport::TransactionEngine& engine, regulate::FabricSeat& seat, PluginPort& plugin,
                 regulate::PathMigrator* migrator, OpenSmActuatorOptions options);

  [[nodiscard]] unsigned planes() const override { return options_.planes; }
  void write_tables(std::optional<unsigned> plane, const std::vector<LinkRef>& avoid, Instant now,
                    Done done) override;
  void migrate(unsigned plane, Instant now, Done done) override;
  void set_links(const std::vector<regulate::LinkOrder>& orders, Instant now, LinksDone done) override;

  /// The order of the switches, for every plan from here on.
  void use_ranks(std::vector<std::pair<NodeGuid, std::uint16_t>> ranks) { ranks_ = std::move(ranks); }
  /// What is off already when the regulation begins.
  void remember_off(const std::vector<LinkRef>& links) { closed_.insert(links.begin(), links.end()); }

  void on_plugin(const PluginEvent& event, Instant now);
  void on_plugin_gone(Instant now);
  void on_timer(Instant now);
  [[nodiscard]] std::optional<Instant> next_deadline() const;

  /// There is a plugin, and its OpenSM is the master.
  [[nodiscard]] bool ready() const { return plugin_.connected() && master_; }
  /// Its OpenSM says that another subnet manager is the master.
  [[nodiscard]] bool yields() const { return plugin_.connected() && standby_; }

 private:
  /// Tables on their way. The first of jobs_ is under way.
  struct Job {
    enum class Wait : std::uint8_t { Begin, Routing, Multicast, SubnetUp, Reading };
    std::optional<unsigned> plane;              ///< none: all
    std::optional<std::vector<LinkRef>> avoid;  ///< none: only what is off has changed
    std::vector<std::vector<LinkRef>> from;     ///< per plane, when the job began
    std::vector<LinkRef> closing;               ///< to be turned off when this is done
    Done done;
    Wait wait = Wait::Begin;
    std::uint32_t stage = 0;
    std::uint32_t stages = 1;  ///< as the plugin counts them
    bool relaxed = false;      ///< hosts would be cut off: what is to be avoided is used
    std::uint64_t epoch = 0;
    Instant until;
    std::string trouble;  ///< what the plugin said last
  };
  struct Run {
    std::vector<regulate::LinkOrder> orders;
    std::vector<regulate::LinkOutcome> outcomes;
    std::vector<std::size_t> driven;
    LinksDone done;
    bool ready = false;  ///< for the window
    std::unique_ptr<provision::LinkDriver> driver;
  };

  void later(std::function<void(Instant)> what, Instant now);
  void begin_job(Instant now);
  void write_stage(Instant now);
  enum class Staging : std::uint8_t { UpToStage, Final };
  [[nodiscard]] plan::Plan make_plan(const Job& job, Staging staging) const;
  void routed(const PluginEvent& event, Instant now);
  void read_back(Instant now);
  void stage_confirmed(Instant now);
  void finish_job(const Result<void>& result, Instant now);
  void fail_jobs(const Error& error, Instant now);
  [[nodiscard]] bool is_planned(unsigned plane, const Job& job) const {
    return !job.plane || *job.plane == plane;
  }

  void begin_run(const std::shared_ptr<Run>& run, Instant now);
  void use_window(Instant now);
  void drive(const std::shared_ptr<Run>& run, Instant now);
  void driven(const std::shared_ptr<Run>& run, const std::vector<std::optional<Error>>& failures,
              Instant now);
  void refuse_closing(Run& run, const Error& error);

  transport::TransactionEngine& engine_;
  regulate::FabricSeat& seat_;
  PluginPort& plugin_;
  regulate::PathMigrator* migrator_;
  OpenSmActuatorOptions options_;
  std::vector<std::pair<NodeGuid, std::uint16_t>> ranks_;
  std::vector<std::vector<LinkRef>> avoided_;  ///< per plane
  std::set<LinkRef> closed_;                   ///< off, or about to be
  std::uint64_t epoch_ = 0;
  bool master_ = false;
  bool standby_ = false;
  bool window_ = false;
  std::deque<std::shared_ptr<Job>> jobs_;
  TableCheck check_;
  std::vector<std::shared_ptr<Run>> runs_;
  std::vector<std::unique_ptr<provision::LinkDriver>> idle_;  ///< that have answered
  std::deque<std::function<void(Instant)>> due_;
  std::optional<Instant> due_at_;
};

}  // namespace heddle::opensm
