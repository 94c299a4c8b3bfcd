#include "routing/update_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "routing/hop_map.h"

namespace heddle::routing {
namespace {

enum class Way : std::uint8_t { None, Up, Down };

struct Entry {
  Way way = Way::None;
  std::uint32_t next = HopMap::none;  ///< switch; none at the destination's own
};

class Planner {
 public:
  Planner(const SwitchGraph& graph, const Ranks& ranks)
      : graph_{graph},
        ranks_{ranks},
        entries_(graph.size() * ports),
        old_(graph.size()),
        new_(graph.size()),
        stage_(graph.size()) {
    for (std::uint32_t s = 0; s < graph.size(); ++s) {
      for (const Hop& hop : graph.hops(SwitchIndex{s})) {
        entries_[s * ports + hop.out.raw()] = {ranks.above(SwitchIndex{s}, hop.peer) ? Way::Down : Way::Up,
                                               hop.peer.raw()};
      }
    }
  }

  /// Adds what this LID needs to the plan. Errors: Refused.
  Result<void> plan(const Target& target, Lid lid, const std::uint8_t* before, const std::uint8_t* after,
                    UpdatePlan& plan) {
    bool ways_stay = true;
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      old_[s] = new_[s] = entry(target, s, before[s]);
      if (before[s] == after[s]) continue;
      new_[s] = entry(target, s, after[s]);
      if (new_[s].way != old_[s].way) ways_stay = false;
    }
    for (const auto* entries : {&old_, &new_}) {
      if (auto good = check(target, lid, *entries); !good) return good;
    }
    std::size_t stages = 1;
    std::fill(stage_.begin(), stage_.end(), 0U);
    // Where nobody turns from up to down or back, a mixture goes up and then down as both tables do.
    if (!ways_stay && !any_mixture_is_legal(target)) {
      stages = number_stages(before, after);
      ++plan.staged_lids;
    }
    if (plan.stages.size() < stages) plan.stages.resize(stages);
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      if (before[s] != after[s]) plan.stages[stage_[s]].push_back({SwitchIndex{s}, lid, PortNum{after[s]}});
    }
    return {};
  }

 private:
  [[nodiscard]] Entry entry(const Target& target, std::uint32_t s, std::uint8_t port) const {
    if (port == no_path.raw()) return {};
    if (s == target.at.raw()) return {Way::Down, HopMap::none};
    return entries_[s * ports + port];
  }

  [[nodiscard]] Result<void> check(const Target& target, Lid lid, const std::vector<Entry>& entries) const {
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      if (entries[s].way != Way::Down || s == target.at.raw()) continue;
      if (entries[entries[s].next].way == Way::Down) continue;
      return fail(
          ErrorCode::Refused,
          fmt::format(
              "the entry of switch {} for LID {} leads down to switch {}, which does not go on down: these "
              "tables do not follow the ranks, and no order of writing them is known to be safe",
              to_string(graph_.guid(SwitchIndex{s})), lid.raw(),
              to_string(graph_.guid(SwitchIndex{entries[s].next}))));
    }
    return {};
  }

  /// From every host switch, whichever entry each switch follows: up, then down, and never to a switch
  /// without entry.
  bool any_mixture_is_legal(const Target& target) {
    reached_.assign(graph_.size(), 0);
    queue_.clear();
    const auto reach = [&](std::uint32_t s) {
      if (reached_[s] != 0) return;
      reached_[s] = 1;
      queue_.push_back(s);
    };
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      // Switches send and answer by LID too; one that has a path before and after must not lose it in
      // between.
      if (graph_.hosts_at(SwitchIndex{s}) != 0 || (old_[s].way != Way::None && new_[s].way != Way::None))
        reach(s);
    }
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      const std::uint32_t s = queue_[i];
      if (s == target.at.raw()) continue;
      if ((old_[s].way == Way::None) != (new_[s].way == Way::None)) return false;
      for (const Entry* e : {&old_[s], &new_[s]}) {
        if (e->way == Way::None) continue;
        const std::uint32_t next = e->next;
        if (e->way == Way::Down && (old_[next].way == Way::Up || new_[next].way == Way::Up)) return false;
        reach(next);
      }
    }
    return true;
  }

  std::size_t number_stages(const std::uint8_t* before, const std::uint8_t* after) {
    // Up to down and none to any gain; down to up and any to none lose.
    const auto gains = [&](std::uint32_t s) {
      return old_[s].way != new_[s].way && (old_[s].way == Way::None || new_[s].way == Way::Down);
    };
    const auto loses = [&](std::uint32_t s) { return old_[s].way != new_[s].way && !gains(s); };
    std::vector<std::uint32_t> upwards;
    for (const SwitchIndex s : ranks_.order()) upwards.push_back(s.raw());
    std::reverse(upwards.begin(), upwards.end());

    // Packets go up before they go down: what a way down needs is lower, what a way up needs is higher.
    std::size_t gained = 0;
    const auto gain_after_next = [&](std::uint32_t s) {
      const std::uint32_t next = new_[s].next;
      stage_[s] = next != HopMap::none && gains(next) ? stage_[next] + 1 : 0;
      gained = std::max<std::size_t>(gained, stage_[s] + 1);
    };
    for (const std::uint32_t s : upwards) {
      if (gains(s) && new_[s].way == Way::Down) gain_after_next(s);
    }
    for (auto it = upwards.rbegin(); it != upwards.rend(); ++it) {
      if (gains(*it) && new_[*it].way == Way::Up) gain_after_next(*it);
    }

    std::size_t kept = 0;
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      if (before[s] == after[s] || gains(s) || loses(s)) continue;
      stage_[s] = static_cast<std::uint32_t>(gained);
      kept = 1;
    }

    // A switch loses its way when those that sent packets there have lost theirs.
    const auto first = static_cast<std::uint32_t>(gained + kept);
    std::size_t all = gained + kept;
    std::vector<std::uint32_t> earliest(graph_.size(), first);
    const auto lose = [&](std::uint32_t s) {
      stage_[s] = earliest[s];
      all = std::max<std::size_t>(all, stage_[s] + 1);
      const std::uint32_t next = old_[s].next;
      if (next != HopMap::none) earliest[next] = std::max(earliest[next], stage_[s] + 1);
    };
    for (const std::uint32_t s : upwards) {
      if (loses(s) && old_[s].way == Way::Up) lose(s);
    }
    for (auto it = upwards.rbegin(); it != upwards.rend(); ++it) {
      if (loses(*it) && old_[*it].way == Way::Down) lose(*it);
    }
    return all;
  }

  const SwitchGraph& graph_;
  const Ranks& ranks_;
  static constexpr std::size_t ports = 256;
  std::vector<Entry> entries_;  ///< by switch and port
  std::vector<Entry> old_;
  std::vector<Entry> new_;
  std::vector<std::uint32_t> stage_;
  std::vector<std::uint8_t> reached_;
  std::vector<std::uint32_t> queue_;
};

