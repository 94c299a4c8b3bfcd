/// What a provisioner is told to write, and in which order that can be done.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "fabric/fabric.h"
#include "routing/kept_turns.h"
#include "routing/tables.h"
#include "routing/updn.h"

namespace heddle::provision {

struct Routes {
  Routes() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): tables without an order are routes too
  Routes(routing::ForwardingTables made) : tables{std::move(made)} {}
  Routes(routing::ForwardingTables made, std::shared_ptr<const routing::UpDownRouter> by)
      : tables{std::move(made)}, order{std::move(by)} {}

  /// Every switch of the fabric must be in them; they may have more.
  routing::ForwardingTables tables;
  /// Whose graph and ranks they follow; of it, only these are looked at. None: no order of writing them is
  /// known to be safe.
  std::shared_ptr<const routing::UpDownRouter> order;
  /// Links of the order's fabric that no plane is to avoid, and all that are up and not about to go off. Only
  /// with an order.
  routing::LinkSet in_all_planes;
  routing::LinkSet may_be_used;
  /// Those over which a LID may stay, besides, where any other way could close a circle: they do not go off
  /// then.
  routing::LinkSet may_stay;
  /// By plane, those that it is not to avoid.
  std::vector<routing::LinkSet> by_plane;
  /// All that are Active at both ends. Only with an order.
  routing::LinkSet up;
  /// Those that are up at one end, and have a switch at the other that nobody has heard yet in this run
  /// (remembered_fabric.h): entries that stand lead there, and no others. Empty: there are none.
  routing::LinkSet unheard;
  /// LID base + i is in plane i mod planes; one of them carries nothing at present, if so.
  unsigned planes = 1;
  std::optional<unsigned> idle_plane;
};

/// Makes the tables for a fabric whose ports have their LIDs.
using Router = std::function<Result<Routes>(const Fabric&)>;

/// Whether tables that are made from here on may follow an order that allows more of these turns than before.
using AllowTurns = std::function<bool(const std::vector<routing::KeptTurn>&)>;

/// Whether other routes are to be written than those that were last.
enum class OtherRoutes : std::uint8_t { None, Later, Now };

}  // namespace heddle::provision
