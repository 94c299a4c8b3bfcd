/// Carries decisions of the regulation out as the fabric's own subnet manager: tables through the
/// provisioner, in stages; port states by MADs.
///
/// Where a later order finds an earlier one for the same link under way, the earlier one is called off, and
/// the later one waits until nothing of it can arrive any more.
///
/// A link is closed to routing before its port is touched, whatever a sweep finds meanwhile, and its port is
/// touched only when no table can lead over it any more: that is checked against what switches confirmed,
/// right before the Set, and refused otherwise. Nor is it touched before all packets are gone that an entry
/// of before may have led there.
///
/// On the transaction engine's thread.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "authority/actuator.h"
#include "authority/own/link_driver.h"
#include "authority/own/subnet_manager.h"
#include "authority/own/up_down_keeper.h"
#include "authority/path_migrator.h"
#include "mad/survey.h"

namespace heddle::regulate {

/// What the actuator needs of the daemon around it.
class FabricSeat {
 public:
  /// The fabric as it was configured last; null before that.
  [[nodiscard]] virtual std::shared_ptr<const Survey> survey() const = 0;
  /// From here on everybody works with this one, of the same fabric with other directed routes.
  virtual void adopt(std::shared_ptr<const Survey> survey) = 0;
  /// Something has changed at these nodes.
  virtual void look_at(const std::vector<NodeGuid>& nodes, Instant now) = 0;

 protected:
  ~FabricSeat() = default;
};

class StandaloneActuator final : public Actuator {
 public:
  /// `migrator` null: no connection can move. All must outlive the actuator.
  StandaloneActuator(transport::TransactionEngine& engine, provision::SubnetManager& manager,
                     provision::UpDownKeeper& keeper, FabricSeat& seat, PathMigrator* migrator,
                     const provision::LinkDriverOptions& options = {});

  [[nodiscard]] unsigned planes() const override { return keeper_.planes(); }
  [[nodiscard]] regulation::Movement movement() const override {
    const bool moves = planes() > 1 && migrator_ != nullptr;
    return moves ? regulation::Movement::Planes : regulation::Movement::Staged;
  }
  void write_tables(std::optional<unsigned> plane, const std::vector<LinkRef>& avoid, Instant now,
                    Done done) override;
  void migrate(unsigned plane, Instant now, Done done) override;
  void set_links(const std::vector<LinkOrder>& orders, Instant now, LinksDone done) override;

  void on_timer(Instant now);
  [[nodiscard]] std::optional<Instant> next_deadline() const;

 private:
  struct Run {
    std::vector<LinkOrder> orders;
    std::vector<LinkOutcome> outcomes;
    std::vector<std::size_t> driven;   ///< positions in `orders` of what the driver has
    std::set<std::size_t> called_off;  ///< positions in `orders` that a later order has overtaken
    LinksDone done;
    std::unique_ptr<provision::LinkDriver> driver;
    bool begun = false;
    std::optional<Instant> drive_at;  ///< when no packet can be on its way to its links any more
  };

  void close_links();
  void call_off(const std::vector<LinkOrder>& orders);
  [[nodiscard]] bool may_begin(const Run& run) const;
  void begin(const std::shared_ptr<Run>& run, Instant now);
  void drive(const std::shared_ptr<Run>& run, const Result<void>& written, Instant now);
  void driven(const std::shared_ptr<Run>& run, const std::vector<std::optional<Error>>& failures,
              Instant now);
  void answer_later(std::function<void(Instant)> answer, Instant now);
  [[nodiscard]] std::unique_ptr<provision::LinkDriver> free_driver();

  transport::TransactionEngine& engine_;
  provision::SubnetManager& manager_;
  provision::UpDownKeeper& keeper_;
  FabricSeat& seat_;
  PathMigrator* migrator_;
  provision::LinkDriverOptions options_;
  std::set<LinkRef> closed_;
  std::vector<std::shared_ptr<Run>> runs_;
  std::vector<std::unique_ptr<provision::LinkDriver>> idle_;  ///< that have answered
  std::deque<std::function<void(Instant)>> answers_;          ///< due at once
  std::optional<Instant> answers_at_;
};

}  // namespace heddle::regulate
