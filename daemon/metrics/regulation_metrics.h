/// Energy and the states of links as metrics. Published by the daemon's thread, collected by the scrapes'.
#pragma once

#include <prometheus/collectable.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "power/energy_account.h"

namespace heddle::metrics {

struct RegulationFigures {
  struct LinkPower {
    PortRef port;                               ///< one end of the link
    std::string name;                           ///< of its node
    int state = 2;                              ///< 0 off, 1 reduced, 2 on in full
    std::optional<power::EnergyTotals> energy;  ///< of both ends; none: not told
    std::optional<double> wake{};               ///< seconds to come back, as expected; none: not seen to
  };
  struct SwitchEnergy {
    NodeGuid node;
    std::string name;
    power::EnergyTotals energy;  ///< of its base and its ports
  };
  struct Drained {
    std::string what;
    bool safe = false;  ///< to pull
  };
  std::string mode;
  Joules spent;
  Joules saved;
  Watts power;
  Watts saving;
  std::uint64_t turned_off = 0;
  std::uint64_t turned_on = 0;
  std::uint64_t reduced = 0;
  std::uint64_t failed = 0;
  std::size_t slow = 0;  ///< links that are left on because they took minutes to come back
  std::vector<LinkPower> links;
  std::vector<SwitchEnergy> switches;
  std::vector<Drained> drained;
};

class RegulationMetrics final : public prometheus::Collectable {
 public:
  void publish(RegulationFigures figures);
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const RegulationFigures> figures_;
};

}  // namespace heddle::metrics
