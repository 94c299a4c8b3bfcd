/// Traffic on a fabric, and on its twin.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/generators.h"
#include "regulation/network.h"
#include "sim/scenario_player.h"
#include "twin/flows.h"
#include "twin/predict.h"
#include "twin/router.h"

namespace heddle::twin {

class Plant {
 public:
  explicit Plant(std::string_view generator)
      : fabric{assign_lids(**load(generator), 0).value()},
        network{*regulation::Network::make(fabric)},
        all{routing::LinkSet::all(*fabric)},
        tables{network->tables(all)} {}

  [[nodiscard]] Prediction run(const routing::LinkSet& active, const routing::ForwardingTables& by,
                               const Fill& fill) const {
    const View view{*fabric, network->graph(), by, active, nullptr};
    auto found = predict(view, fill);
    EXPECT_TRUE(found) << found.error().message;
    return found ? *std::move(found) : Prediction{};
  }

  std::shared_ptr<const Fabric> fabric;
  std::unique_ptr<regulation::Network> network;
  routing::LinkSet all;
  routing::ForwardingTables tables;

 private:
  static Result<std::shared_ptr<const Fabric>> load(std::string_view generator) {
    return generate(generator);
  }
};

/// Plays a phase, as a scenario's file has it.
class Played {
 public:
  Played(const Fabric& fabric, std::string_view phase) : player_{fabric} {
    sim::Scenario scenario;
    scenario.phases.push_back(sim::parse_phase(phase, "phase").value());
    EXPECT_TRUE(player_.add(scenario));
  }
  [[nodiscard]] Fill fill() {
    return [this](sim::TrafficPlane& plane) -> Result<void> {
      plane.set_schedule(&player_);
      return {};
    };
  }

 private:
  sim::ScenarioPlayer player_;
};

inline Fill with(const std::vector<sim::TrafficFlow>& flows) {
  return [&flows](sim::TrafficPlane& plane) -> Result<void> {
    for (const sim::TrafficFlow& flow : flows) {
      if (const auto added = plane.add(flow, Picoseconds{0}); !added) return fail(added.error());
    }
    return {};
  };
}

}  // namespace heddle::twin
