/// Turns links off and on under live traffic, as decisions only: an event goes in, actions come out. The same
/// governor runs in the daemon, beside OpenSM, and in the simulator.
///
/// The loop is that of facts/regulation.md 1. Two things go on side by side:
/// - coming back: links are ordered on as soon as they are needed, all in one step, and are then *ready*;
/// - routing: tables are written over what is active and ready, without what was chosen to leave, in one
/// plane
///   after the other with the migration between (or staged); when all is confirmed, links that left are
///   drained, then closed.
///
/// Invariants, at every instant and whatever fails:
/// - a port is ordered off, or bounced, only after tables without its link were confirmed in all planes;
/// - tables are ordered only over links that were on when last heard of, and only where every rule holds, or
///   where no set of such links would keep it (faults);
/// - an Intent is out before the first order that it announces;
/// - every order that fails is retried, then undone: what is uncertain is brought back on.
///
/// One thread; time only in events.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/units.h"
#include "regulation/actions.h"
#include "regulation/events.h"
#include "regulation/governor_options.h"
#include "regulation/network.h"
#include "regulation/selector.h"
#include "regulation/wake_times.h"

namespace heddle::regulation {

enum class LinkState : std::uint8_t {
  Active,    ///< on, and in the tables
  Leaving,   ///< on; tables without it are being written
  Draining,  ///< on; in no table any more
  Closing,   ///< ordered off, or to another mode
  Off,
  Opening,  ///< ordered on
  Ready,    ///< on, not yet in the tables
  Joining,  ///< on; tables with it are being written
  Lost,     ///< down, and nobody ordered it
};
[[nodiscard]] std::string_view to_string(LinkState state);
/// It carries traffic, or may.
[[nodiscard]] bool is_on(LinkState state);

/// Where the routing side stands.
enum class Stage : std::uint8_t {
  Idle,
  Writing,    ///< the plane that nobody uses, or all of them in stages
  Migrating,  ///< traffic, to that plane
  Rewriting,  ///< the plane that traffic has left
  Draining,
  Closing,
  Mending,  ///< a failed step is being undone: all planes in stages, over everything that is on
};
[[nodiscard]] std::string_view to_string(Stage stage);

struct LinkStatus {
  LinkRef link;
  LinkState state = LinkState::Active;
  power::LinkMode mode;  ///< it runs in, as far as is known
  power::LinkMode full;
  Exempt exempt = Exempt::No;
  Wish wish = Wish::Auto;
  Instant since;             ///< of the state
  unsigned transitions = 0;  ///< off, on or reduced, in the last 24 hours
  std::string reason;        ///< of the last decision on it
  ExpectedWake wake{};       ///< what it is expected to take to come back
};

/// What would be done with the loads measured last.
struct Plan {
  Instant at;
  std::vector<LinkRef> off;
  std::vector<LinkRef> on;
  std::vector<LinkDecision> decisions;  ///< all, with reasons; LinkIndex of reference()
  Ratio busiest;                        ///< expected of the most loaded link that stays
  Watts watts_now;                      ///< of links between switches
  Watts watts_then;
  Watts watts_least;
  std::string note;
  std::vector<Holding> held;  ///< as Selection; LinkIndex of reference()
};

/// A drain as it stands.
struct DrainStatus {
  Drain drain;
  std::size_t closed = 0;        ///< of its links: off by order
  std::size_t open = 0;          ///< on, or on their way; the others are not there, or down by themselves
  std::vector<NodeGuid> away{};  ///< of its switches: nobody sees them
};

/// A switch that carries nothing once the plan is carried out: no host is on, and one link at most, by which
/// managers reach it.
struct IdleSwitch {
  NodeGuid node;
  std::size_t links_on = 0;
  std::optional<Watts> base;  ///< with all ports off; none: nobody knows
};

/// Hosts without a legal path to the others over what is on.
struct CutOff {
  std::vector<PortRef> hosts;
  std::vector<NodeGuid> lost_switches;
  std::size_t coming = 0;  ///< links to lost switches that are being brought back
};

class Governor {
 public:
  /// Precondition: check(options).
  explicit Governor(GovernorOptions options);
  ~Governor();
  Governor(Governor&&) noexcept;
  Governor& operator=(Governor&&) noexcept;

  /// Events before the first TopologyChanged do nothing, Restarted and commands that name no link excepted.
  std::vector<Action> on(const Event& event);
  /// When a Tick is due; none: only other events matter.
  [[nodiscard]] std::optional<Instant> next_deadline() const;

  [[nodiscard]] Mode mode() const;
  [[nodiscard]] Stage stage() const;
  /// Null before the first TopologyChanged.
  [[nodiscard]] std::shared_ptr<const Fabric> reference() const;
  /// For a router that must make the same tables. Precondition: reference().
  [[nodiscard]] std::vector<std::pair<NodeGuid, std::uint16_t>> ranks() const;
  /// In force in all planes since the last confirmed change; what is on and not in it is unused.
  [[nodiscard]] const routing::LinkSet& active() const;
  /// Whether hosts move between planes.
  [[nodiscard]] Movement movement() const;
  /// That traffic is told to use.
  [[nodiscard]] unsigned plane() const;
  /// Of a link of reference().
  [[nodiscard]] LinkState state(LinkIndex link) const;
  /// Links in that state, by name.
  [[nodiscard]] std::vector<LinkRef> links_in(LinkState state) const;
  /// Links that are ordered on, and were up when they came in sight: not those that anybody here turned off
  /// since.
  [[nodiscard]] std::vector<LinkRef> came_up() const;
  /// Links that were ordered on and did not come, and are ordered again; those to switches that are gone left
  /// out.
  [[nodiscard]] std::vector<LinkRef> not_back() const;
  [[nodiscard]] const std::set<NodeGuid>& lost_switches() const;
  /// Why nothing can be decided, or why tables are not as they are meant to be; empty if all is well.
  [[nodiscard]] std::string trouble() const;
  /// Links between switches and all with an override, by LinkIndex.
  [[nodiscard]] std::vector<LinkStatus> links() const;
  /// Modes of all links of reference(), for an EnergyAccount: what is on but unused draws as what is used.
  [[nodiscard]] std::vector<power::LinkMode> modes() const;
  [[nodiscard]] std::vector<power::LinkMode> full_modes() const;
  /// Links that are off on purpose, to be put back into what a sweep sees (topology.h).
  [[nodiscard]] std::vector<OffRecord> off_links() const;
  /// Of those, what an operator wants off: also where it came up again, because its switch was restarted.
  [[nodiscard]] std::vector<LinkRef> withheld() const;
  /// Links that an operator wants off, whoever is cut off by it.
  [[nodiscard]] std::vector<LinkRef> forced() const;
  /// What faults, or operators by force, have cut off. Looks at the whole fabric: not for every sample.
  [[nodiscard]] CutOff cut_off() const;
  /// Whom the tables in force keep apart though cables join them (PairsApart); none, too, where an operator
  /// drains or forces something off.
  [[nodiscard]] std::optional<std::string> parted() const;
  [[nodiscard]] std::vector<DrainStatus> drains() const;
  /// As things would stand with plan(); as they stand, where there is none.
  [[nodiscard]] std::vector<IdleSwitch> idle_switches() const;
  /// The switch, or the link, is out of service by an operator's order.
  [[nodiscard]] bool is_drained(NodeGuid node) const;
  [[nodiscard]] bool is_drained(const LinkRef& link) const;
  [[nodiscard]] const std::optional<Plan>& plan() const;
  [[nodiscard]] const Memory& memory() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace heddle::regulation
