/// Cables that are lost and in the way. The order's mends are made with all cables that were seen once: on a
/// ring that is cut nobody may pass the lowest switch, though the cables that are left would lead there
/// (docs/routing.md, Mends). Then they are made anew without the lost ones, once no switch may use one of
/// these any more, and a cable that is back is one that came. One per OpenSM; its routing thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "planned/route_maker.h"
#include "planned/subnet.h"
#include "planned/tables_in_force.h"

namespace heddle::planned {

/// Links are off by the plan, or to be avoided, or were until it is carried out.
[[nodiscard]] bool keeps_off(const plan::Plan& plan);

class LostCables {
 public:
  using Clock = std::chrono::steady_clock;

  /// Whether CableMemory is to forget them: they join hosts that are apart, and part none, where the subnet
  /// is routed without them. Later: tables have just changed (not `is_calm`), the plan is of an update that
  /// is under way, the last of whose plans nobody is told of, or some switch still leads packets over one.
  /// No, where they were tried before, where the plan keeps links out of use, or a switch is gone: what it
  /// holds for its cables is not known.
  enum class Leave : std::uint8_t { No, Later, Now };

  /// `routes` are what `maker` has just made of `seen` with the lost ones, and of this plan.
  [[nodiscard]] Leave look(const RouteMaker& maker, const Routes& routes, const SubnetRecords& seen,
                           std::span<const LinkRef> lost, const plan::Plan* plan, unsigned lmc,
                           const TablesInForce& in_force, bool is_calm = true);

  /// When to look once more after Leave::Later: as soon as tables that were written at `written` have rested,
  /// whatever was routed since and wrote nothing; where they had, and a cable was in use still, after as
  /// long.
  [[nodiscard]] static Clock::time_point again_at(Clock::time_point written, Clock::time_point now);

 private:
  std::vector<LinkRef> tried_;
};

}  // namespace heddle::planned
