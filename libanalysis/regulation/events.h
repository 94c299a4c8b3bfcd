/// What the daemon tells the governor. Times never go back. Links are named by reference topology
/// (regulation/topology.h).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/units.h"
#include "fabric/fabric.h"
#include "load/sample.h"
#include "regulation/actions.h"
#include "regulation/governor_options.h"
#include "routing/kept_turns.h"

namespace heddle::regulation {

/// First of all, and whenever cables, nodes or LIDs are others. Links that are merely down are LinkLost, so
/// that ranks stay. `ranks` by GUID keep the order of an earlier run; they must name every switch, or none.
struct TopologyChanged {
  std::shared_ptr<const Fabric> reference;
  std::vector<Lid> managers;  ///< of the daemon and of every subnet manager
  std::vector<std::pair<NodeGuid, std::uint16_t>> ranks{};
  std::vector<LinkRef> pinned{};           ///< by the configuration, besides those of PolicyOptions
  std::vector<routing::KeptTurn> turns{};  ///< as routing::UpDownOptions has them
};
struct LoadsMeasured {
  std::shared_ptr<const load::Sample> sample;
};
/// Time passes: send one no later than Governor::next_deadline().
struct Tick {};

struct StepDone {
  StepId step;
};
struct StepFailed {
  StepId step;
  std::string reason;
  std::vector<LinkRef>
      links{};  ///< of SetPorts: those that are not as ordered; all others are. None: unknown.
};
/// Of LookAtQueues: links into which packets wait, and what was seen; nothing of those where nobody could
/// look.
struct QueueSeen {
  LinkRef link;
  PortRef port;  ///< the end that is to send them
  Vl vl;
  std::uint32_t credits = 0;  ///< of 64 bytes
};
struct QueuesSeen {
  StepId step;
  std::vector<QueueSeen> filled;
};
/// Nobody knows how far it got.
struct StepTimedOut {
  StepId step;
};

struct LinkLost {
  LinkRef link;
};
/// Up: one that was lost, or one that is off by the records.
struct LinkFound {
  LinkRef link;
};
/// All that one sweep missed: who can still be asked depends on all of them.
struct SwitchesLost {
  std::vector<NodeGuid> nodes;
};
struct SwitchFound {
  NodeGuid node;
};
/// By the tables of whoever writes them, over all that is up: so many pairs of switches with hosts have no
/// path. Their order may keep turns that are in the way, of which nobody here knows.
struct PairsApart {
  std::size_t pairs = 0;
};
struct LinkTroubled {
  LinkRef link;
  Troubled what;
};
struct LinkHealed {
  LinkRef link;
};
/// Another subnet manager writes the tables: no tables are ordered until it is regained.
struct MastershipLost {};
struct MastershipRegained {};

enum class Force : std::uint8_t { No, CutHostsOff };

struct SetMode {
  Mode mode = Mode::Advise;
  std::string by;
  CommandId command{};
};
struct SetOverride {
  LinkRef link;
  Override value;
  Force force = Force::No;
  CommandId command{};
};
/// Takes what `drain` names out of service: refused where hosts are cut off by it, unless by force. Stands
/// until it ends, in place of one that has the same name. `since` is the event's time.
struct SetDrain {
  Drain drain;
  Force force = Force::No;
  CommandId command{};
};
struct EndDrain {
  std::string what;
  std::string by;
  CommandId command{};
};
/// Everything back on, overrides with Wish::Off and drains taken away, and mode Advise.
struct Restore {
  std::string by;
  CommandId command{};
};
/// The daemon is about to stop: what regulation turned off comes back, or stays off, a change under way is
/// finished or undone, and nothing more is decided.
struct Stopping {
  enum class Links : std::uint8_t { ComeBack, Stay };
  Links links = Links::ComeBack;
};
/// Hosts move between planes from here on, all of them, or no more. Between changes only: else it is not
/// taken.
struct MovementChanged {
  Movement movement = Movement::Staged;
};
/// What it takes to come back is to be learnt anew.
struct ForgetLink {
  LinkRef link;
  std::string by;
  CommandId command{};
};
/// What is to be cabled where, from here on. `since` is the event's time.
struct KeepBaseline {
  Baseline baseline;
  CommandId command{};
};
struct ForgetBaseline {
  std::string by;
  CommandId command{};
};
/// Of links that a SetPorts step turns on, these are there, and its answer is still to come.
struct LinksThere {
  std::vector<LinkRef> links;
};
/// After TopologyChanged, before anything else: what the journal holds, and which links are down.
struct Restarted {
  Memory memory;
  std::vector<LinkRef> down;
};

struct Event {
  Instant at;
  std::variant<TopologyChanged, LoadsMeasured, Tick, StepDone, StepFailed, StepTimedOut, QueuesSeen, LinkLost,
               LinkFound, SwitchesLost, SwitchFound, PairsApart, LinkTroubled, LinkHealed, MastershipLost,
               MastershipRegained, SetMode, SetOverride, SetDrain, EndDrain, Restore, ForgetLink, LinksThere,
               KeepBaseline, ForgetBaseline, Stopping, MovementChanged, Restarted>
      what;
};

}  // namespace heddle::regulation
