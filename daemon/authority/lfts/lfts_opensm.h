/// OpenSM is the subnet manager, and reads its tables from a file of ours: what is beside OpenSM with its
/// plugin, and the router in the plugin's place.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "authority/authority.h"
#include "authority/lfts/lfts_router.h"
#include "authority/opensm/beside_opensm.h"

namespace heddle::lfts {

class LftsOpenSm final : public authority::Authority {
 public:
  /// All must outlive it. `migrator` may be null.
  LftsOpenSm(transport::TransactionEngine& engine, transport::Transport& transport, authority::Seat& seat,
             opensm::PlanStore& store, Desk desk, regulate::PathMigrator* migrator,
             const opensm::OpenSmActuatorOptions& actuator, LftsOptions options)
      : router_{engine,
                transport,
                store,
                std::move(desk),
                std::move(options),
                {[this](const opensm::PluginEvent& event, Instant now) { beside_.on_plugin(event, now); },
                 [this](Instant now) { beside_.on_plugin_gone(now); }}},
        beside_{engine, transport, seat, router_, store, migrator, actuator} {}

  [[nodiscard]] std::string why_not() const override {
    return "OpenSM is the subnet manager (opensm.lfts_file is set)";
  }
  [[nodiscard]] std::string why_no_qos() const override {
    return "an OpenSM that reads its tables from a file takes no QoS tables from here: put what `heddle qos "
           "design --output opensm` prints into its configuration, and look at them with `heddle qos verify`";
  }
  [[nodiscard]] bool is_ready() const override { return beside_.is_ready(); }
  [[nodiscard]] Problems problems() const override;

  void on_found(std::shared_ptr<const Survey> survey, Instant now) override {
    beside_.on_found(survey, now);
    router_.on_survey(std::move(survey), now);
  }
  void on_timer(Instant now) override {
    router_.on_timer(now);
    beside_.on_timer(now);
  }
  [[nodiscard]] std::optional<Instant> next_deadline() const override {
    const auto mine = router_.next_deadline();
    const auto its = beside_.next_deadline();
    return mine && (!its || *mine < *its) ? mine : its;
  }
  [[nodiscard]] regulate::Actuator* actuator() override { return beside_.actuator(); }
  void regulate_with(authority::FabricListener& listener, const authority::Remembered& before) override {
    beside_.regulate_with(listener, before);
  }

 private:
  LftsRouter router_;
  opensm::BesideOpenSm beside_;
};

}  // namespace heddle::lfts
