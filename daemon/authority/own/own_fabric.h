/// This program as the fabric's subnet manager: the manager itself, and, where links are regulated, keeper of
/// the routes and actuator, joined to the sweeps.
///
///   on_found() -> SubnetManager (routes of the keeper) -> FabricListener -> Actuator
///
/// Once another subnet manager was master it only watches, until an operator says otherwise.
///
/// On the transaction engine's thread. The engine must be stopped before it goes away.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "authority/authority.h"
#include "authority/fabric_seat.h"
#include "authority/own/standalone_actuator.h"
#include "authority/own/subnet_manager.h"
#include "authority/own/up_down_keeper.h"
#include "authority/path_migrator.h"

namespace heddle::provision {

struct OwnFabricOptions {
  ProvisionOptions provision;
  LinkDriverOptions driver;
  unsigned planes = 1;  ///< 1 where ports have one LID each
  /// What is routed with where it is not up*/down*; then no link is regulated.
  Router other_engine;
};

class OwnFabric final : public authority::Authority {
 public:
  /// Called after each run of the subnet manager, for whoever writes it down.
  using Configured = std::function<void(const ProvisionReport&)>;

  /// `migrator` may be null. All must outlive it.
  OwnFabric(const OwnFabricOptions& options, transport::TransactionEngine& engine,
            transport::Transport& transport, authority::Seat& seat, regulate::PathMigrator* migrator,
            Configured configured);

  [[nodiscard]] std::string why_not() const override;
  [[nodiscard]] bool yields() const override { return yields_; }
  [[nodiscard]] bool owns_fabric() const override { return !yields_; }
  [[nodiscard]] std::uint8_t priority() const override { return priority_; }
  [[nodiscard]] bool is_configuring() const override { return manager_.busy() || found_; }
  [[nodiscard]] Problems problems() const override { return could_not_do_; }
  [[nodiscard]] std::vector<Lid> staying() const override { return manager_.staying(); }
  void on_found(std::shared_ptr<const Survey> survey, Instant now) override;
  std::optional<mad::Notice> on_unsolicited(const mad::Packet& packet, Instant now) override;
  void on_unmatched(const mad::Packet& packet, Instant now) override { manager_.on_unmatched(packet, now); }
  void on_inactive(const PortRef& port) override;
  void on_active(const PortRef& port) override;
  void on_timer(Instant now) override;
  [[nodiscard]] std::optional<Instant> next_deadline() const override;
  [[nodiscard]] regulate::Actuator* actuator() override { return actuator_ ? &*actuator_ : nullptr; }
  [[nodiscard]] std::string why_not_regulated() const override { return "that takes sm.engine = \"updn\""; }
  void regulate_with(authority::FabricListener& listener, const authority::Remembered& before) override;
  Result<void> take_subnet() override;
  [[nodiscard]] std::optional<std::vector<Lid>> lids_through(const PortRef& port) const override {
    return manager_.lids_through(port);
  }

  [[nodiscard]] const SubnetManager& manager() const { return manager_; }
  [[nodiscard]] const UpDownKeeper& keeper() const { return keeper_; }

 private:
  [[nodiscard]] std::shared_ptr<const Survey> complete(std::shared_ptr<const Survey> survey) const;
  [[nodiscard]] Result<Routes> route(const Fabric& fabric);
  [[nodiscard]] bool can_wait() const;
  void configure(Instant now);
  void on_configured(const ProvisionReport& report);
  void tell(const ProvisionReport& report);
  void stand_again_later(Instant now);

  transport::Transport& transport_;
  authority::Seat& seat_;
  std::uint8_t priority_;
  Configured configured_;
  UpDownKeeper keeper_;
  SubnetManager manager_;
  std::optional<regulate::StandaloneActuator> actuator_;  ///< where the keeper routes
  std::shared_ptr<const Survey> found_;                   ///< waits for rest_until_
  Instant rest_until_{};
  authority::FabricListener* listener_ = nullptr;
  std::optional<authority::Mastership> mastership_;  ///< as the listener was told
  bool yields_ = false;
  std::vector<NodeGuid> successors_;
  std::optional<Instant> look_at_successors_;
  std::optional<Instant> stand_again_at_;
  FabricClock::duration stand_again_within_{};
  Problems could_not_do_;  ///< of the last configuration
};

}  // namespace heddle::provision
