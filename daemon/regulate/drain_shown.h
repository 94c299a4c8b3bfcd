/// A drain as it stands, and what that means for whoever is to pull something out.
#pragma once

#include "regulation/governor.h"

namespace heddle::regulate {

struct DrainShown {
  regulation::DrainStatus status;
  std::size_t still_up = 0;  ///< of its links: by the last sweep
  /// Nothing of it is in use: all of its links are off in fact, and no table leads there.
  bool safe = false;
};

}  // namespace heddle::regulate
