/// Writes traces, and makes others of them.
#pragma once

#include <ostream>

#include "trace/vef.h"

namespace heddle::trace {

/// In the order of the messages; what read_vef reads from it is the same trace. A stream that fails says so
/// itself.
void write_vef(const Trace& trace, std::ostream& out);

/// Without what VEF2 has not: triggers and the clock. Replaying it finds the same messages at the same ticks,
/// and has to look at every arrival.
[[nodiscard]] Trace strip(Trace trace);

struct Scale {
  double time = 1;   ///< factor of all ticks between steps: what computing takes
  double bytes = 1;  ///< factor of all lengths; what was not empty stays at least 1 byte
};
/// Errors: Invalid for a factor that is negative or no number, or makes more than a record can hold.
[[nodiscard]] Result<Trace> scale(Trace trace, const Scale& factors);

}  // namespace heddle::trace
