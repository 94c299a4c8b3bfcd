/// The daemon without sockets, clock, disk and configuration: all that happens enters on(), one event after
/// the other, each with its time; what follows goes out through what the core was handed (transport, desk,
/// authority, Outside). app/ runs it for a daemon; tests run the same one on a clock of their own.
///
///   transport -> engine -+-> discovery -> authority -> regulation
///                        +-> sampler ---> health, regulation
///                        +-> QoS tables, physical layers, queues, whoever else is master
///
/// One thread. It opens no file and asks no clock: with the same events it does the same.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "authority/authority.h"
#include "authority/fabric_seat.h"
#include "authority/host_agents.h"
#include "authority/plan_store.h"
#include "base/desk.h"
#include "core/cabling_watch.h"
#include "core/core_options.h"
#include "core/event.h"
#include "core/lost_links.h"
#include "core/outside.h"
#include "core/qos_service.h"
#include "core/regulation.h"
#include "core/sampling_watch.h"
#include "core/sm_observer.h"
#include "discovery/discovery.h"
#include "discovery/table_reader.h"
#include "fabric/planes.h"
#include "fabric/unique_names.h"
#include "health/judge.h"
#include "sampling/detail_reader.h"
#include "sampling/firmware_reader.h"
#include "sampling/phy_reader.h"
#include "sampling/queue_probe.h"
#include "transport/transport.h"

namespace heddle::core {

/// What the core works with. All must outlive it; what comes back from the desk enters by CameBack.
struct Around {
  transport::Transport& transport;
  opensm::PlanStore& plans;
  Desk desk;
  QosStore qos{};
  Outside& outside;
};

class FabricCore final : private authority::Seat {
 public:
  FabricCore(Around around, const CoreOptions& options);
  ~FabricCore() = default;
  FabricCore(const FabricCore&) = delete;
  FabricCore& operator=(const FabricCore&) = delete;

  /// What authorities are made with.
  [[nodiscard]] transport::TransactionEngine& engine() { return engine_; }
  [[nodiscard]] authority::Seat& seat() { return *this; }
  /// The agents of hosts; null where nobody speaks with them.
  [[nodiscard]] regulate::PathMigrator* migrator() { return agents_.get(); }
  /// Once, before the first event.
  void use(std::unique_ptr<authority::Authority> authority) { authority_ = std::move(authority); }
  /// Likewise, after use(), where the authority has an actuator. The journal must outlive the core.
  void regulate_with(journal::Journal& journal);

  /// Within an event: this one is in force from here on, in the place of one that wrote nothing. As a
  /// subnet manager it begins with what the next sweep finds, else with what is known. `journal`: as above;
  /// null where nothing is regulated.
  void take_over(std::unique_ptr<authority::Authority> authority, journal::Journal* journal);

  /// Ports by which an earlier run turned links off, where this one regulates nothing.
  void know_left_off(std::vector<PortRef> ports) { left_off_ = std::move(ports); }

  /// Events may bring others about, which enter from within.
  void on(const Event& event, Instant now);
  /// When TimersDue has something to do. It may be earlier after each event.
  [[nodiscard]] std::optional<Instant> next_deadline() const;
  /// Of the event under way, or the last one.
  [[nodiscard]] Instant now() const { return now_; }
  /// Nothing happens any more; what is under way is dropped.
  void end();

  // What operators ask for, by Asked.
  /// Stands for subnet manager anew, past ports that say IsSM and do not answer. The sentence says what
  /// happens. Errors: Refused where the configuration says never.
  Result<std::string> take_subnet(const std::string& by);
  /// See control::Daemon.
  Result<void> look_at_queues(const std::vector<PortIndex>& ports, sampling::QueueProbe::Done done);
  [[nodiscard]] QosService& qos() { return qos_; }
  /// Null where nothing is regulated.
  [[nodiscard]] RegulationControl* regulation_control() {
    return regulation_ ? &regulation_->control() : nullptr;
  }
  [[nodiscard]] regulate::Regulator* regulator() { return regulation_ ? &regulation_->regulator() : nullptr; }

  // How things are.
  [[nodiscard]] const QosService& qos() const { return qos_; }
  [[nodiscard]] const regulate::Regulator* regulator() const {
    return regulation_ ? &regulation_->regulator() : nullptr;
  }
  [[nodiscard]] const Regulation* regulation() const { return regulation_.get(); }
  [[nodiscard]] const regulate::HostAgents* host_agents() const { return agents_.get(); }
  [[nodiscard]] const authority::Authority& authority() const { return *authority_; }
  [[nodiscard]] const discovery::Discovery& discovery() const { return discovery_; }
  [[nodiscard]] const sampling::Sampler& sampler() const { return sampler_; }
  [[nodiscard]] const transport::TransactionEngine& engine() const { return engine_; }
  [[nodiscard]] const health::Judge& health() const { return health_; }
  /// Of all switches, as they were read back last; null before that.
  [[nodiscard]] const std::shared_ptr<const discovery::TablesRead>& tables() const {
    return tables_.latest();
  }
  /// Advised, or ordered just now.
  [[nodiscard]] const std::vector<health::IsolationOrder>& to_isolate() const { return to_isolate_; }
  /// Taken out by orders of this core, or of one before it.
  [[nodiscard]] std::vector<health::IsolationOrder> isolated() const;
  /// Against the baseline; null where there is none, or it has not been compared yet.
  [[nodiscard]] std::shared_ptr<const CablingFound> cabling() const;
  [[nodiscard]] const SmObserver& master() const { return master_; }
  /// As it was found, or as it was configured after that; null before the first sweep.
  [[nodiscard]] const std::shared_ptr<const Survey>& seen() const { return survey_; }
  /// The last one that did not fail to be configured.
  [[nodiscard]] const std::shared_ptr<const Survey>& usable() const { return usable_; }
  [[nodiscard]] const std::shared_ptr<const Planes>& planes() const { return planes_; }
  /// In the forms that tell the nodes of seen() apart.
  [[nodiscard]] const std::shared_ptr<const ShownNames>& shown() const { return shown_; }
  /// That a survey had since the start.
  [[nodiscard]] std::size_t most_switches() const { return most_switches_; }
  /// Nothing that was begun is under way.
  [[nodiscard]] bool quiet() const;
  /// All that is wrong as far as the core knows.
  [[nodiscard]] Problems problems() const;

