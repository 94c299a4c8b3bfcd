#include "shared/lease.h"

#include <ctime>

namespace heddle::shared {

BootTime boot_time() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec};
}

}  // namespace heddle::shared
