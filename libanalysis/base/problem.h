/// What is wrong, for operators: whenever something that the configuration asks for is not being done, it is
/// one of these, with a sentence that says what to do. docs/problems.md has a line for each kind.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

enum class ProblemKind : std::uint8_t {
  // what the daemon needs
  FabricFile,   ///< not all of the fabric's file is in the fabric
  Device,       ///< the port of this host cannot be used
  Exposure,     ///< somebody may do more than the operator is likely to mean
  Reload,       ///< the configuration in force is not that of the file
  Journal,      ///< what must survive a crash cannot be written, or is gone
  SharedState,  ///< what daemons of several hosts keep together cannot be reached, or nobody owns the fabric
  PlanFile,     ///< the plan for OpenSM's plugin is not the one that is meant
  Notify,       ///< somebody who is to be told of events and problems is not
  Jobs,         ///< who says which jobs run cannot be asked
  // the fabric
  Discovery,      ///< a sweep failed, or found what cannot be
  NoSwitch,       ///< the fabric has no switch, or has lost all of them
  SilentPorts,    ///< ports give no counters
  LateSweeps,     ///< counters are not read as often as configured
  SweepOverdue,   ///< nor is the whole fabric looked at
  LocalitySets,   ///< a set of the configuration has no nodes, or others than were meant
  LostLinks,      ///< links and switches that were there are gone
  CutOff,         ///< hosts have no path
  DisabledPorts,  ///< and not by us
  // who manages it
  NoManager,      ///< nobody does
  SilentManager,  ///< the master does not answer
  OpenSmAway,     ///< there is no OpenSM with the plugin
  OpenSmStandby,  ///< the OpenSM beside us is not the master
  Configuring,    ///< part of what the subnet manager had to do was not done
  EarlierRoutes,  ///< LIDs have routes of an earlier order, which nothing safe leads away from
  Rail,           ///< a port of this host leads to a fabric that no daemon looks at
  // regulation and QoS
  NotRegulated,  ///< regulation is asked for, and this daemon is in no position to do it
  Tables,        ///< tables over the links that are on could not be written
  LinksNotBack,  ///< links that are to be on do not come
  OffUnseen,     ///< links are off, and what is behind them has not been seen
  Pins,          ///< a pattern of the configuration fits no link
  Qos,           ///< tables of ports are not those of the plan
  PowerUnknown,  ///< switches that no power model knows
};

struct ProblemName {
  ProblemKind kind;
  std::string_view name;  ///< of metrics and documents
};

inline constexpr std::array problem_names{
    ProblemName{ProblemKind::FabricFile, "fabric-file"},
    ProblemName{ProblemKind::Device, "device"},
    ProblemName{ProblemKind::Exposure, "exposure"},
    ProblemName{ProblemKind::Reload, "reload"},
    ProblemName{ProblemKind::Journal, "journal"},
    ProblemName{ProblemKind::SharedState, "shared-state"},
    ProblemName{ProblemKind::PlanFile, "plan-file"},
    ProblemName{ProblemKind::Notify, "notify"},
    ProblemName{ProblemKind::Jobs, "jobs"},
    ProblemName{ProblemKind::Discovery, "discovery"},
    ProblemName{ProblemKind::NoSwitch, "no-switch"},
    ProblemName{ProblemKind::SilentPorts, "silent-ports"},
    ProblemName{ProblemKind::LateSweeps, "late-sweeps"},
    ProblemName{ProblemKind::SweepOverdue, "sweep-overdue"},
    ProblemName{ProblemKind::LocalitySets, "locality-sets"},
    ProblemName{ProblemKind::LostLinks, "lost-links"},
    ProblemName{ProblemKind::CutOff, "cut-off"},
    ProblemName{ProblemKind::DisabledPorts, "disabled-ports"},
    ProblemName{ProblemKind::NoManager, "no-manager"},
    ProblemName{ProblemKind::SilentManager, "silent-manager"},
    ProblemName{ProblemKind::OpenSmAway, "opensm-away"},
    ProblemName{ProblemKind::OpenSmStandby, "opensm-standby"},
    ProblemName{ProblemKind::Configuring, "configuring"},
    ProblemName{ProblemKind::EarlierRoutes, "earlier-routes"},
    ProblemName{ProblemKind::Rail, "rail-without-daemon"},
    ProblemName{ProblemKind::NotRegulated, "not-regulated"},
    ProblemName{ProblemKind::Tables, "tables"},
    ProblemName{ProblemKind::LinksNotBack, "links-not-back"},
    ProblemName{ProblemKind::OffUnseen, "off-unseen"},
    ProblemName{ProblemKind::Pins, "pins"},
    ProblemName{ProblemKind::Qos, "qos"},
    ProblemName{ProblemKind::PowerUnknown, "power-unknown"},
};
static_assert(problem_names.size() == static_cast<std::size_t>(ProblemKind::PowerUnknown) + 1);

struct Problem {
  ProblemKind kind;
  std::string text;  ///< printable
  friend bool operator==(const Problem&, const Problem&) = default;
};

using Problems = std::vector<Problem>;

}  // namespace heddle
