#include "routing/update_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

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
        map_{graph},
        old_(graph.size()),
        new_(graph.size()),
        stage_(graph.size()) {}

  /// Adds what this LID needs to the plan. Errors: Refused.
  Result<void> plan(const Target& target, Lid lid, const std::uint8_t* before, const std::uint8_t* after,
                    UpdatePlan& plan) {
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      old_[s] = entry(target, s, before[s]);
      new_[s] = entry(target, s, after[s]);
    }
    for (const auto* entries : {&old_, &new_}) {
      if (auto good = check(target, lid, *entries); !good) return good;
    }
    std::size_t stages = 1;
    std::fill(stage_.begin(), stage_.end(), 0U);
    if (!any_mixture_is_legal(target)) {
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
    const std::uint32_t hop = map_.hop(s, port);
    if (hop == HopMap::none) return {};
    const std::uint32_t peer = map_.peer(hop);
    return {ranks_.above(SwitchIndex{s}, SwitchIndex{peer}) ? Way::Down : Way::Up, peer};
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
  HopMap map_;
  std::vector<Entry> old_;
  std::vector<Entry> new_;
  std::vector<std::uint32_t> stage_;
  std::vector<std::uint8_t> reached_;
  std::vector<std::uint32_t> queue_;
};

bool same_block(const ForwardingTables& x, const ForwardingTables& y, std::size_t block) {
  if (block >= x.blocks() || block >= y.blocks()) return false;
  for (std::uint32_t s = 0; s < x.switch_count(); ++s) {
    if (std::memcmp(x.block(SwitchIndex{s}, block).data(), y.block(SwitchIndex{s}, block).data(),
                    lids_per_block) != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace

Result<UpdatePlan> plan_update(const SwitchGraph& graph, const Ranks& ranks, const ForwardingTables& before,
                               const ForwardingTables& after) {
  UpdatePlan plan;
  Planner planner(graph, ranks);
  Columns old_columns(graph.size());
  Columns new_columns(graph.size());
  std::size_t loaded = static_cast<std::size_t>(-1);
  bool same = false;
  for (const Target& target : graph.targets()) {
    for (unsigned i = 0; i < target.lid_count(); ++i) {
      const Lid lid{static_cast<std::uint16_t>(target.base.raw() + i)};
      if (lid.raw() / lids_per_block != loaded) {
        loaded = lid.raw() / lids_per_block;
        same = same_block(before, after, loaded);
        if (!same) {
          old_columns.load(before, loaded);
          new_columns.load(after, loaded);
        }
      }
      if (same) continue;
      const std::uint8_t* x = old_columns.column(lid);
      const std::uint8_t* y = new_columns.column(lid);
      if (std::equal(x, x + graph.size(), y)) continue;
      if (auto good = planner.plan(target, lid, x, y, plan); !good) return fail(good.error());
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