 private:
  // What whoever writes the fabric needs of the daemon.
  [[nodiscard]] std::shared_ptr<const Survey> survey() const override { return usable_; }
  void adopt(std::shared_ptr<const Survey> survey) override;
  void take_routes(std::shared_ptr<const Survey> survey) override;
  void look_at(const std::vector<NodeGuid>& nodes, Instant now) override;
  void use(std::shared_ptr<const Survey> survey) override;
  void show(std::shared_ptr<const Survey> survey) override;
  void hold() override { discovery_.hold(); }
  void release(Instant now) override;
  void begin_anew(Instant now) override;
  void set_change_bits(authority::ChangeBits bits) override;

  void enter(const Began& began);
  void enter(const Arrived& arrived) { engine_.on_packet(arrived.packet, arrived.at, now_); }
  void enter(const TimersDue& due);
  void enter(const TookLong& event);
  void enter(const WayMoved& /*moved*/) { discovery_.full(now_); }
  void enter(const Asked& asked) { asked.what(); }
  void enter(const CameBack& back) { back.then(); }
  void enter(const Reloaded& reloaded);
  void enter(const StopAsked& asked);
  void settle();
  void take_movement();

  void on_parts();
  void on_sweeps_due();
  void take_manner();
  void on_sweep(const discovery::SweepReport& report);
  void on_sample(const std::shared_ptr<const load::Sample>& sample);
  void log(const journal::Event& event);
  Result<void> look_for_regulation(const std::vector<PortRef>& ports,
                                   regulate::Regulator::QueuesLooked looked);
  void judge_health(const load::Sample& sample);
  void look_at_downed();
  void isolate();
  void look_at_cables();
  void on_tables(const std::shared_ptr<const discovery::TablesRead>& read);
  void judge_routes(const std::vector<health::Finding>& refuted);
  void say(Severity severity, const std::string& text) const { outside_.say(severity, text); }
  [[nodiscard]] std::optional<std::string> nobody_manages() const;
  [[nodiscard]] std::optional<std::string> silent_manager() const;
  [[nodiscard]] std::optional<std::string> overdue_sweep() const;
  [[nodiscard]] std::optional<std::string> earlier_routes() const;
  [[nodiscard]] std::optional<std::string> why_not_regulated() const;
  [[nodiscard]] std::optional<std::string> links_left_off() const;
  /// Of a node of survey_: "leaf-1/3".
  [[nodiscard]] std::string shown(const PortRef& port) const;

  Outside& outside_;
  Desk desk_;
  CoreOptions options_;
  Settings settings_;
  Instant now_{};
  Instant before_{};  ///< of the event before

  transport::TransactionEngine engine_;
  discovery::Discovery discovery_;
  std::unique_ptr<regulate::HostAgents> agents_;  ///< none without options for them
  std::unique_ptr<authority::Authority> authority_;
  std::unique_ptr<Regulation> regulation_;  ///< none where nothing can be regulated
  SmObserver master_;
  sampling::Sampler sampler_;
  SamplingWatch sampling_watch_;
  health::Judge health_;
  health::Isolation isolation_;
  std::vector<health::IsolationOrder> to_isolate_;
  std::shared_ptr<const health::Report> isolated_by_;  ///< the report that was looked at last
  CablingWatch cabling_;
  sampling::QueueProbe queues_;
  sampling::PhyReader phy_;
  sampling::DetailReader details_;
  sampling::FirmwareReader firmware_;
  discovery::TableReader tables_;
  /// What the proof says of the tables that were proved last.
  struct Proved {
    std::shared_ptr<const discovery::TablesRead> tables;
    std::vector<health::Finding> refuted;
  };
  std::shared_ptr<const Proved> proved_;
  QosService qos_;
  std::optional<Instant> light_at_;
  Instant full_ended_;  ///< the last full sweep, well or not; before the first, the beginning
  std::optional<Instant> heavy_at_;

  std::shared_ptr<const ShownNames> shown_;
  std::shared_ptr<const Planes> planes_;  ///< of the survey
  std::shared_ptr<const Survey> survey_;  ///< seen()
  std::shared_ptr<const Survey> usable_;
  std::vector<std::string> found_wrong_;        ///< by the last sweep
  std::vector<health::Duplicate> found_twice_;  ///< likewise
  std::size_t most_switches_ = 0;
  LostLinks lost_;  ///< kept where nothing is regulated
  std::vector<PortRef> left_off_;
  bool tell_all_ = false;            ///< the next sweep's survey, whether anything has changed or not
  unsigned entered_ = 0;             ///< on() within on()
  std::optional<Changes> stopping_;  ///< until on_rest()
  bool ended_ = false;
};

}  // namespace heddle::core