/// The LIDs that some switch has another entry for, ascending.
std::vector<Lid> differing_lids(const ForwardingTables& before, const ForwardingTables& after) {
  std::vector<char> differs(std::max(before.stride(), after.stride()), 0);
  for (const BlockRef& at : differing_blocks(before, after)) {
    for (std::size_t i = 0; i < lids_per_block; ++i) {
      const Lid lid{static_cast<std::uint16_t>(at.block * lids_per_block + i)};
      if (before.port(at.sw, lid) != after.port(at.sw, lid)) differs[lid.raw()] = 1;
    }
  }
  std::vector<Lid> lids;
  for (std::size_t i = 0; i < differs.size(); ++i) {
    if (differs[i] != 0) lids.emplace_back(static_cast<std::uint16_t>(i));
  }
  return lids;
}

/// The entries of all switches for one LID: of whole blocks turned on their side, or gathered one by one
/// where few LIDs of the block are asked for.
class ColumnReader {
 public:
  explicit ColumnReader(const ForwardingTables& tables)
      : tables_{tables}, columns_{tables.switch_count()}, gathered_(tables.switch_count()) {}

  const std::uint8_t* read(Lid lid, std::size_t asked_of_block) {
    constexpr std::size_t worth_turning = 12;
    const std::size_t block = lid.raw() / lids_per_block;
    if (asked_of_block < worth_turning) {
      for (std::uint32_t s = 0; s < gathered_.size(); ++s) {
        gathered_[s] = tables_.port(SwitchIndex{s}, lid).raw();
      }
      return gathered_.data();
    }
    if (block != loaded_) columns_.load(tables_, block);
    loaded_ = block;
    return columns_.column(lid);
  }

 private:
  const ForwardingTables& tables_;
  Columns columns_;
  std::vector<std::uint8_t> gathered_;
  std::size_t loaded_ = static_cast<std::size_t>(-1);
};

}  // namespace

Result<UpdatePlan> plan_update(const SwitchGraph& graph, const Ranks& ranks, const ForwardingTables& before,
                               const ForwardingTables& after) {
  UpdatePlan plan;
  const std::vector<Lid> lids = differing_lids(before, after);
  if (lids.empty()) return plan;
  std::vector<const Target*> targets(std::max(before.stride(), after.stride()), nullptr);
  for (const Target& target : graph.targets()) {
    for (unsigned i = 0; i < target.lid_count(); ++i) {
      const std::size_t lid = std::size_t{target.base.raw()} + i;
      if (lid < targets.size()) targets[lid] = &target;
    }
  }
  Planner planner(graph, ranks);
  ColumnReader old_columns(before);
  ColumnReader new_columns(after);
  for (std::size_t first = 0, end = 0; first < lids.size(); first = end) {
    const auto block_of = [&](std::size_t i) { return lids[i].raw() / lids_per_block; };
    while (end < lids.size() && block_of(end) == block_of(first)) ++end;
    for (std::size_t i = first; i < end; ++i) {
      const Target* const target = targets[lids[i].raw()];
      if (target == nullptr) continue;
      const std::uint8_t* const x = old_columns.read(lids[i], end - first);
      const std::uint8_t* const y = new_columns.read(lids[i], end - first);
      if (auto good = planner.plan(*target, lids[i], x, y, plan); !good) return fail(good.error());
    }
  }
  return plan;
}

std::vector<BlockRef> apply(const std::vector<EntryWrite>& stage, ForwardingTables& tables) {
  std::vector<BlockRef> blocks;
  for (const EntryWrite& write : stage) {
    tables.set(write.sw, write.lid, write.port);
    blocks.push_back({write.sw, static_cast<std::uint16_t>(write.lid.raw() / lids_per_block)});
  }
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  return blocks;
}

}  // namespace heddle::routing
