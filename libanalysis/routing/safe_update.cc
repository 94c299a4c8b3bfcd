#include "routing/safe_update.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "routing/dependencies.h"
#include "routing/hop_map.h"

namespace heddle::routing {
namespace {

/// Dependencies of what stands, what is wanted, and what may be in between.
class Union {
 public:
  Union(const SwitchGraph& graph, const ForwardingTables& before, const ForwardingTables& after)
      : graph_{graph}, before_{before}, after_{after}, map_{graph}, dependencies_{graph} {}

  [[nodiscard]] bool is_acyclic(std::span<const Lid> outward) {
    std::vector<char> is_outward(std::size_t{graph_.top_lid().raw()} + 1, 0);
    for (const Lid lid : outward) is_outward[lid.raw()] = 1;
    for (const Target& target : graph_.targets()) {
      for (unsigned i = 0; i < target.lid_count(); ++i) {
        const Lid lid{static_cast<std::uint16_t>(target.base.raw() + i)};
        add(target, lid, is_outward[lid.raw()] != 0);
      }
    }
    return dependencies_.find_cycle().empty();
  }

 private:
  void add(const Target& target, Lid lid, bool outward) {
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      if (s == target.at.raw()) continue;
      const std::uint32_t old_hop = hop(before_, s, lid);
      const std::uint32_t new_hop = hop(after_, s, lid);
      follow(target, lid, before_, old_hop);
      follow(target, lid, after_, new_hop);
      follow(target, lid, after_, old_hop);
      // Written outward, a switch with its new entry leads to such as have theirs.
      if (!outward) follow(target, lid, before_, new_hop);
    }
  }
  void follow(const Target& target, Lid lid, const ForwardingTables& onward, std::uint32_t by) {
    if (by == HopMap::none || map_.peer(by) == target.at.raw()) return;
    const std::uint32_t next = hop(onward, map_.peer(by), lid);
    if (next != HopMap::none) dependencies_.add(by, next, lid);
  }
  [[nodiscard]] std::uint32_t hop(const ForwardingTables& tables, std::uint32_t s, Lid lid) const {
    return map_.hop(s, tables.port(SwitchIndex{s}, lid).raw());
  }

  const SwitchGraph& graph_;
  const ForwardingTables& before_;
  const ForwardingTables& after_;
  HopMap map_;
  Dependencies dependencies_;
};

}  // namespace

SafeUpdate plan_safe_update(const UpdateOrder& order, const ForwardingTables& before,
                            const ForwardingTables& after, std::span<const BlockRef> differing) {
  SafeUpdate update;
  LeftOut left;
  left.takes_pausing = true;
  const auto plan = [&] {
    left.refused.clear();
    left.pausing.clear();
    // Never an error: what is refused is left out.
    return *plan_update(order.graph, order.ranks, before, after, differing, &order.mends, order.up, &left);
  };
  update.plan = plan();
  const OutwardStages mended = outward_stages(order, before, after, left.pausing);
  // Beside LIDs that follow another order a pause would keep nothing free of cycles.
  if (!mended.turning.empty() && left.refused.empty() &&
      !Union(order.graph, before, after).is_acyclic(left.pausing)) {
    update.pausing = left.paused = mended.turning;
    update.plan = plan();
  }
  std::vector<Lid> outward = left.pausing;
  if (left.refused.size() <= most_outward) {
    outward.insert(outward.end(), left.refused.begin(), left.refused.end());
  } else {
    update.left_out = left.refused;
  }
  update.unordered = std::move(left.refused);
  const OutwardStages staged = outward_stages(order, before, after, outward);
  auto& all = update.plan.stages;
  if (all.size() < staged.stages.size()) all.resize(staged.stages.size());
  for (std::size_t i = 0; i < staged.stages.size(); ++i)
    all[i].insert(all[i].end(), staged.stages[i].begin(), staged.stages[i].end());
  update.plan.staged_lids += outward.size();
  return update;
}

}  // namespace heddle::routing
