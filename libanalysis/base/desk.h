/// Where work is done that waits for a disk, so that whoever hands it over does not wait.
#pragma once

#include <functional>

#include "base/units.h"

namespace heddle {

struct Desk {
  /// Does `work` after all that it was given before, wherever waiting hurts nobody, and then `then` on the
  /// caller's thread, in the same order. Both may have happened when it comes back.
  std::function<void(std::function<void()> work, std::function<void()> then)> run;
  std::function<Instant()> now;
};

}  // namespace heddle
