/// What a twin of the running fabric is made of, as one answer: all its cables, those that carry nothing, the
/// tables that were read back, the loads that were measured, in which order this daemon routes, and what
/// links draw. `heddle what-if` asks for it. Pure: parts in, text out.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "control/list_views.h"
#include "discovery/table_reader.h"
#include "fabric/change.h"
#include "fabric/node_names.h"
#include "load/sample.h"
#include "power/power_model.h"
#include "regulation/selector.h"
#include "routing/kept_turns.h"
#include "routing/link_set.h"

namespace heddle::control {

struct TwinParts {
  /// With every link that may be active; null before the first sweep.
  std::shared_ptr<const Fabric> fabric;
  std::shared_ptr<const Fabric> seen;  ///< as the last sweep found it
  std::shared_ptr<const discovery::TablesRead> tables;
  std::shared_ptr<const load::Sample> sample;
  /// In which order tables are made; empty where this daemon makes none, nor its plugin.
  std::vector<std::pair<NodeGuid, std::uint16_t>> ranks;
  std::vector<routing::KeptTurn> turns;
  std::vector<Lid> managers;  ///< of the daemon and of every subnet manager
  unsigned planes = 1;
  unsigned plane = 0;       ///< that traffic is told to use
  unsigned next_plane = 0;  ///< after the next change
  std::shared_ptr<const power::PowerModel> power;
  regulation::Thresholds thresholds{};  ///< as configured
  std::vector<LinkRef> kept;            ///< links that the regulation leaves on
  NodeNames names;                      ///< that the operator gave
  Instant now{};
};

/// Those that carry traffic at present. Precondition: a fabric, and a sweep.
[[nodiscard]] routing::LinkSet active_links(const TwinParts& parts);

/// What both ends of a link draw while it is on, with their shares of modules.
[[nodiscard]] double link_watts(const power::PowerModel& power, const Fabric& fabric, const Link& link);

/// Precondition: a fabric.
void write_twin(const TwinParts& parts, const TextSink& out);

/// The fabric has changed since its tables were begun to be read. Precondition: tables.
[[nodiscard]] bool tables_outdated(const TwinParts& parts);

}  // namespace heddle::control
