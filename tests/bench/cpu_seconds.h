/// Processor time of this program, for benchmarks: on a shared machine the clock says little.
#pragma once

#include <ctime>

namespace heddle {

/// User and system time of all threads since the start, in seconds. (What getrusage() says is made of ticks:
/// of a stretch of a millisecond it is wrong by as much.)
inline double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace heddle
