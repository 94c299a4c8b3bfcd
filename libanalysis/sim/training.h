/// How long links train that are not all alike: on real fabrics some are up after two seconds, and some of
/// the same kind after minutes. Each link has a time of its own, and keeps near it from one training to the
/// next.
#pragma once

#include <cstdint>

#include "base/units.h"
#include "fabric/fabric.h"

namespace heddle::sim {

struct TrainingTimes {
  std::uint64_t seed = 1;
  Picoseconds shortest{0};
  Picoseconds longest{0};  ///< not less
};

/// Of the `training`th time that this link trains: within a fifth of the link's own, which is drawn between
/// the two, as likely from 2 to 4 s as from 90 to 180 s. The same for the same arguments.
[[nodiscard]] Picoseconds training_time(const TrainingTimes& times, LinkIndex link, std::uint32_t training);

}  // namespace heddle::sim
