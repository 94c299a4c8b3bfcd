/// Sets ports with the link driver, over the fabric as it is known. The io_context thread.
#pragma once

#include <functional>
#include <set>

#include "authority/opensm/link_runs.h"
#include "authority/own/link_driver.h"
#include "authority/own/standalone_actuator.h"

namespace heddle::opensm {

class DrivenPorts final : public PortSetter {
 public:
  /// `closed`: links by which no directed route may lead. Both must outlive it.
  DrivenPorts(transport::TransactionEngine& engine, regulate::FabricSeat& seat,
              const std::set<LinkRef>& closed, const provision::LinkDriverOptions& options);

  void run(const std::vector<regulate::LinkOrder>& orders, Instant now, Done done) override;
  void call_off(std::size_t order) override;
  void on_timer(Instant now) override { driver_.on_timer(now); }
  [[nodiscard]] std::optional<Instant> next_deadline() const override { return driver_.next_deadline(); }

 private:
  void answer(const std::vector<std::optional<Error>>& failures, Instant now);

  regulate::FabricSeat& seat_;
  const std::set<LinkRef>& closed_;
  provision::LinkDriver driver_;
  std::vector<std::optional<Error>> failures_;  ///< of the orders
  std::vector<std::size_t> driven_;             ///< positions in the orders of what the driver has
  Done done_;
};

}  // namespace heddle::opensm
