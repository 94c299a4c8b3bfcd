/// Tables for a port that has not all that they ask for: fewer VLs, shorter tables. The designer puts VLs
/// together until they fit (sharing.h) and finds the tables whose exact shares come closest to what the VLs
/// would have had; the analyzer says of each SL what it loses. Pure; any thread.
///
/// The search is a brief one (some milliseconds at most), since what a port has is what its switch says: of
/// 3,600 random plans and ports 200 got other tables than by the designer's whole search, which takes up to a
/// second, and the largest loss of a share was the same.
///
/// Packets are taken to be of one size, rounded up.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "qos/analyzer.h"
#include "qos/programming.h"

namespace heddle::qos {

/// One VL of the wanted tables, and what became of it.
struct FittedLane {
  std::vector<Sl> sls;  ///< that are mapped to it
  VlService wanted;     ///< `wanted.vl` is the VL of the wanted tables
  VlService got;        ///< of its VL on this port; of all that share it
  double share = 0;     ///< of the link: what was wanted, of all that share the VL
};

enum class Fit : std::uint8_t { AsWanted, Reduced };

struct Fitted {
  Fit fit = Fit::AsWanted;
  Programming programming;
  std::vector<FittedLane> lanes;  ///< by wanted VL; empty if AsWanted
};

/// Errors: of `check` on a port that has everything, of the designer, and of the analyzer.
[[nodiscard]] Result<Fitted> fit(const Programming& wanted, const PortCapability& port,
                                 std::uint32_t packet_bytes);

/// "SL 0, 1 on VL0: 62.50 % for 60.00 %, largest distance 9 for 4".
[[nodiscard]] std::string to_string(const FittedLane& lane);

}  // namespace heddle::qos
