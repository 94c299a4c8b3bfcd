/// Processor time of this program, for benchmarks: on a shared machine the clock says little.
#pragma once

#include <sys/resource.h>
#include <sys/time.h>

namespace heddle {

/// User and system time of all threads since the start, in seconds.
inline double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

}  // namespace heddle
