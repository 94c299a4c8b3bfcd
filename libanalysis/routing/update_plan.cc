#include "routing/update_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>

#include "routing/lid_stages.h"

namespace heddle::routing {
namespace {

using Entry = LidChange::Entry;
using Way = LidChange::Way;

constexpr std::uint32_t nowhere = LidChange::nowhere;

class Planner {
 public:
  Planner(const SwitchGraph& graph, const Ranks& ranks, const Mends* mends, const LinkSet* up)
      : graph_{graph},
        ranks_{ranks},
        mends_{mends},
        mended_(graph.size(), 0),
        follows_mend_(graph.size(), 0),
        sends_(graph.size(), 0),
        change_{graph.size()},
        stage_(graph.size()) {
    for (std::uint32_t s = 0; s < graph.size(); ++s) {
      for (const Hop& hop : graph.hops(SwitchIndex{s})) {
        ports_ = std::max<std::size_t>(ports_, std::size_t{hop.out.raw()} + 1);
      }
    }
    for (const Target& target : graph.targets())
      if (target.link != no_link) sends_[target.at.raw()] = 1;
    entries_.resize(graph.size() * ports_);
    dead_.resize(graph.size() * ports_, 0);
    everybody_.resize(graph.size());
    std::iota(everybody_.begin(), everybody_.end(), 0U);
    for (std::uint32_t s = 0; s < graph.size(); ++s) {
      for (const Hop& hop : graph.hops(SwitchIndex{s})) {
        entries_[s * ports_ + hop.out.raw()] = {ranks.above(SwitchIndex{s}, hop.peer) ? Way::Down : Way::Up,
                                                hop.peer.raw()};
        if (up == nullptr || up->contains(hop.link)) continue;
        dead_[s * ports_ + hop.out.raw()] = 1;
        any_dead_ = true;
      }
    }
  }

  /// Adds what this LID needs to the plan. Errors: Refused.
  Result<void> plan(const Target& target, Lid lid, const std::uint8_t* before, const std::uint8_t* after,
                    UpdatePlan& plan, LeftOut* left_out) {
    mend(target.at);
    bool ways_stay = true;
    bool any_without = any_dead_;
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      change_.before[s] = change_.after[s] = entry(target, s, before[s]);
      if (change_.before[s].way == Way::None) any_without = true;
      if (before[s] == after[s]) continue;
      change_.after[s] = entry(target, s, after[s]);
      if (change_.after[s].way != change_.before[s].way) ways_stay = false;
    }
    change_.changed.clear();
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      if (before[s] != after[s]) change_.changed.push_back(s);
    }
    change_.any_broken = any_without && forget_broken_ways(target, before);
    if (change_.any_broken) ways_stay = false;
    if (auto good = check(target, lid, change_.before, everybody_); !good) return good;
    // Where all ways stay, what did not change is as good as it was.
    if (auto good = check(target, lid, change_.after, ways_stay ? change_.changed : everybody_); !good)
      return good;
    const bool pauses = mends_pause();
    if (pauses && left_out != nullptr && left_out->takes_pausing &&
        !std::binary_search(left_out->paused.begin(), left_out->paused.end(), lid)) {
      left_out->pausing.push_back(lid);
      return {};
    }
    std::size_t stages = 1;
    std::fill(stage_.begin(), stage_.end(), 0U);
    // Where nobody turns from up to down or back, a mixture goes up and then down as both tables do.
    if (!ways_stay && !any_mixture_is_legal(target)) {
      stages = std::max<std::size_t>(1, number_stages(ranks_, change_, stage_));
      ++plan.staged_lids;
    }
    const std::size_t first = pauses && any_mend_stops() ? 1 : 0;
    if (pauses) {
      stages += first + 1;
      ++plan.staged_lids;
    }
    if (plan.stages.size() < stages) plan.stages.resize(stages);
    for (const std::uint32_t s : change_.changed) {
      const Change change = change_.gains(s)   ? Change::Gains
                            : change_.loses(s) ? Change::Loses
                                               : Change::Keeps;
      const EntryWrite write{SwitchIndex{s}, lid, PortNum{after[s]}, change};
      if (!pauses || mended_[s] == 0) {
        plan.stages[first + stage_[s]].push_back(write);
        if (pauses && follows_mend_[s] != 0 && !change_.is_broken(s))
          plan.stages[first + stage_[s]].back().change = Change::Loses;
        continue;
      }
      if (change_.before[s].way != Way::None)
        plan.stages[0].push_back({write.sw, lid, no_path, Change::Loses});
      if (change_.after[s].way != Way::None)
        plan.stages[stages - 1].push_back({write.sw, lid, write.port, Change::Gains});
    }
    return {};
  }

