#include "sim/packet/scheduler.h"

namespace heddle::packet {

Result<Scheduler> Scheduler::make(const SchedulerConfig& config, int flit_bytes) {
  Scheduler scheduler;
  scheduler.config_ = config;
  scheduler.flit_bytes_ = flit_bytes;
  return scheduler;
}

std::uint32_t Scheduler::add_port() {
  last_.push_back(31);
  return static_cast<std::uint32_t>(last_.size() - 1);
}

unsigned Scheduler::pick_table(std::uint32_t /*port*/, LaneMask active, const HeadFlits& /*heads*/) {
  return static_cast<unsigned>(std::countr_zero(active));
}

}  // namespace heddle::packet
