/// Regulation where OpenSM is the subnet manager and has our plugin: keeper of the order, actuator and
/// regulator, joined to the sweeps and to the plugin. What app/ puts together.
///
///   survey -> complete() -> surveyed() -> Regulator -> OpenSmActuator -> plan.json, plugin, ports
///
/// While no plugin is connected, or its OpenSM is not the master, the regulator knows that mastership is
/// lost: nothing is decided, and a change under way ends.
///
/// On the transaction engine's thread. The engine must be stopped before it goes away.
#pragma once

#include <memory>
#include <optional>

#include "authority/opensm/opensm_actuator.h"
#include "authority/own/up_down_keeper.h"
#include "mad/survey.h"
#include "regulate/regulator.h"

namespace heddle::opensm {

class BesideOpenSm {
 public:
  /// How long OpenSM may be away, and how long the first survey waits for what does not answer.
  static constexpr FabricClock::duration patience = std::chrono::seconds{20};

  /// All must outlive it. `migrator` may be null.
  BesideOpenSm(const regulate::RegulatorOptions& options, transport::TransactionEngine& engine,
               regulate::FabricSeat& seat, PluginPort& plugin, PlanStore& store, journal::Scribe& journal,
               regulate::PathMigrator* migrator, regulate::Regulator::Log log,
               const OpenSmActuatorOptions& actuator);

  /// Before the first complete(): where the journal is a fresh one, links that the plan has as off go into
  /// it. How many these are.
  std::size_t recover(const Survey& survey, Instant now);
  /// What a sweep found, with the cables of links that are off.
  [[nodiscard]] std::shared_ptr<const Survey> complete(std::shared_ptr<const Survey> survey) const;
  /// After each sweep that found something new; `survey` is complete. `managers`: LIDs of the daemon and of
  /// the subnet manager.
  void surveyed(const Survey& survey, std::vector<Lid> managers, Instant now);

  void on_plugin(const PluginEvent& event, Instant now);
  void on_plugin_gone(Instant now);
  void on_timer(Instant now);
  [[nodiscard]] std::optional<Instant> next_deadline() const;

  [[nodiscard]] regulate::Regulator& regulator() { return regulator_; }
  [[nodiscard]] const regulate::Regulator& regulator() const { return regulator_; }
  [[nodiscard]] const OpenSmActuator& actuator() const { return actuator_; }
  /// Why what the configuration asks for is not done.
  [[nodiscard]] Problems problems() const;

 private:
  [[nodiscard]] bool must_wait_for_more(const Survey& survey, Instant now) const;
  void begin(Instant now);
  void look_at_mastership(Instant now);
  [[nodiscard]] bool yields() const;
  void tell(regulate::Regulator::Mastership mastership, Instant now);

  PluginPort& plugin_;
  PlanStore& store_;
  journal::Scribe& journal_;
  provision::UpDownKeeper keeper_;
  OpenSmActuator actuator_;
  regulate::Regulator regulator_;
  std::optional<regulate::Regulator::Mastership> mastership_;
  /// A survey in which something had not answered yet, kept until it is taken as it is.
  struct First {
    std::unique_ptr<Survey> survey;
    std::vector<Lid> managers;
    Instant until;
  };
  std::optional<First> first_;
  std::optional<regulate::KnownFabric> known_;  ///< by the last sweep
  bool begun_ = false;                          ///< the regulator knows the fabric
  std::vector<LinkRef> off_by_plan_;            ///< of a plan that is there and a journal that is not
  std::optional<Instant> lost_at_;              ///< no master beside us; lost from then on
  bool master_went_ = false;                    ///< the master here has gone, and none has come since
  bool away_ = false;                           ///< since then
};

}  // namespace heddle::opensm
