/// In which order to write tables, whatever stands in the switches: by the order of the switches where both
/// tables follow it (update_plan.h), else from the destination outward (outward_stages.h).
///
/// A mend that would have to pause, because it and what it leads to change together, need not where its LID
/// can be written outward with no turn that is not allowed, or where the dependencies of all that may be in
/// use meanwhile have no cycle: hosts that only the mend joins miss no packet then.
///
/// LIDs that must not change at the same time, or while packets are under way by entries that are gone, do so
/// in rounds (lid_rounds.h).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "routing/outward_stages.h"
#include "routing/update_plan.h"

namespace heddle::routing {

/// LIDs whose tables follow no known order and that are written outward; with more, another subnet manager's
/// whole fabric is taken over, and nothing is gained by going slowly.
inline constexpr std::size_t most_outward = 1024;

struct SafeUpdate {
  UpdatePlan plan;
  std::vector<Lid> unordered;  ///< whose tables follow no known order
  std::vector<Lid> pausing;  ///< hosts that a mend joins miss packets for these while the plan is carried out
  std::vector<Lid> following;   ///< of later rounds, whose first writes are such as Change::Follows
  std::vector<Lid> third_ways;  ///< of those: that have other entries meanwhile (stopovers.h)
  std::vector<Lid> staying;     ///< that are not as they were to be when the plan is carried out
  std::vector<Lid> circular;    ///< of the last round, where it can make a circle, or as LidRounds::circular
  /// Not all that may be in use was looked at, or it has circles already: what is wanted, and kept, is to be
  /// free of them by itself.
  bool is_uncertain = false;
  /// In no stage: unordered ones, where there are more than most_outward.
  std::vector<Lid> left_out;
};

/// `differing`: the blocks in which the tables may differ; others are not looked at.
[[nodiscard]] SafeUpdate plan_safe_update(const UpdateOrder& order, const ForwardingTables& before,
                                          const ForwardingTables& after, std::span<const BlockRef> differing,
                                          const Besides& besides = {});

}  // namespace heddle::routing
