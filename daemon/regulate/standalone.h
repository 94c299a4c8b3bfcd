/// Regulation where this daemon is the subnet manager: keeper of the routes, actuator and regulator, joined
/// to the sweeps. What app/ and the scenario tests put together in the same way.
///
///   survey -> complete() -> SubnetManager (routes by router()) -> configured() -> Regulator -> Actuator
///
/// On the transaction engine's thread. The engine must be stopped before it goes away.
#pragma once

#include <memory>
#include <optional>

#include "authority/own/standalone_actuator.h"
#include "authority/own/subnet_manager.h"
#include "authority/own/up_down_keeper.h"
#include "authority/path_migrator.h"
#include "mad/survey.h"
#include "regulate/regulator.h"

namespace heddle::regulate {

class Standalone {
 public:
  /// `planes`: 1 where ports have one LID each. `migrator` may be null. All must outlive it.
  Standalone(const RegulatorOptions& options, unsigned planes, transport::TransactionEngine& engine,
             FabricSeat& seat, journal::Scribe& journal, PathMigrator* migrator, Regulator::Log log,
             const provision::LinkDriverOptions& driver = {});

  /// What the subnet manager routes with; it must not outlive this.
  [[nodiscard]] provision::Router router();
  /// Once, before the first sweep.
  void use(provision::SubnetManager& manager);

  /// What a sweep found, with the cables of links that are off, and with directed routes that keep off those
  /// that go off.
  [[nodiscard]] std::shared_ptr<const Survey> complete(std::shared_ptr<const Survey> survey) const;
  /// After each run of the subnet manager, and after it has taken `survey` for its own. `own`: the daemon's
  /// LID.
  void configured(const provision::ProvisionReport& report, Lid own);

  void on_timer(Instant now);
  [[nodiscard]] std::optional<Instant> next_deadline() const;

  [[nodiscard]] Regulator& regulator() { return *regulator_; }
  [[nodiscard]] const Regulator& regulator() const { return *regulator_; }
  [[nodiscard]] const provision::UpDownKeeper& keeper() const { return keeper_; }

 private:
  RegulatorOptions options_;
  transport::TransactionEngine& engine_;
  FabricSeat& seat_;
  journal::Scribe& journal_;
  PathMigrator* migrator_;
  Regulator::Log log_;
  provision::LinkDriverOptions driver_;
  provision::UpDownKeeper keeper_;
  provision::SubnetManager* manager_ = nullptr;
  std::optional<StandaloneActuator> actuator_;
  std::optional<Regulator> regulator_;
  std::optional<Regulator::Mastership> mastership_;
};

}  // namespace heddle::regulate
