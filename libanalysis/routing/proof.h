/// Proves or refutes forwarding tables, whoever made them: that packets arrive, that none runs in circles,
/// and that no circle of full buffers can arise; for tables at rest, for several that are in use side by
/// side, and for switches that are given new tables one by one in any order. What is refuted comes with a
/// counter-example.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "fabric/fabric.h"
#include "routing/link_set.h"
#include "routing/switch_graph.h"
#include "routing/tables.h"
#include "routing/vl_tables.h"

namespace heddle::routing {

enum class Fault : std::uint8_t {
  NoPath,    ///< a table on the way has no entry
  DeadEnd,   ///< an entry leads out of a port with no active cable, or to a port that has not the LID
  Loop,      ///< packets to one destination run in circles
  Deadlock,  ///< a cycle of channel dependencies
};

/// One hop of a counter-example.
struct Step {
  SwitchIndex sw;
  PortNum out;
  unsigned table = 0;  ///< which of the tables under proof sends it there: 0 old, 1 new in a transition
  unsigned vl = 0;
  Lid lid;  ///< of the packet; differs from step to step only in a Deadlock
};

struct Finding {
  Fault fault = Fault::NoPath;
  Lid destination;          ///< none for a Deadlock
  std::vector<Step> steps;  ///< Loop, Deadlock: the cycle; else the way to where it ends
  unsigned stage = 0;       ///< of a staged update: 0 between the first and the second tables
};

struct Proof {
  std::uint64_t paths = 0;   ///< (source switch, LID) followed
  std::uint64_t broken = 0;  ///< of these, how many do not arrive
  std::vector<Finding> findings;

  [[nodiscard]] bool holds() const { return findings.empty(); }
};

/// Whose packets are followed.
enum class Followed : std::uint8_t {
  All,    ///< of hosts to every LID: also to other switches' and aggregation nodes', who need not be reached
  Needed  ///< only what must arrive: between hosts, and to and from managers
};

struct ProofOptions {
  /// Links that carry traffic; null: all.
  const LinkSet* active = nullptr;
  /// LIDs of the daemon and of every subnet manager: every switch must reach them, and they every switch.
  /// Between hosts paths must always exist; from hosts to other switches' LIDs they may be missing.
  std::vector<Lid> managers;
  /// Switches from which and to which nothing has to arrive: nothing joins them to the others.
  std::vector<SwitchIndex> excused{};
  /// Null: one VL. Used by `prove` only.
  const VlTables* vls = nullptr;
  /// Per kind of fault.
  std::size_t most_findings = 3;
  Followed followed = Followed::All;
};

/// Each of the tables by itself arrives without loops; the dependencies of all together have no cycle.
[[nodiscard]] Proof prove(const SwitchGraph& graph, std::span<const ForwardingTables* const> tables,
                          const ProofOptions& options = {});
[[nodiscard]] Proof prove(const SwitchGraph& graph, const ForwardingTables& tables,
                          const ProofOptions& options = {});

/// Every mixture: for each LID, each switch follows the old or the new table. A loop is possible in some
/// mixture exactly if the old and new next hops of one LID together have a cycle that a source reaches.
[[nodiscard]] Proof prove_transition(const SwitchGraph& graph, const ForwardingTables& before,
                                     const ForwardingTables& after, const ProofOptions& options = {});

/// Every mixture of each two tables that follow one another.
[[nodiscard]] Proof prove_stages(const SwitchGraph& graph, std::span<const ForwardingTables* const> steps,
                                 const ProofOptions& options = {});

/// For an operator: the fault, the destination and the cycle of ports, by name and GUID.
[[nodiscard]] std::string describe(const Finding& finding, const Fabric& fabric, const SwitchGraph& graph);

}  // namespace heddle::routing
