#include "routing/update_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>

namespace heddle::routing {
namespace {

constexpr std::uint32_t nowhere = 0xffffffffU;

enum class Way : std::uint8_t { None, Up, Down, Mended };

struct Entry {
  Way way = Way::None;
  std::uint32_t next = nowhere;  ///< switch; none at the destination's own
};

class Planner {
 public:
  Planner(const SwitchGraph& graph, const Ranks& ranks, const Mends* mends, const LinkSet* up)
      : graph_{graph},
        ranks_{ranks},
        mends_{mends},
        mended_(graph.size(), 0),
        follows_mend_(graph.size(), 0),
        sends_(graph.size(), 0),
        old_(graph.size()),
        new_(graph.size()),
        stage_(graph.size()),
        died_to_(graph.size(), nowhere),
        broken_(graph.size(), 0) {
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
      old_[s] = new_[s] = entry(target, s, before[s]);
      if (old_[s].way == Way::None) any_without = true;
      if (before[s] == after[s]) continue;
      new_[s] = entry(target, s, after[s]);
      if (new_[s].way != old_[s].way) ways_stay = false;
    }
    changed_.clear();
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      if (before[s] != after[s]) changed_.push_back(s);
    }
    any_broken_ = any_without && forget_broken_ways(target, before);
    if (any_broken_) ways_stay = false;
    if (auto good = check(target, lid, old_, everybody_); !good) return good;
    // Where all ways stay, what did not change is as good as it was.
    if (auto good = check(target, lid, new_, ways_stay ? changed_ : everybody_); !good) return good;
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
      stages = std::max<std::size_t>(1, number_stages(before, after));
      ++plan.staged_lids;
    }
    const std::size_t first = pauses && any_mend_stops() ? 1 : 0;
    if (pauses) {
      stages += first + 1;
      ++plan.staged_lids;
    }
    if (plan.stages.size() < stages) plan.stages.resize(stages);
    for (const std::uint32_t s : changed_) {
      const Change change = gains(s) ? Change::Gains : loses(s) ? Change::Loses : Change::Keeps;
      const EntryWrite write{SwitchIndex{s}, lid, PortNum{after[s]}, change};
      if (!pauses || mended_[s] == 0) {
        plan.stages[first + stage_[s]].push_back(write);
        if (pauses && follows_mend_[s] != 0 && !is_broken(s))
          plan.stages[first + stage_[s]].back().change = Change::Loses;
        continue;
      }
      if (old_[s].way != Way::None) plan.stages[0].push_back({write.sw, lid, no_path, Change::Loses});
      if (new_[s].way != Way::None)
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
    return std::any_of(changed_.begin(), changed_.end(), [&](std::uint32_t s) {
      return mended_[s] != 0 && !(suits(s, old_[s]) && suits(s, new_[s]));
    });
  }
  [[nodiscard]] bool any_mend_stops() const {
    return std::any_of(changed_.begin(), changed_.end(),
                       [&](std::uint32_t s) { return mended_[s] != 0 && old_[s].way != Way::None; });
  }
  [[nodiscard]] bool suits(std::uint32_t s, const Entry& entry) const {
    if (entry.way == Way::None) return true;
    const SwitchIndex from{s};
    const SwitchIndex over{entry.next};
    for (const Entry& onward : {old_[entry.next], new_[entry.next]}) {
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

  /// Up to down and none to any gain; down to up and any to none lose.
  [[nodiscard]] bool gains(std::uint32_t s) const {
    return old_[s].way != new_[s].way && (old_[s].way == Way::None || new_[s].way == Way::Down);
  }
  [[nodiscard]] bool loses(std::uint32_t s) const { return old_[s].way != new_[s].way && !gains(s); }

  [[nodiscard]] bool is_broken(std::uint32_t s) const { return any_broken_ && broken_[s] != 0; }

  /// What leads to a switch without a way is broken as well. Whether there is any.
  bool forget_broken_ways(const Target& target, const std::uint8_t* before) {
    bool any = false;
    for (auto it = ranks_.order().rbegin(); it != ranks_.order().rend(); ++it) {
      const std::uint32_t s = it->raw();
      const Entry old = old_[s];
      const bool dies = s != target.at.raw() && old.way != Way::None && before[s] < ports_ &&
                        dead_[s * ports_ + before[s]] != 0;
      const bool below = old.way == Way::Down && old.next != nowhere && old_[old.next].way == Way::None;
      broken_[s] = dies || below ? 1 : 0;
      died_to_[s] = !dies && below ? old.next : nowhere;
      if (broken_[s] == 0) continue;
      old_[s] = {};
      any = true;
    }
    // And what leads up to a switch that leads nowhere, from the top; then mends, in the order of their
    // paths.
    const auto leads_to_none = [&](std::uint32_t s) {
      if (s == target.at.raw() || old_[s].next == nowhere || old_[old_[s].next].way != Way::None) return;
      old_[s] = {};
      broken_[s] = 1;
      any = true;
    };
    for (const SwitchIndex s : ranks_.order()) {
      if (old_[s.raw()].way == Way::Up) leads_to_none(s.raw());
    }
    if (mends_ == nullptr) return any;
    for (const Mends::Mend& mend : mends_->to(target.at)) {
      const std::uint32_t s = mend.at.raw();
      const Entry old = old_[s];
      if (old.way != Way::Mended) continue;
      leads_to_none(s);
      if (broken_[s] != 0) died_to_[s] = old.next;
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
      const bool had_one = old_[s].way != Way::None || is_broken(s);
      if (sends_[s] != 0 || (had_one && new_[s].way != Way::None)) reach(s);
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
    std::vector<std::uint32_t> upwards;
    for (const SwitchIndex s : ranks_.order()) upwards.push_back(s.raw());
    std::reverse(upwards.begin(), upwards.end());

    // Packets go up before they go down: what a way down needs is lower, what a way up needs is higher.
    std::size_t gained = 0;
    const auto gain_after_next = [&](std::uint32_t s) {
      const std::uint32_t next = new_[s].next;
      stage_[s] = next != nowhere && gains(next) ? stage_[next] + 1 : 0;
      gained = std::max<std::size_t>(gained, stage_[s] + 1);
    };
    for (const std::uint32_t s : upwards) {
      if (gains(s) && new_[s].way == Way::Down) gain_after_next(s);
    }
    // Whose packets died further down must not send them there any more when they would turn up again.
    std::vector<std::uint32_t> after_senders(any_broken_ ? graph_.size() : 0, 0);
    for (auto it = upwards.rbegin(); it != upwards.rend(); ++it) {
      const std::uint32_t s = *it;
      if (gains(s) && new_[s].way == Way::Up) {
        gain_after_next(s);
      } else if (is_broken(s) && new_[s].way == Way::None) {
        stage_[s] = 0;
      }
      // Also where a switch has no entry yet: what is sent there dies there, and must not turn up again.
      if (any_broken_ && gains(s) && new_[s].way == Way::Up) {
        stage_[s] = std::max(stage_[s], after_senders[s]);
        gained = std::max<std::size_t>(gained, stage_[s] + 1);
      }
      if (!is_broken(s)) continue;
      if (new_[s].way == Way::None) stage_[s] = std::max(stage_[s], after_senders[s]);
      gained = std::max<std::size_t>(gained, stage_[s] + 1);
      if (const std::uint32_t next = died_to_[s]; next != nowhere)
        after_senders[next] = std::max(after_senders[next], stage_[s] + 1);
    }
    if (any_broken_) gained = std::max(gained, number_mends(after_senders));

    std::size_t kept = 0;
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      if (before[s] == after[s] || gains(s) || loses(s) || is_broken(s)) continue;
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
      if (next != nowhere) earliest[next] = std::max(earliest[next], stage_[s] + 1);
    };
    for (const std::uint32_t s : upwards) {
      if (loses(s) && old_[s].way == Way::Up) lose(s);
    }
    for (auto it = upwards.rbegin(); it != upwards.rend(); ++it) {
      if (loses(*it) && old_[*it].way == Way::Down) lose(*it);
    }
    return all;
  }

  /// Mends turn packets up, too: whoever gains one comes after those whose packets died there, and after what
  /// it leads to, unless the two would wait for one another. How many stages that takes.
  std::size_t number_mends(const std::vector<std::uint32_t>& after_senders) {
    const std::vector<std::uint32_t> first = stage_;
    for (const bool after_next : {true, false}) {
      stage_ = first;
      if (raise_mends(after_next, after_senders)) break;
    }
    std::size_t count = 0;
    for (const std::uint32_t s : changed_) {
      if (gains(s)) count = std::max<std::size_t>(count, stage_[s] + 1);
    }
    return count;
  }
  /// False where that has no end.
  bool raise_mends(bool after_next, std::vector<std::uint32_t> after_senders) {
    bool more = true;
    for (std::size_t round = 0; more && round <= graph_.size(); ++round) {
      more = false;
      for (const std::uint32_t s : changed_) {
        if (!gains(s) || (new_[s].way != Way::Mended && new_[s].way != Way::Up)) continue;
        std::uint32_t stage = std::max(stage_[s], after_senders[s]);
        const std::uint32_t next = new_[s].next;
        if (after_next && new_[s].way == Way::Mended && gains(next))
          stage = std::max(stage, stage_[next] + 1);
        more = more || stage != stage_[s];
        stage_[s] = stage;
        if (const std::uint32_t died_to = died_to_[s]; is_broken(s) && died_to != nowhere)
          after_senders[died_to] = std::max(after_senders[died_to], stage + 1);
      }
    }
    return !more;
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
  bool any_broken_ = false;  ///< of the LID in hand
  std::vector<std::uint32_t> everybody_;
  std::vector<std::uint32_t> changed_;
  std::vector<Entry> old_;
  std::vector<Entry> new_;
  std::vector<std::uint32_t> stage_;
  std::vector<std::uint32_t> died_to_;  ///< where a broken entry leads to another one
  std::vector<char> broken_;            ///< of the LID in hand, if any is
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
    bytes_.resize(lids.size() * tables_.switch_count());
    for (std::uint32_t s = 0; s < tables_.switch_count(); ++s) {
      for (std::size_t i = 0; i < lids.size(); ++i) {
        bytes_[i * tables_.switch_count() + s] = tables_.port(SwitchIndex{s}, lids[i]).raw();
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
