#include "routing/safe_update.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "routing/lid_rounds.h"

namespace heddle::routing {
namespace {

using Stages = std::vector<std::vector<EntryWrite>>;

/// Those of the same number together.
Stages join(Stages stages, const Stages& more) {
  if (stages.size() < more.size()) stages.resize(more.size());
  for (std::size_t i = 0; i < more.size(); ++i)
    stages[i].insert(stages[i].end(), more[i].begin(), more[i].end());
  return stages;
}

/// One round after the other: the first write of each LID waits for all that was before. In the first round
/// these are packets of tables that are gone by now, unless they are known and in nobody's way; but what is
/// broken is not to wait.
void split(const LidRounds& rounds, UpdatePlan& plan) {
  std::vector<Stages> by_round(rounds.count);
  std::vector<const Stopover*> last(rounds.of.size(), nullptr);
  for (const Stopover& stopover : rounds.stopovers) {
    for (const Lid lid : stopover.lids) last[lid.raw()] = &stopover;
  }
  for (std::size_t round = 0; round < rounds.count; ++round) {
    const auto part = [&](const Stages& stages, const Stopover* from) {
      Stages result;
      for (const auto& stage : stages) {
        result.emplace_back();
        std::copy_if(stage.begin(), stage.end(), std::back_inserter(result.back()),
                     [&](const EntryWrite& write) {
                       return rounds.of[write.lid.raw()] == round && last[write.lid.raw()] == from;
                     });
      }
      return result;
    };
    by_round[round] = part(plan.stages, nullptr);
    for (const Stopover& stopover : rounds.stopovers) {
      if (stopover.round == round) by_round[round] = join(std::move(by_round[round]), stopover.there);
      by_round[round] = join(std::move(by_round[round]), part(stopover.onward, &stopover));
    }
  }
  plan.stages.clear();
  for (std::size_t round = 0; round < rounds.count; ++round) {
    Stages& stages = by_round[round];
    const bool waits = round > 0 || rounds.first_waits;
    std::vector<char> has_begun(rounds.of.size(), 0);
    for (auto& stage : stages) {
      for (EntryWrite& write : stage) {
        const bool broken =
            round == 0 && std::binary_search(rounds.broken.begin(), rounds.broken.end(), write.lid);
        if (waits && !broken && has_begun[write.lid.raw()] == 0) write.change = Change::Follows;
      }
      for (const EntryWrite& write : stage) has_begun[write.lid.raw()] = 1;
      if (!stage.empty()) plan.stages.push_back(std::move(stage));
    }
  }
}

}  // namespace

SafeUpdate plan_safe_update(const UpdateOrder& order, const ForwardingTables& before,
                            const ForwardingTables& after, std::span<const BlockRef> differing,
                            const Besides& besides) {
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
      !mixtures_are_acyclic(order, {before, after, join(update.plan.stages, mended.stages)})) {
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
  update.plan.stages = join(std::move(update.plan.stages), staged.stages);
  update.plan.staged_lids += outward.size();
  update.is_uncertain = !update.left_out.empty();
  if (update.is_uncertain) return update;
  const TableChange change{before, after, update.plan.stages, besides};
  if (!has_foreign_turns(order, change)) return update;
  const LidRounds rounds = make_rounds(order, change);
  update.circular = rounds.circular;
  update.staying = rounds.staying;
  update.is_uncertain = rounds.stands_in_circle;
  if (rounds.count == 1 && rounds.staying.empty()) return update;
  for (std::size_t lid = 0; lid < rounds.of.size(); ++lid) {
    const bool is_later = rounds.of[lid] > 0 && rounds.of[lid] != LidRounds::never;
    if (is_later) update.following.emplace_back(static_cast<std::uint16_t>(lid));
  }
  for (const Stopover& stopover : rounds.stopovers)
    update.third_ways.insert(update.third_ways.end(), stopover.lids.begin(), stopover.lids.end());
  split(rounds, update.plan);
  return update;
}

}  // namespace heddle::routing
