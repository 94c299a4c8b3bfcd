/// Judges each part of an acceptance. Pure: what is judged was read by others, from a daemon or from files.
#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "acceptance/part.h"
#include "base/units.h"
#include "cabling/check.h"
#include "fabric/link_name.h"
#include "twin/source.h"

namespace heddle::acceptance {

/// What each host must get of its share where nobody says otherwise.
inline constexpr Ratio usual_least{0.5};

/// `plan`: what it is called.
[[nodiscard]] Part judge_cables(const cabling::CableCheck& check, const std::string& plan);

/// `health`: as GET /v1/health answers.
[[nodiscard]] Part judge_health(const boost::json::value& health);

/// What the last two parts are judged by.
struct Routed {
  twin::Source twin;  ///< with tables
  routing::SwitchGraph graph;
  std::string by;  ///< whose tables these are
};
/// Tables that were read back. Errors: where nobody has read all of them, or not since the fabric changed;
/// those of SwitchGraph.
[[nodiscard]] Result<Routed> read_back(twin::Source twin);

/// Do packets arrive by these tables, and is there no circle of full buffers on one VL?
[[nodiscard]] Part judge_routes(const Routed& routed);

/// Does every host get `least` of its share at least, when all send to all others (twin/bandwidth.h)?
/// `known`: names of the twin's fabric.
[[nodiscard]] Part judge_bandwidth(const Routed& routed, const FabricNames& known, Ratio least);

}  // namespace heddle::acceptance
