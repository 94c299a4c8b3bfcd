/// Tests that try a few cases in every run, a quarter of these with a sanitizer, and all of them by night:
/// HEDDLE_NIGHT is set by the ctest tests with the label `night`, which .ci/night runs.
#pragma once

#include <cstdlib>

#include "support/sanitized.h"

namespace heddle::test {

[[nodiscard]] inline bool is_night() { return std::getenv("HEDDLE_NIGHT") != nullptr; }

struct Seeds {
  unsigned always;
  unsigned by_night;
};

/// The last of the seeds 1, 2, ... to try.
[[nodiscard]] inline unsigned last_of(Seeds seeds) {
  if (is_night()) return seeds.by_night;
  return sanitized ? (seeds.always + 3) / 4 : seeds.always;
}

}  // namespace heddle::test
