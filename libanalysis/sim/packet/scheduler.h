/// Output schedulers: which of the lanes that have a packet and credits for all of it sends next.
///
/// A lane is a VL (InfiniBand) or an SL (Omni-Path-like). One object serves all ports that share a
/// configuration. The table-driven disciplines are the machines of qos/; plain round robin, which every run
/// without tables uses on tens of thousands of ports, is a byte per port.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "qos/dtable_arbiter.h"
#include "sim/packet/config.h"
#include "sim/packet/huge.h"

namespace heddle::packet {

using LaneMask = std::uint32_t;
/// By lane: flits of the packet at its head.
using HeadFlits = std::array<std::int32_t, 32>;

class Scheduler {
 public:
  Scheduler() = default;
  /// Errors: Invalid with the key's name.
  static Result<Scheduler> make(const SchedulerConfig& config, int flit_bytes);

  /// Adds a port and returns its number.
  std::uint32_t add_port();

  /// InfiniBand only: the port's own tables, from their beginning.
  void set_tables(std::uint32_t port, const qos::VlArbitration& tables);

  /// What pick() looks at of this port, ahead of it.
  void prefetch_port(std::uint32_t port) const {
    if (!infiniband_.empty()) prefetch(infiniband_[port]);
  }

  /// Chooses among `active` lanes, of which there is at least one, and takes the head packet of the winner as
  /// sent. None: no table serves any of them.
  std::optional<unsigned> pick(std::uint32_t port, LaneMask active, const HeadFlits& heads) {
    if (config_.discipline == Discipline::RoundRobin) {
      std::uint8_t& last = last_[port];
      const LaneMask after = last >= 31 ? 0 : active & (~LaneMask{0} << (last + 1U));
      last = static_cast<std::uint8_t>(std::countr_zero(after != 0 ? after : active));
      return last;
    }
    return pick_table(port, active, heads);
  }

 private:
  std::optional<unsigned> pick_table(std::uint32_t port, LaneMask active, const HeadFlits& heads);

  SchedulerConfig config_;
  int flit_bytes_ = 64;
  std::vector<std::uint8_t> last_;
  std::optional<qos::IbaArbiter> new_infiniband_;  // that has sent nothing; its copies share their tables
  std::vector<qos::IbaArbiter> infiniband_;        // only those of the discipline in use have members
  std::vector<qos::SbtArbiter> simple_;
  std::vector<qos::DTableArbiter> deficit_;
};

}  // namespace heddle::packet
