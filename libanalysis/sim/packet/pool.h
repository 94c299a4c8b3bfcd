/// Room for flits behind one port, shared between its VLs: input buffers as their senders see them (credits),
/// output buffers, and central buffers.
///
/// Each VL has a least share that nobody else can take and a greatest share that it cannot exceed; what lies
/// between is first come, first served. A packet takes its whole room at once and gives it back flit by flit
/// as it leaves: that is a ramp, `step` flits every `stride` cycles from `start` on, which is followed only
/// when somebody asks. Invariant: 0 <= used <= greatest for every VL, and the shares of all VLs fit the
/// buffer. Units: flits, cycles.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <new>

#include "sim/packet/huge.h"
#include "sim/packet/wheel.h"

namespace heddle::packet {

/// Of every VL of a buffer.
struct Share {
  std::int32_t least = 0;
  std::int32_t greatest = 0;
};

/// How the room of a packet comes back.
struct RampShape {
  std::int32_t flits = 1;   ///< in all
  std::int32_t stride = 1;  ///< cycles from one step to the next
  std::int32_t step = 1;    ///< flits of a step
};

/// What a credit event says: 5 bits of VL, 3 of step, 15 of flits, 9 of stride.
constexpr std::uint32_t credit_data(unsigned vl, RampShape shape) {
  return vl | static_cast<std::uint32_t>(shape.step - 1) << 5U |
         static_cast<std::uint32_t>(shape.flits) << 8U | static_cast<std::uint32_t>(shape.stride) << 23U;
}
constexpr unsigned credit_vl(std::uint32_t data) { return data & 0x1fU; }
constexpr RampShape credit_shape(std::uint32_t data) {
  return {.flits = static_cast<std::int32_t>(data >> 8U & 0x7fffU),
          .stride = static_cast<std::int32_t>(data >> 23U),
          .step = static_cast<std::int32_t>(data >> 5U & 7U) + 1};
}

/// All pools of a run. A pool lies in one piece that begins a cache line: its head, what each VL uses, its
/// ramps. With few VLs the one line is all that is touched.
class Pools {
 public:
  /// At most `leaving` packets leave a pool at a time.
  explicit Pools(int vls = 1, std::uint32_t leaving = 1)
      : vls_{static_cast<std::uint32_t>(vls)},
        ramps_at_{(sizeof(Pool) + vls_ * sizeof(std::int32_t) + 7) / 8 * 8},
        lines_{
            static_cast<std::uint32_t>((ramps_at_ + leaving * sizeof(Ramp) + cache_line - 1) / cache_line)} {}

  /// Precondition: flits >= VLs x least share.
  std::uint32_t add(std::int32_t flits, Share share) {
    const auto id = static_cast<std::uint32_t>(size());
    memory_.resize(memory_.size() + lines_);
    std::byte* const at = memory_[std::size_t{id} * lines_].bytes;
    const std::int32_t shared = flits - static_cast<std::int32_t>(vls_) * share.least;
    new (at) Pool{shared, 0, share};
    new (at + sizeof(Pool)) std::int32_t[vls_]{};
    assert(shared >= 0);
    return id;
  }

  [[nodiscard]] std::size_t size() const { return memory_.size() / lines_; }

  /// Flits that VL `vl` could take now.
  std::int32_t room(std::uint32_t pool, unsigned vl, Cycle now) {
    Pool& p = at(pool);
    if (p.leaving != 0) settle(pool, now);
    const std::int32_t used = used_by(p, vl);
    const std::int32_t own = p.share.least > used ? p.share.least - used : 0;
    const std::int32_t left = p.share.greatest - used;
    return left < own + p.shared ? left : own + p.shared;
  }

  /// Precondition: room(pool, vl) >= flits.
  void take(std::uint32_t pool, unsigned vl, std::int32_t flits) {
    Pool& p = at(pool);
    std::int32_t& used = used_by(p, vl);
    const std::int32_t before = beyond_least(p, used);
    used += flits;
    p.shared -= beyond_least(p, used) - before;
    assert(used <= p.share.greatest && p.shared >= 0);
  }

  void give(std::uint32_t pool, unsigned vl, std::int32_t flits) {
    Pool& p = at(pool);
    std::int32_t& used = used_by(p, vl);
    const std::int32_t before = beyond_least(p, used);
    used -= flits;
    p.shared += before - beyond_least(p, used);
    assert(used >= 0);
  }

  /// From cycle `start` on, as many flits as the ramp says come back.
  void give_ramp(std::uint32_t pool, unsigned vl, RampShape shape, Cycle start, Cycle now) {
    const std::int32_t flits = shape.flits;
    Pool& p = at(pool);
    if (p.leaving != 0) settle(pool, now);
    if (flits == 1 && start <= now) {
      give(pool, vl, 1);
      return;
    }
    assert(ramps_at_ + (p.leaving + 1) * sizeof(Ramp) <= lines_ * cache_line && flits <= INT16_MAX);
    new (ramps(p) + p.leaving) Ramp{start,
                                    static_cast<std::int16_t>(flits),
                                    0,
                                    static_cast<std::int16_t>(shape.stride),
                                    static_cast<std::uint8_t>(vl),
                                    static_cast<std::uint8_t>(shape.step)};
    ++p.leaving;
  }

