/// How the decisions of the regulation reach a fabric: forwarding tables of a LID plane, connections between
/// planes, states of links. One implementation writes them itself as the fabric's subnet manager
/// (StandaloneActuator), another one asks OpenSM. Whoever calls it decides the order; the actuator only says
/// when something is so.
///
/// What an implementation promises:
/// - each call is answered once, by its callback, never from within the call: as confirmed by every switch,
/// host
///   or port concerned, or as failed, with a sentence;
/// - tables in force, half-written ones included, never loop and never have a cycle of channel dependencies;
/// - a call that failed has left tables that lead to every destination that the fabric still reaches, and
/// links
///   either on or off: it undoes what it can, and says what it could not;
/// - what a plane is to avoid holds until it is told otherwise, through sweeps, faults and reroutes.
///
/// write_tables() and migrate() come one at a time, each after the one before was answered; set_links() may
/// run beside them, one at a time for a link. The io_context thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "fabric/change.h"
#include "power/power_model.h"
#include "regulation/governor_options.h"

namespace heddle::regulate {

enum class LinkTo : std::uint8_t { Off, On, Reduced };

struct LinkOrder {
  LinkRef link;
  PortRef port;  ///< the side that is set: it stays reachable while the link is down
  LinkTo to = LinkTo::Off;
  /// Of Reduced: what is to be enabled at most. Of On: the full mode; where a port does not enable it, all
  /// that it supports is enabled.
  power::LinkMode mode;
  /// Of On: how long it may take at least, before it has failed; none: as long as any link.
  FabricClock::duration patience{};
};

struct LinkOutcome {
  LinkRef link;
  /// None: both ends were seen there, Down for Off, Active for the others.
  std::optional<Error> failure;
  /// When it was seen there; none: when it was answered.
  std::optional<Instant> at{};
};

class Actuator {
 public:
  using Done = std::function<void(const Result<void>&, Instant now)>;
  using LinksDone = std::function<void(const std::vector<LinkOutcome>&, Instant now)>;
  /// Links that an order turned on are Active at both ends.
  using LinksThere = std::function<void(const std::vector<LinkRef>&, Instant now)>;

  virtual ~Actuator() = default;

  /// LID planes that can be routed apart; 1 where ports have one LID each. LID base + i is in plane i mod
  /// planes().
  [[nodiscard]] virtual unsigned planes() const = 0;

  /// Planes: somebody moves connections from one plane to the other. Staged: hosts use what LIDs they like,
  /// so that no plane is ever without traffic.
  [[nodiscard]] virtual regulation::Movement movement() const = 0;

  /// No path of this plane (none: of any) leads over any of these links, unless hosts would be cut off; all
  /// others that are up may be used. Answered when every switch has confirmed. Links that the fabric has not
  /// are ignored. Errors: Unreachable names the switch that did not confirm; Refused when this daemon has no
  /// say.
  virtual void write_tables(std::optional<unsigned> plane, const std::vector<LinkRef>& avoid, Instant now,
                            Done done) = 0;

  /// Connections that can move between planes use this one from here on; for those that cannot, nothing
  /// happens.
  virtual void migrate(unsigned plane, Instant now, Done done) = 0;

  /// A link that goes off, or is bounced to another mode, must be avoided by every plane already: refused
  /// while a table may still lead over it. Outcomes in the order of the orders, all together, when the last
  /// one is decided.
  virtual void set_links(const std::vector<LinkOrder>& orders, Instant now, LinksDone done) = 0;
  /// Whom to tell of links that are on while others of their orders still train; not from within a call, and
  /// before the answer.
  virtual void tell_of_links(LinksThere there) { (void)there; }
  /// Orders for these links are not wanted any more: what is not begun is never begun. They are answered as
  /// all others.
  virtual void cancel_links(const std::vector<LinkRef>& links, Instant now) { (void)links, (void)now; }
};

}  // namespace heddle::regulate
