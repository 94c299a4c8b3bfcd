/// Carries decisions of the regulation out where OpenSM is the subnet manager: tables by a plan that the
/// plugin makes OpenSM route by, stage by stage; port states by MADs of the daemon's own.
///
/// - A plan is on disk before the plugin hears of it, and says everything: what happens to the daemon or to
///   OpenSM afterwards changes nothing of it. Nothing is ordered by a plan that is not; nobody waits for
///   that.
/// - A stage is confirmed when the plugin says so (every switch has answered, multicast included) and the
///   tables beside the links concerned have been read back; those of multicast before links go off.
/// - A port goes off only between SUBNET UP and the next heavy sweep, when a plan with the link in `off` has
///   been confirmed since, and no packet can be on its way there any more.
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

#include "authority/actuator.h"
#include "authority/deferred.h"
#include "authority/fabric_seat.h"
#include "authority/link_runs.h"
#include "authority/opensm/plugin_event.h"
#include "authority/opensm/plugin_port.h"
#include "authority/opensm/table_check.h"
#include "authority/own/link_driver.h"
#include "authority/path_migrator.h"
#include "authority/plan_store.h"

namespace heddle::opensm {

/// Whether opensm.conf leaves widths and speeds alone (force_link_width 0 and so on).
enum class Reduction : std::uint8_t { Refused, Allowed };

struct OpenSmActuatorOptions {
  unsigned planes = 1;
  std::size_t most_read_back = 64;  ///< switches
  FabricClock::duration step_timeout = std::chrono::seconds{60};
  Reduction reduction = Reduction::Refused;
  provision::LinkDriverOptions driver;
  /// How long a packet may be under way, where an operator says so; else as the switches are configured.
  std::optional<std::chrono::microseconds> packet_life;
};

class OpenSmActuator final : public regulate::Actuator, private authority::LinkRunsSeat {
 public:
  /// `migrator` null: no connection can move. All must outlive the actuator.
  OpenSmActuator(transport::TransactionEngine& engine, regulate::FabricSeat& seat, PluginPort& plugin,
                 PlanStore& store, regulate::PathMigrator* migrator, OpenSmActuatorOptions options);

  [[nodiscard]] unsigned planes() const override { return options_.planes; }
  [[nodiscard]] regulation::Movement movement() const override {
    const bool moves = planes() > 1 && migrator_ != nullptr;
    return moves ? migrator_->movement() : regulation::Movement::Staged;
  }
  void write_tables(std::optional<unsigned> plane, const std::vector<LinkRef>& avoid, Instant now,
                    Done done) override;
  void migrate(unsigned plane, Instant now, Done done) override;
  void set_links(const std::vector<regulate::LinkOrder>& orders, Instant now, LinksDone done) override;
  void tell_of_links(LinksThere there) override { runs_.tell(std::move(there)); }
  void cancel_links(const std::vector<LinkRef>& links, Instant now) override { runs_.call_off(links, now); }

  /// Which links an operator wants off, whoever is cut off by it.
  using Forced = std::function<std::vector<LinkRef>()>;
  void ask_for_forced(Forced forced) { forced_ = std::move(forced); }
  /// Which switches an operator takes out of service, ascending.
  using Drained = std::function<std::vector<NodeGuid>()>;
  void ask_for_drained(Drained drained) { drained_ = std::move(drained); }
  /// The order of the switches, for every plan from here on.
  void use_ranks(std::vector<std::pair<NodeGuid, std::uint16_t>> ranks) { ranks_ = std::move(ranks); }
  /// A sweep has found these directed routes: what is under way takes them too, but over no link that goes
  /// off.
  void take_routes(const Survey& found);
  /// What is off already when the regulation begins.
  void remember_off(const std::vector<LinkRef>& links) { runs_.remember_off(links); }

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
    /// Disk: the plan is to be on it. What the plugin, which may find it there by itself, says meanwhile is
    /// said again when it is told. Packets: those that follow the tables before are to be gone.
    enum class Wait : std::uint8_t { Begin, Disk, Routing, Multicast, SubnetUp, Reading, Packets };
    std::optional<unsigned> plane;              ///< none: all
    std::optional<std::vector<LinkRef>> avoid;  ///< none: only what is off has changed
    std::vector<std::vector<LinkRef>> from;     ///< per plane, when the job began
    std::vector<LinkRef> closing;               ///< to be turned off when this is done
    Done done;
    Wait wait = Wait::Begin;
    std::uint32_t stage = 0;
    std::uint32_t stages = 1;  ///< as the plugin counts them
    bool relaxed = false;      ///< what is to be avoided is used
    std::uint64_t epoch = 0;
    Instant until;
    std::string trouble;  ///< what the plugin said last
  };
  void begin_job(Instant now);
  void write_stage();
  enum class Staging : std::uint8_t { UpToStage, Final };
  /// `then` when it is on disk, if the job is still under way.
  void write_plan(Staging staging, std::function<void(Instant now)> then);
  void stage_on_disk(Instant now);
  void routed(const PluginEvent& event, Instant now);
  void read_back(Instant now);
  void wait_for_packets(Instant now);
  [[nodiscard]] std::vector<LinkRef> closed() const { return {runs_.closed().begin(), runs_.closed().end()}; }
  void stage_confirmed();
  void finish_job(const Result<void>& result, Instant now);
  void fail_jobs(const Error& error, Instant now);
  /// For nothing but this program itself, which comes back with it.
  [[nodiscard]] static bool has_own_end(Job::Wait wait) {
    return wait == Job::Wait::Begin || wait == Job::Wait::Disk || wait == Job::Wait::Reading;
  }
  [[nodiscard]] bool is_planned(unsigned plane, const Job& job) const {
    return !job.plane || *job.plane == plane;
  }

  // LinkRunsSeat
  [[nodiscard]] Window window() const override;
  [[nodiscard]] std::optional<Error> why_not(const regulate::LinkOrder& order) const override;
  void write_tables_without(const std::vector<LinkRef>& links, Instant now, Closed done) override;
  [[nodiscard]] std::unique_ptr<authority::PortSetter> make_setter() override;

  transport::TransactionEngine& engine_;
  regulate::FabricSeat& seat_;
  PluginPort& plugin_;
  PlanStore& store_;
  regulate::PathMigrator* migrator_;
  OpenSmActuatorOptions options_;
  provision::LateSets late_sets_{options_.driver.packet_life};
  std::vector<std::pair<NodeGuid, std::uint16_t>> ranks_;
  std::vector<std::vector<LinkRef>> avoided_;  ///< per plane
  Forced forced_;                              ///< none: nobody is cut off
  Drained drained_;                            ///< none: nobody is
  Instant packets_gone_;                       ///< that follow tables of the last routing but one
  bool master_ = false;
  bool standby_ = false;
  bool window_ = false;
  std::deque<std::shared_ptr<Job>> jobs_;
  TableCheck check_;
  authority::LinkRuns runs_{*this};
  authority::Deferred due_;
};

}  // namespace heddle::opensm