  /// The first cycle after `now` at which the ramps under way could have made `missing` more flits of room
  /// for `vl`; `never` if they cannot. It may be too early, never too late.
  [[nodiscard]] Cycle when(std::uint32_t pool, unsigned vl, std::int32_t missing, Cycle now) const {
    const Pool& p = at(pool);
    Cycle earliest = never;
    for (std::uint32_t i = 0; i < p.leaving; ++i) {
      const Ramp& ramp = ramps(p)[i];
      if (ramp.vl != vl && p.shared == 0 && used_by(p, ramp.vl) <= p.share.least) continue;
      Cycle at =
          p.leaving == 1 ? ramp.start + ramp.groups_before(ramp.done + missing - 1) * ramp.stride : now + 1;
      if (p.leaving == 1 && ramp.done + missing > ramp.flits) continue;
      if (at <= now) at = now + 1;
      if (at < earliest) earliest = at;
    }
    return earliest;
  }

  [[nodiscard]] std::int32_t used(std::uint32_t pool, unsigned vl) const { return used_by(at(pool), vl); }
  [[nodiscard]] std::int32_t used(std::uint32_t pool) const {
    std::int32_t sum = 0;
    for (unsigned vl = 0; vl < vls_; ++vl) sum += used(pool, vl);
    return sum;
  }
  /// Applies every ramp up to `now`.
  void settle(std::uint32_t pool, Cycle now) {
    Pool& p = at(pool);
    for (std::uint32_t i = 0; i < p.leaving;) {
      Ramp& ramp = ramps(p)[i];
      if (now >= ramp.start) {
        const Cycle steps = ramp.stride == 1 ? now - ramp.start : (now - ramp.start) / ramp.stride;
        const std::int32_t done =
            steps >= ramp.flits ? ramp.flits : (static_cast<std::int32_t>(steps) + 1) * ramp.step;
        const std::int32_t whole = done > ramp.flits ? ramp.flits : done;
        if (whole != ramp.done) {
          give(pool, ramp.vl, whole - ramp.done);
          ramp.done = static_cast<std::int16_t>(whole);
        }
      }
      if (ramp.done == ramp.flits) {
        ramp = ramps(p)[--p.leaving];
      } else {
        ++i;
      }
    }
  }

  void prefetch_pool(std::uint32_t pool) const { prefetch(memory_[std::size_t{pool} * lines_]); }

 private:
  struct Pool {
    std::int32_t shared = 0;  ///< free flits that are nobody's least share
    std::uint32_t leaving = 0;
    Share share;
  };
  struct Ramp {
    Cycle start = 0;
    std::int16_t flits = 0;
    std::int16_t done = 0;
    std::int16_t stride = 1;
    std::uint8_t vl = 0;
    std::uint8_t step = 1;
    [[nodiscard]] Cycle groups_before(std::int32_t flit) const { return step == 1 ? flit : flit / step; }
  };
  struct alignas(cache_line) Line {
    std::byte bytes[cache_line];
  };

  [[nodiscard]] Pool& at(std::uint32_t pool) {
    return *std::launder(reinterpret_cast<Pool*>(memory_[std::size_t{pool} * lines_].bytes));
  }
  [[nodiscard]] const Pool& at(std::uint32_t pool) const {
    return *std::launder(reinterpret_cast<const Pool*>(memory_[std::size_t{pool} * lines_].bytes));
  }
  static std::int32_t& used_by(Pool& pool, unsigned vl) {
    return std::launder(reinterpret_cast<std::int32_t*>(&pool + 1))[vl];
  }
  static const std::int32_t& used_by(const Pool& pool, unsigned vl) {
    return std::launder(reinterpret_cast<const std::int32_t*>(&pool + 1))[vl];
  }
  Ramp* ramps(Pool& pool) const {
    return reinterpret_cast<Ramp*>(reinterpret_cast<std::byte*>(&pool) + ramps_at_);
  }
  const Ramp* ramps(const Pool& pool) const {
    return reinterpret_cast<const Ramp*>(reinterpret_cast<const std::byte*>(&pool) + ramps_at_);
  }
  static std::int32_t beyond_least(const Pool& pool, std::int32_t used) {
    return used > pool.share.least ? used - pool.share.least : 0;
  }

  std::uint32_t vls_;
  std::size_t ramps_at_;  ///< bytes from the beginning of a pool
  std::uint32_t lines_;   ///< of a pool
  Array<Line> memory_;
};

}  // namespace heddle::packet
