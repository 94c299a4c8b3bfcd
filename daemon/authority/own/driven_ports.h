/// Sets ports with the link driver, over the fabric as it is known: whoever writes the tables. The io_context
/// thread.
#pragma once

#include <functional>
#include <set>

#include "authority/fabric_seat.h"
#include "authority/link_runs.h"
#include "authority/own/link_driver.h"

namespace heddle::provision {

/// What those who write the tables have to say to that; all may be empty.
struct PortRules {
  /// Right before the port is set: why it must not be.
  std::function<std::optional<Error>(const regulate::LinkOrder&)> why_not;
  /// These directed routes keep off what is set.
  std::function<void(const Survey&)> on_routes;
  /// Ports of these nodes have been set, or were about to be: once for a run.
  std::function<void(const std::vector<NodeGuid>&, Instant now)> on_set{};
  /// A port has answered this.
  LinkDriver::States on_state{};
};

class DrivenPorts final : public authority::PortSetter {
 public:
  /// `closed`: links by which no directed route may lead. `late_sets`: of all that set these ports. All must
  /// outlive it.
  DrivenPorts(transport::TransactionEngine& engine, regulate::FabricSeat& seat,
              const std::set<LinkRef>& closed, PortRules rules, const LinkDriverOptions& options,
              LateSets& late_sets);

  void run(const std::vector<regulate::LinkOrder>& orders, Instant now, Done done) override;
  void call_off(std::size_t order) override;
  void tell(There there) override;
  void take_routes(const Survey& from) override {
    if (driver_.busy()) driver_.take_routes(from);
  }
  void on_timer(Instant now) override { driver_.on_timer(now); }
  [[nodiscard]] std::optional<Instant> next_deadline() const override { return driver_.next_deadline(); }

 private:
  void answer(const std::vector<std::optional<Error>>& failures, Instant now);

  regulate::FabricSeat& seat_;
  const std::set<LinkRef>& closed_;
  PortRules rules_;
  LinkDriver driver_;
  std::vector<std::optional<Error>> failures_;  ///< of the orders
  std::vector<std::size_t> driven_;             ///< positions in the orders of what the driver has
  std::vector<NodeGuid> nodes_;                 ///< of what the driver has
  Done done_;
};

}  // namespace heddle::provision