 private:
  /// Which switches are mended for what is behind `at`.
  void mend(SwitchIndex at) {
    if (mends_ == nullptr || mends_->all().empty() || mended_for_ == at) return;
    if (mended_for_ != no_switch) {
      for (const Mends::Mend& each : mends_->to(mended_for_)) {
        mended_[each.at.raw()] = 0;
        for (const Mends::Way& way : mends_->ways(each)) follows_mend_[way.peer.raw()] = 0;
      }
    }
    for (const Mends::Mend& each : mends_->to(at)) {
      mended_[each.at.raw()] = 1;
      for (const Mends::Way& way : mends_->ways(each)) follows_mend_[way.peer.raw()] = 1;
    }
    mended_for_ = at;
  }

  /// A mend that changes together with what it leads to, and one of its entries does not suit both entries of
  /// the other. It stands still meanwhile.
  [[nodiscard]] bool mends_pause() const {
    return std::any_of(change_.changed.begin(), change_.changed.end(), [&](std::uint32_t s) {
      return mended_[s] != 0 && !(suits(s, change_.before[s]) && suits(s, change_.after[s]));
    });
  }
  [[nodiscard]] bool any_mend_stops() const {
    return std::any_of(change_.changed.begin(), change_.changed.end(), [&](std::uint32_t s) {
      return mended_[s] != 0 && change_.before[s].way != Way::None;
    });
  }
  [[nodiscard]] bool suits(std::uint32_t s, const Entry& entry) const {
    if (entry.way == Way::None) return true;
    const SwitchIndex from{s};
    const SwitchIndex over{entry.next};
    for (const Entry& onward : {change_.before[entry.next], change_.after[entry.next]}) {
      if (onward.way == Way::None) return false;
      if (onward.next == nowhere) continue;
      const SwitchIndex to{onward.next};
      if (ranks_.above(from, over) && ranks_.above(to, over) && !mends_->turns(from, over, to)) return false;
    }
    return true;
  }

  [[nodiscard]] Entry entry(const Target& target, std::uint32_t s, std::uint8_t port) const {
    if (port == no_path.raw()) return {};
    if (s == target.at.raw()) return {Way::Down, nowhere};
    const Entry result = port < ports_ ? entries_[s * ports_ + port] : Entry{};
    return mended_[s] != 0 && result.way != Way::None ? Entry{Way::Mended, result.next} : result;
  }

  /// What leads to a switch without a way is broken as well. Whether there is any.
  bool forget_broken_ways(const Target& target, const std::uint8_t* before) {
    bool any = false;
    for (auto it = ranks_.order().rbegin(); it != ranks_.order().rend(); ++it) {
      const std::uint32_t s = it->raw();
      const Entry old = change_.before[s];
      const bool dies = s != target.at.raw() && old.way != Way::None && before[s] < ports_ &&
                        dead_[s * ports_ + before[s]] != 0;
      const bool below =
          old.way == Way::Down && old.next != nowhere && change_.before[old.next].way == Way::None;
      change_.broken[s] = dies || below ? 1 : 0;
      change_.died_to[s] = !dies && below ? old.next : nowhere;
      if (change_.broken[s] == 0) continue;
      change_.before[s] = {};
      any = true;
    }
    // And what leads up to a switch that leads nowhere, from the top; then mends, in the order of their
    // paths.
    const auto leads_to_none = [&](std::uint32_t s) {
      if (s == target.at.raw() || change_.before[s].next == nowhere ||
          change_.before[change_.before[s].next].way != Way::None)
        return;
      change_.before[s] = {};
      change_.broken[s] = 1;
      any = true;
    };
    for (const SwitchIndex s : ranks_.order()) {
      if (change_.before[s.raw()].way == Way::Up) leads_to_none(s.raw());
    }
    if (mends_ == nullptr) return any;
    for (const Mends::Mend& mend : mends_->to(target.at)) {
      const std::uint32_t s = mend.at.raw();
      const Entry old = change_.before[s];
      if (old.way != Way::Mended) continue;
      leads_to_none(s);
      if (change_.broken[s] != 0) change_.died_to[s] = old.next;
    }
    return any;
  }

  [[nodiscard]] Result<void> check(const Target& target, Lid lid, const std::vector<Entry>& entries,
                                   const std::vector<std::uint32_t>& switches) const {
    for (const std::uint32_t s : switches) {
      const Way way = entries[s].way;
      if (way == Way::None || way == Way::Mended || s == target.at.raw()) continue;
      const std::uint32_t next = entries[s].next;
      if (way == Way::Up ? mended_[next] == 0 : entries[next].way == Way::Down) continue;
      return fail(
          ErrorCode::Refused,
          fmt::format("the entry of switch {} for LID {} leads to switch {}, which does not go on as the "
                      "ranks want it: "
                      "these tables do not follow them, and no order of writing them is known to be safe",
                      to_string(graph_.guid(SwitchIndex{s})), lid.raw(),
                      to_string(graph_.guid(SwitchIndex{next}))));
    }
    return {};
  }

