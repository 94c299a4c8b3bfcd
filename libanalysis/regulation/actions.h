/// What the governor asks of the daemon. Actions of one call are carried out in their order; a Record is on
/// disk before the next action begins. An action with a StepId is answered by exactly one StepDone,
/// StepFailed or StepTimedOut event, unless it is cancelled.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "regulation/memory.h"
#include "routing/link_set.h"

namespace heddle::regulation {

using StepId = Id<struct StepIdTag, std::uint64_t>;
/// Given by whoever passes an operator's command in; 0 for nobody.
using CommandId = Id<struct CommandIdTag, std::uint64_t>;

enum class Writing : std::uint8_t {
  Unused,  ///< nothing travels by this plane: entries in any order
  Staged,  ///< traffic may use it: routing::plan_update, each stage confirmed before the next
};

/// Make these the tables of a plane, or of all planes. Done when every switch that can be reached has
/// confirmed every block that differs.
struct WriteTables {
  StepId step;
  std::optional<unsigned> plane;  ///< none: all
  routing::LinkSet active;        ///< links of the reference topology
  Writing writing = Writing::Staged;
};
/// Move the traffic to this plane. Done when every host agent has said so.
struct Migrate {
  StepId step;
  unsigned plane = 0;
};
struct PortOrder {
  LinkRef link;
  PortRef port;  ///< set this side: it stays reachable while the link is off
  power::LinkMode mode;
  /// It may take so long to come up, if that is longer than any link may.
  std::chrono::nanoseconds patience{};
  friend bool operator==(const PortOrder&, const PortOrder&) = default;
};
/// Done when both ends of every link show it: Down for off_mode; else Active in this width and speed (a
/// bounce where the link runs in another).
struct SetPorts {
  StepId step;
  std::vector<PortOrder> ports;
};
/// Look whether packets wait to be sent into one of these links, at either end. Answered by QueuesSeen, also
/// where nobody could look, or StepTimedOut.
struct LookAtQueues {
  StepId step;
  std::vector<LinkRef> links;
};
/// No answer is waited for any more. What has been sent may still take effect.
struct Cancel {
  StepId step;
};

enum class ReportKind : std::uint8_t {
  Advice,     ///< what Enforce would do
  Decided,    ///< a change begins
  Confirmed,  ///< links are off, reduced or back
  CalledOff,  ///< a change is not carried through, or undone
  Failed,     ///< a step, after its retries
  Excluded,   ///< a link is left on for its own behaviour
  Operator,   ///< an override or mode was set, or has expired
  Lost,       ///< a link, a switch, or mastership
  Back,
  Recovered,  ///< after a restart
  Unused,     ///< a switch: none of its links is on
  Needed,     ///< a switch that was unused: links of it are ordered on
};
[[nodiscard]] std::string_view to_string(ReportKind kind);

struct Report {
  ReportKind kind = ReportKind::Decided;
  std::vector<LinkRef> links;
  std::string reason;
};

/// To an operator's command.
struct Answer {
  CommandId command;
  std::optional<Error> refusal;
  std::string text;  ///< what will happen
};

using Action = std::variant<Record, WriteTables, Migrate, SetPorts, LookAtQueues, Cancel, Report, Answer>;

}  // namespace heddle::regulation
