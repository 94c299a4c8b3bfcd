/// Energy that links and switches have spent, and what was saved against everything on in full width and
/// speed: integrals of piecewise constant power over the fabric's time. Keyed by LinkRef and NodeGuid, so
/// that it outlives snapshots; what it comes to is a value that a journal keeps over restarts. One thread.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/units.h"
#include "fabric/change.h"
#include "power/power_model.h"

namespace heddle::power {

struct EnergyTotals {
  Joules spent;
  Joules saved;
  friend constexpr bool operator==(const EnergyTotals&, const EnergyTotals&) = default;
};

/// A part of a network: what it has spent and saved, and what it draws and saves at present.
struct Draw {
  EnergyTotals totals;
  Watts power;
  Watts saving;
  friend constexpr bool operator==(const Draw&, const Draw&) = default;
};

/// Of the fabric as it was set last; what is gone counts for `network` only.
struct Parts {
  Draw links;     ///< both ports of each link between switches
  Draw switches;  ///< their base and all of their ports
  Draw network;   ///< all that models know: switches, and adapters where a model asks for them
};

/// All that must survive a restart.
struct EnergyRecord {
  std::vector<std::pair<LinkRef, EnergyTotals>> links;      ///< ascending
  std::vector<std::pair<NodeGuid, EnergyTotals>> switches;  ///< ascending
  EnergyTotals total;
  friend bool operator==(const EnergyRecord&, const EnergyRecord&) = default;
};

class EnergyAccount {
 public:
  explicit EnergyAccount(PowerModel model = {}) : model_{std::move(model)} {}

  /// Links and nodes that draw nothing any more, whose totals are kept at least: those with the largest. A
  /// node may call itself another one each time.
  static constexpr std::size_t most_gone = 16'384;

  /// Goes on from what an earlier run came to. Before the first set().
  void restore(const EnergyRecord& record);

  /// From `at` on the links run in `modes`, and would run in `full` if nothing were saved. Nodes and links
  /// that `fabric` has not draw nothing from `at` on. Preconditions: a mode for each link; `at` no earlier
  /// than before.
  void set(Instant at, const Fabric& fabric, std::span<const LinkMode> modes, std::span<const LinkMode> full);
  /// Adds up to `at`. No earlier than before.
  void advance(Instant at);

  /// Both ends of the link; nothing for one that was never set.
  [[nodiscard]] EnergyTotals link(const LinkRef& link) const;
  /// Its base and its own ports.
  [[nodiscard]] EnergyTotals node(NodeGuid node) const;
  [[nodiscard]] EnergyTotals total() const { return total_.totals; }
  [[nodiscard]] Parts parts() const { return {links_between_switches_, switches_, total_}; }
  /// As they stand since the last set().
  [[nodiscard]] Watts power() const { return total_.power; }
  [[nodiscard]] Watts saving() const { return total_.saving; }

  [[nodiscard]] EnergyRecord record() const;
  [[nodiscard]] const PowerModel& model() const { return model_; }
  /// From the next set() on.
  void use(PowerModel model) { model_ = std::move(model); }

 private:
  PowerModel model_;
  std::optional<Instant> at_;
  std::map<LinkRef, Draw> links_;
  std::map<NodeGuid, Draw> nodes_;
  Draw total_;
  Draw links_between_switches_;
  Draw switches_;
};

}  // namespace heddle::power
