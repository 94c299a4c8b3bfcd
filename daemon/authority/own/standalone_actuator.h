/// Carries decisions of the regulation out as the fabric's own subnet manager: tables through the
/// provisioner, in stages; port states by MADs (authority/link_runs.h).
///
/// A link is closed to routing before its port is touched, whatever a sweep finds meanwhile, and its port is
/// touched only when no table can lead over it any more: that is checked against what switches confirmed,
/// right before the Set, and refused otherwise. Nor is it touched before all packets are gone that an entry
/// of before may have led there.
///
/// On the transaction engine's thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "authority/actuator.h"
#include "authority/deferred.h"
#include "authority/fabric_seat.h"
#include "authority/link_runs.h"
#include "authority/own/link_driver.h"
#include "authority/own/subnet_manager.h"
#include "authority/own/up_down_keeper.h"
#include "authority/path_migrator.h"
#include "mad/survey.h"

namespace heddle::regulate {

class StandaloneActuator final : public Actuator, private authority::LinkRunsSeat {
 public:
  /// `migrator` null: no connection can move. All must outlive the actuator.
  StandaloneActuator(transport::TransactionEngine& engine, provision::SubnetManager& manager,
                     provision::UpDownKeeper& keeper, FabricSeat& seat, PathMigrator* migrator,
                     const provision::LinkDriverOptions& options = {});

  [[nodiscard]] unsigned planes() const override { return keeper_.planes(); }
  [[nodiscard]] regulation::Movement movement() const override {
    const bool moves = planes() > 1 && migrator_ != nullptr;
    return moves ? migrator_->movement() : regulation::Movement::Staged;
  }
  void write_tables(std::optional<unsigned> plane, const std::vector<LinkRef>& avoid, Instant now,
                    Done done) override;
  void migrate(unsigned plane, Instant now, Done done) override;
  void set_links(const std::vector<LinkOrder>& orders, Instant now, LinksDone done) override {
    runs_.run(orders, now, std::move(done));
  }
  void tell_of_links(LinksThere there) override { runs_.tell(std::move(there)); }
  void cancel_links(const std::vector<LinkRef>& links, Instant now) override { runs_.call_off(links, now); }
  /// It was ordered on, and is not there yet.
  [[nodiscard]] bool turns_on(const LinkRef& link) const { return runs_.turns_on(link); }
  /// A sweep has found these directed routes, which keep off what goes off: what is under way takes them too.
  void take_routes(const Survey& found) { runs_.take_routes(found); }
  /// This program has just been started, perhaps after another one.
  void begin(Instant now) { late_sets_.begin(now); }

  void on_timer(Instant now);
  [[nodiscard]] std::optional<Instant> next_deadline() const;

 private:
  // LinkRunsSeat
  [[nodiscard]] Window window() const override { return Window::Open; }
  [[nodiscard]] std::optional<Error> why_not(const LinkOrder& /*order*/) const override { return {}; }
  void on_closed_changed() override {
    keeper_.close({runs_.closed().begin(), runs_.closed().end()}, runs_.going());
  }
  void write_tables_without(const std::vector<LinkRef>& links, Instant now, Closed done) override;
  [[nodiscard]] std::unique_ptr<authority::PortSetter> make_setter() override;

  transport::TransactionEngine& engine_;
  provision::SubnetManager& manager_;
  provision::UpDownKeeper& keeper_;
  FabricSeat& seat_;
  PathMigrator* migrator_;
  provision::LinkDriverOptions options_;
  provision::LateSets late_sets_{options_.packet_life};
  authority::LinkRuns runs_{*this};
  authority::Deferred due_;
};

}  // namespace heddle::regulate
