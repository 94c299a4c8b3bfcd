/// up*/down* routing over any active subset of the links, in an order fixed on all of them.
///
/// Each entry depends on the home tables and on the active links only, not on the order of changes: turning
/// links off and on again gives the same tables, and update() touches just what depends on the links that
/// changed. LIDs fall into planes: LID base + i is in plane i mod planes; each plane may be computed for a
/// different set of links. One thread at a time.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "fabric/fabric.h"
#include "routing/destinations.h"
#include "routing/kept_turns.h"
#include "routing/legal_paths.h"
#include "routing/link_set.h"
#include "routing/mends.h"
#include "routing/ranks.h"
#include "routing/switch_graph.h"
#include "routing/tables.h"

namespace heddle::routing {

/// Whether a router is asked for tables.
enum class TablesWanted : std::uint8_t {
  Yes,
  No  ///< only for what tables are made of, which is much less work: ranks, legal paths, mends
};

struct UpDownOptions {
  /// Roots by GUID; none: chosen automatically.
  std::vector<NodeGuid> roots;
  /// Ranks by GUID from an earlier run; where given, roots are not looked at. Must name every switch.
  std::vector<std::pair<NodeGuid, std::uint16_t>> ranks;
  unsigned planes = 1;
  /// With ranks: by what packets turn as tables stand, and may turn by these too if that can be.
  std::vector<KeptTurn> turns{};
  /// With No, tables() lead nowhere, and route() and update() must not be called.
  TablesWanted tables = TablesWanted::Yes;
};

/// A block that was rewritten, and what it held.
struct BlockChange {
  BlockRef at;
  std::array<std::uint8_t, lids_per_block> before;
};

class UpDownRouter {
 public:
  /// Tables for all links active. The fabric must have every link that may ever be active, those that are off
  /// included. Errors: of SwitchGraph::make and rank_from_roots; Invalid for planes that are not 1, 2, 4 ...
  /// 128.
  static Result<UpDownRouter> make(const Fabric& fabric, const UpDownOptions& options = {});

  UpDownRouter(UpDownRouter&&) noexcept;
  UpDownRouter& operator=(UpDownRouter&&) noexcept;
  ~UpDownRouter();

  [[nodiscard]] const SwitchGraph& graph() const;
  [[nodiscard]] const Ranks& ranks() const;
  [[nodiscard]] const ForwardingTables& tables() const;
  [[nodiscard]] const LinkSet& active(unsigned plane = 0) const;
  [[nodiscard]] unsigned planes() const;
  /// Paths for pairs that the order does not join.
  [[nodiscard]] const Mends& mends() const;
  /// Which paths are legal over all links.
  [[nodiscard]] const LegalPaths& full_paths() const;
  /// Which paths are legal over the plane's active links.
  [[nodiscard]] const LegalPaths& paths(unsigned plane = 0) const;

  /// Recomputes what depends on the difference to the links that were active. The blocks that changed, by
  /// switch and block.
  std::vector<BlockChange> update(const LinkSet& active);
  std::vector<BlockChange> update(unsigned plane, const LinkSet& active);
  /// As update(), for who does not ask which blocks changed: that costs more than the change of a large
  /// fabric.
  void route(unsigned plane, const LinkSet& active);

  /// Host switches, as pairs (from, to), between which the plane's active links leave no path, neither
  /// a legal one nor a mend.
  [[nodiscard]] std::vector<std::pair<SwitchIndex, SwitchIndex>> unconnected(unsigned plane = 0) const;
  /// Likewise of `manager`, at which a subnet manager is, to any other switch and back.
  [[nodiscard]] std::vector<std::pair<SwitchIndex, SwitchIndex>> unmanaged(SwitchIndex manager,
                                                                           unsigned plane = 0) const;
  /// Those of all planes together, each once, sorted: to compare with another router's.
  [[nodiscard]] std::vector<std::pair<NodeGuid, NodeGuid>> apart() const;

 private:
  struct State;
  void route(unsigned plane, const LinkSet& active, std::vector<BlockChange>* blocks);
  explicit UpDownRouter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace heddle::routing
