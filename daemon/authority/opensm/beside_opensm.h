/// OpenSM is the subnet manager and has our plugin: keeper of the order and actuator, joined to the sweeps
/// and to the plugin.
///
///   on_found() -> FabricListener -> OpenSmActuator -> plan.json, plugin, ports
///
/// While no plugin is connected, or its OpenSM is not the master, the listener knows that mastership is lost:
/// nothing is decided, and a change under way ends.
///
/// On the transaction engine's thread. The engine must be stopped before it goes away.
#pragma once

#include <memory>
#include <optional>

#include "authority/authority.h"
#include "authority/fabric_seat.h"
#include "authority/opensm/opensm_actuator.h"
#include "authority/own/up_down_keeper.h"
#include "mad/survey.h"
#include "transport/transport.h"

namespace heddle::opensm {

class BesideOpenSm final : public authority::Authority {
 public:
  /// How long OpenSM may be away, and how long the first survey waits for what does not answer.
  static constexpr FabricClock::duration patience = std::chrono::seconds{20};

  /// All must outlive it. `migrator` may be null.
  BesideOpenSm(transport::TransactionEngine& engine, transport::Transport& transport, authority::Seat& seat,
               PluginPort& plugin, PlanStore& store, regulate::PathMigrator* migrator,
               const OpenSmActuatorOptions& actuator);

  [[nodiscard]] std::string why_not() const override {
    return "OpenSM is the subnet manager (opensm.plugin is set)";
  }
  [[nodiscard]] bool is_ready() const override { return actuator_.ready(); }
  void on_found(std::shared_ptr<const Survey> survey, Instant now) override;
  void on_timer(Instant now) override;
  [[nodiscard]] std::optional<Instant> next_deadline() const override;
  [[nodiscard]] regulate::Actuator* actuator() override { return &actuator_; }
  /// The tables that stand follow the order of the plan; ranks from before count where there is none yet.
  void regulate_with(authority::FabricListener& listener, const authority::Remembered& before) override;
  void on_plan_written() override { plugin_.tell(PluginCommand::NewPlan); }
  /// Why what the configuration asks for is not done.
  [[nodiscard]] Problems problems() const override;
  [[nodiscard]] std::vector<Lid> staying() const override { return staying_; }

  /// What on_found() comes to; `survey` is complete. `managers`: LIDs of the daemon and of the subnet
  /// manager.
  void surveyed(const Survey& survey, std::vector<Lid> managers, Instant now);
  void on_plugin(const PluginEvent& event, Instant now);
  void on_plugin_gone(Instant now);

 private:
  [[nodiscard]] bool must_wait_for_more(const Survey& survey, Instant now) const;
  void begin(Instant now);
  void leave_lost(Instant now);
  void tell_of_apart(Instant now);
  void look_at_mastership(Instant now);
  [[nodiscard]] bool is_standby() const;
  void tell(authority::Mastership mastership, Instant now);

  transport::Transport& transport_;
  authority::Seat& seat_;
  PluginPort& plugin_;
  PlanStore& store_;
  provision::UpDownKeeper keeper_;
  OpenSmActuator actuator_;
  authority::FabricListener* listener_ = nullptr;
  std::optional<authority::Mastership> mastership_;
  /// A survey in which something had not answered yet, kept until it is taken as it is.
  struct First {
    std::unique_ptr<Survey> survey;
    std::vector<Lid> managers;
    Instant until;
  };
  std::optional<First> first_;
  std::optional<authority::KnownFabric> known_;  ///< by the last sweep
  bool begun_ = false;                           ///< the listener knows the fabric
  std::vector<LinkRef> off_by_plan_;             ///< that no journal has said yet
  std::optional<Instant> lost_at_;               ///< no master beside us; lost from then on
  bool master_went_ = false;                     ///< the master here has gone, and none has come since
  bool away_ = false;                            ///< since then
  std::vector<Lid> staying_;                     ///< by the last routing
  std::optional<std::size_t> unconnected_;       ///< likewise: pairs of switches with hosts
  std::size_t told_apart_ = 0;                   ///< of those, the listener
};

}  // namespace heddle::opensm
