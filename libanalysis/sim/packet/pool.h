/// Room for flits behind one port, shared between its VLs: input buffers as their senders see them (credits),
/// output buffers, and central buffers.
///
/// Each VL has a least share that nobody else can take and a greatest share that it cannot exceed; what lies
/// between is first come, first served. A packet takes its whole room at once and gives it back flit by flit
/// as it leaves: that is a ramp, one flit every `stride` cycles from `start` on, which is followed only when
/// somebody asks. Invariant: 0 <= used <= greatest for every VL, and the shares of all VLs fit the buffer.
/// Units: flits, cycles.
#pragma once

#include <cassert>
#include <cstdint>
#include <vector>

#include "sim/packet/wheel.h"

namespace heddle::packet {

struct Share {
  std::int32_t least = 0;
  std::int32_t greatest = 0;
};

/// All pools of a run, in flat arrays.
class Pools {
 public:
  explicit Pools(int vls = 1) : vls_{static_cast<std::uint32_t>(vls)} {}

  /// Precondition: one share per VL, which together leave the flits of the buffer >= their sum of least
  /// shares. At most `leaving` packets leave it at a time.
  std::uint32_t add(std::int32_t flits, const std::vector<Share>& shares, std::uint32_t leaving) {
    Pool pool;
    pool.shared = flits;
    pool.first_ramp = static_cast<std::uint32_t>(ramps_.size());
    for (const Share& share : shares) {
      pool.shared -= share.least;
      lanes_.push_back({0, share.least, share.greatest});
    }
    assert(shares.size() == vls_ && pool.shared >= 0);
    ramps_.resize(ramps_.size() + leaving);
    pools_.push_back(pool);
    return static_cast<std::uint32_t>(pools_.size() - 1);
  }

  [[nodiscard]] std::size_t size() const { return pools_.size(); }

  /// Flits that VL `vl` could take now.
  std::int32_t room(std::uint32_t pool, unsigned vl, Cycle now) {
    Pool& p = pools_[pool];
    if (p.leaving != 0) settle(pool, now);
    const Lane& lane = lanes_[pool * vls_ + vl];
    const std::int32_t own = lane.least > lane.used ? lane.least - lane.used : 0;
    const std::int32_t left = lane.greatest - lane.used;
    return left < own + p.shared ? left : own + p.shared;
  }

  /// Precondition: room(pool, vl) >= flits.
  void take(std::uint32_t pool, unsigned vl, std::int32_t flits) {
    Lane& lane = lanes_[pool * vls_ + vl];
    const std::int32_t before = lane.used > lane.least ? lane.used - lane.least : 0;
    lane.used += flits;
    const std::int32_t after = lane.used > lane.least ? lane.used - lane.least : 0;
    pools_[pool].shared -= after - before;
    assert(lane.used <= lane.greatest && pools_[pool].shared >= 0);
  }

  void give(std::uint32_t pool, unsigned vl, std::int32_t flits) {
    Lane& lane = lanes_[pool * vls_ + vl];
    const std::int32_t before = lane.used > lane.least ? lane.used - lane.least : 0;
    lane.used -= flits;
    const std::int32_t after = lane.used > lane.least ? lane.used - lane.least : 0;
    pools_[pool].shared += before - after;
    assert(lane.used >= 0);
  }

  /// From cycle `start` on, one flit every `stride` cycles comes back, `flits` in all.
  void give_ramp(std::uint32_t pool, unsigned vl, std::int32_t flits, std::int32_t stride, Cycle start,
                 Cycle now) {
    Pool& p = pools_[pool];
    if (p.leaving != 0) settle(pool, now);
    if (flits == 1 && start <= now) {
      give(pool, vl, 1);
      return;
    }
    ramps_[p.first_ramp + p.leaving] = {start, flits, 0, static_cast<std::uint16_t>(stride),
                                        static_cast<std::uint16_t>(vl)};
    ++p.leaving;
  }

  /// The first cycle after `now` at which the ramps under way could have made `missing` more flits of room
  /// for `vl`; `never` if they cannot. It may be too early, never too late.
  [[nodiscard]] Cycle when(std::uint32_t pool, unsigned vl, std::int32_t missing, Cycle now) const {
    const Pool& p = pools_[pool];
    Cycle earliest = never;
    for (std::uint32_t i = 0; i < p.leaving; ++i) {
      const Ramp& ramp = ramps_[p.first_ramp + i];
      if (ramp.vl != vl && p.shared == 0 &&
          lanes_[pool * vls_ + ramp.vl].used <= lanes_[pool * vls_ + ramp.vl].least)
        continue;
      Cycle at =
          p.leaving == 1 ? ramp.start + static_cast<Cycle>(ramp.done + missing - 1) * ramp.stride : now + 1;
      if (p.leaving == 1 && ramp.done + missing > ramp.flits) continue;
      if (at <= now) at = now + 1;
      if (at < earliest) earliest = at;
    }
    return earliest;
  }

  [[nodiscard]] std::int32_t used(std::uint32_t pool, unsigned vl) const {
    return lanes_[pool * vls_ + vl].used;
  }
  [[nodiscard]] std::int32_t used(std::uint32_t pool) const {
    std::int32_t sum = 0;
    for (unsigned vl = 0; vl < vls_; ++vl) sum += used(pool, vl);
    return sum;
  }
  /// Applies every ramp up to `now`.
  void settle(std::uint32_t pool, Cycle now) {
    Pool& p = pools_[pool];
    for (std::uint32_t i = 0; i < p.leaving;) {
      Ramp& ramp = ramps_[p.first_ramp + i];
      if (now >= ramp.start) {
        const Cycle steps = ramp.stride == 1 ? now - ramp.start : (now - ramp.start) / ramp.stride;
        const std::int32_t done = steps >= ramp.flits ? ramp.flits : static_cast<std::int32_t>(steps) + 1;
        const std::int32_t whole = done > ramp.flits ? ramp.flits : done;
        if (whole != ramp.done) {
          give(pool, ramp.vl, whole - ramp.done);
          ramp.done = whole;
        }
      }
      if (ramp.done == ramp.flits) {
        ramp = ramps_[p.first_ramp + --p.leaving];
      } else {
        ++i;
      }
    }
  }

 private:
  struct Pool {
    std::int32_t shared = 0;  ///< free flits that are nobody's least share
    std::uint32_t first_ramp = 0;
    std::uint32_t leaving = 0;
  };
  struct Lane {
    std::int32_t used;
    std::int32_t least;
    std::int32_t greatest;
  };
  struct Ramp {
    Cycle start = 0;
    std::int32_t flits = 0;
    std::int32_t done = 0;
    std::uint16_t stride = 1;
    std::uint16_t vl = 0;
  };

  std::uint32_t vls_;
  std::vector<Pool> pools_;
  std::vector<Lane> lanes_;
  std::vector<Ramp> ramps_;
};

}  // namespace heddle::packet