  /// From every switch with hosts or aggregation nodes, whichever entry each switch follows: up, then down,
  /// and never to a switch without entry.
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
      // between. And one that gets another in place of a broken one may send to others that still have
      // theirs.
      const bool had_one = change_.before[s].way != Way::None || change_.is_broken(s);
      if (sends_[s] != 0 || (had_one && change_.after[s].way != Way::None)) reach(s);
    }
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      const std::uint32_t s = queue_[i];
      if (s == target.at.raw()) continue;
      if ((change_.before[s].way == Way::None) != (change_.after[s].way == Way::None)) return false;
      for (const Entry* e : {&change_.before[s], &change_.after[s]}) {
        if (e->way == Way::None) continue;
        const std::uint32_t next = e->next;
        if (e->way == Way::Down &&
            (change_.before[next].way == Way::Up || change_.after[next].way == Way::Up))
          return false;
        reach(next);
      }
    }
    return true;
  }

  const SwitchGraph& graph_;
  const Ranks& ranks_;
  const Mends* mends_;
  std::vector<std::uint8_t> mended_;        ///< by switch, for what is behind mended_for_
  std::vector<std::uint8_t> follows_mend_;  ///< likewise: a mended switch may send there
  std::vector<std::uint8_t> sends_;         ///< likewise: somebody does who is no switch
  SwitchIndex mended_for_ = no_switch;
  std::size_t ports_ = 0;       ///< above every port that leads to a switch
  std::vector<Entry> entries_;  ///< by switch and port
  std::vector<char> dead_;      ///< likewise: over a link that is down
  bool any_dead_ = false;
  std::vector<std::uint32_t> everybody_;
  LidChange change_;  ///< of the LID in hand
  std::vector<std::uint32_t> stage_;
  std::vector<std::uint8_t> reached_;
  std::vector<std::uint32_t> queue_;
};

/// The LIDs that some switch has another entry for, ascending.
std::vector<Lid> differing_lids(const ForwardingTables& before, const ForwardingTables& after,
                                std::span<const BlockRef> blocks) {
  std::vector<char> differs(std::max(before.stride(), after.stride()), 0);
  for (const BlockRef& at : blocks) {
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

/// The entries of all switches for some LIDs, a row per LID.
class TableColumns {
 public:
  explicit TableColumns(const ForwardingTables& tables) : tables_{tables} {}

  void load(std::span<const Lid> lids) {
    const std::size_t switches = tables_.switch_count();
    bytes_.resize(lids.size() * switches);
    constexpr std::size_t together = 64;  // a line of the cache that is written, and of each row that is read
    for (std::size_t first = 0; first < switches; first += together) {
      const std::size_t end = std::min(first + together, switches);
      for (std::size_t i = 0; i < lids.size(); ++i) {
        for (std::size_t s = first; s < end; ++s)
          bytes_[i * switches + s] = tables_.port(SwitchIndex{static_cast<std::uint32_t>(s)}, lids[i]).raw();
      }
    }
  }
  [[nodiscard]] const std::uint8_t* of(std::size_t i) const { return &bytes_[i * tables_.switch_count()]; }

 private:
  const ForwardingTables& tables_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace

Result<UpdatePlan> plan_update(const SwitchGraph& graph, const Ranks& ranks, const ForwardingTables& before,
                               const ForwardingTables& after, const Mends* mends) {
  return plan_update(graph, ranks, before, after, differing_blocks(before, after), mends);
}

Result<UpdatePlan> plan_update(const SwitchGraph& graph, const Ranks& ranks, const ForwardingTables& before,
                               const ForwardingTables& after, std::span<const BlockRef> differing,
                               const Mends* mends, const LinkSet* up, LeftOut* left_out) {
  UpdatePlan plan;
  const std::vector<Lid> lids = differing_lids(before, after, differing);
  if (lids.empty()) return plan;
  std::vector<const Target*> targets(std::max(before.stride(), after.stride()), nullptr);
  for (const Target& target : graph.targets()) {
    for (unsigned i = 0; i < target.lid_count(); ++i) {
      const std::size_t lid = std::size_t{target.base.raw()} + i;
      if (lid < targets.size()) targets[lid] = &target;
    }
  }
  Planner planner(graph, ranks, mends, up);
  TableColumns old_columns(before);
  TableColumns new_columns(after);
  constexpr std::size_t at_once = 256;  // rows of this many bytes per switch stay in the cache
  for (std::size_t first = 0; first < lids.size(); first += at_once) {
    const auto some = std::span(lids).subspan(first, std::min(at_once, lids.size() - first));
    old_columns.load(some);
    new_columns.load(some);
    for (std::size_t i = 0; i < some.size(); ++i) {
      const Target* const target = targets[some[i].raw()];
      if (target == nullptr) continue;
      auto planned = planner.plan(*target, some[i], old_columns.of(i), new_columns.of(i), plan, left_out);
      if (planned) continue;
      if (left_out == nullptr) return fail(planned.error());
      left_out->refused.push_back(some[i]);
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
