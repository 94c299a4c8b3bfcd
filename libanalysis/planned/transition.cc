#include "planned/transition.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>

#include "routing/kept_ways.h"
#include "routing/safe_update.h"

namespace heddle::planned {
namespace {

using routing::ForwardingTables;
using routing::Hop;
using routing::LidRounds;
using routing::lids_per_block;
using routing::SwitchGraph;
using routing::SwitchIndex;
using routing::Target;

constexpr std::uint32_t nowhere = 0xffffffffU;
constexpr std::uint8_t no_port = no_path.raw();

enum class Way : std::uint8_t { None, Up, Down };

struct Step {
  Way way = Way::None;
  std::uint32_t next = nowhere;  ///< none at the destination
};

/// Where each port of each switch leads: nowhere, if its link does not forward.
class Steps {
 public:
  Steps(const SwitchGraph& graph, const routing::Ranks& ranks, const routing::LinkSet& usable) {
    for (std::uint32_t s = 0; s < graph.size(); ++s) {
      for (const Hop& hop : graph.hops(SwitchIndex{s}))
        ports_ = std::max<std::size_t>(ports_, hop.out.raw() + 1U);
    }
    steps_.resize(graph.size() * ports_);
    for (std::uint32_t s = 0; s < graph.size(); ++s) {
      for (const Hop& hop : graph.hops(SwitchIndex{s})) {
        if (!usable.contains(hop.link)) continue;
        steps_[s * ports_ + hop.out.raw()] = {ranks.above(SwitchIndex{s}, hop.peer) ? Way::Down : Way::Up,
                                              hop.peer.raw()};
      }
    }
  }

  [[nodiscard]] Step of(const Target& target, std::uint32_t s, std::uint8_t port) const {
    if (s == target.at.raw()) return port == target.out.raw() ? Step{Way::Down, nowhere} : Step{};
    return port < ports_ ? steps_[s * ports_ + port] : Step{};
  }

 private:
  std::size_t ports_ = 0;
  std::vector<Step> steps_;
};

/// One LID: what its entries are, and what the next ones may be.
class LidPass {
 public:
  LidPass(const SwitchGraph& graph, const Steps& steps, const routing::Mends& mends)
      : now(graph.size()),
        wanted(graph.size()),
        next(graph.size()),
        steps_{steps},
        mends_{mends},
        works_(graph.size()),
        mended_(graph.size()) {}

  enum class Answer : std::uint8_t { Repaired, NeedsStages };

  /// Sets `next`. NeedsStages: `next` is as `now`.
  Answer make(const Target& target) {
    next = now;
    for (const routing::Mends::Mend& mend : mends_.to(mended_for_)) mended_[mend.at.raw()] = 0;
    mended_for_ = target.at;
    for (const routing::Mends::Mend& mend : mends_.to(mended_for_)) mended_[mend.at.raw()] = 1;
    find_working(target);
    bool repairs = false;
    for (std::uint32_t s = 0; s < now.size(); ++s)
      repairs = repairs || (works_[s] == No && now[s] != wanted[s]);
    if (!repairs) return Answer::NeedsStages;
    for (std::uint32_t s = 0; s < now.size(); ++s) {
      if (works_[s] == No) next[s] = wanted[s];
    }
    if (any_mixture_is_safe(target)) return Answer::Repaired;
    return empty_what_is_broken() ? Answer::Repaired : Answer::NeedsStages;
  }

  /// Sets `next`: what works, and nothing else. Whether there was anything else.
  [[nodiscard]] bool only_what_works(const Target& target) {
    find_working(target);
    return empty_what_is_broken();
  }

  std::vector<std::uint8_t> now;
  std::vector<std::uint8_t> wanted;
  std::vector<std::uint8_t> next;

 private:
  enum Works : std::uint8_t { Unknown, Yes, No, BeingFollowed };

  /// Whether anything is.
  bool empty_what_is_broken() {
    bool emptied = false;
    for (std::uint32_t s = 0; s < now.size(); ++s) {
      next[s] = works_[s] == No ? no_port : now[s];
      emptied = emptied || next[s] != now[s];
    }
    return emptied;
  }

  void find_working(const Target& target) {
    std::fill(works_.begin(), works_.end(), Unknown);
    for (std::uint32_t s = 0; s < now.size(); ++s) {
      path_.clear();
      std::uint32_t at = s;
      Works end = Unknown;
      while (end == Unknown) {
        if (works_[at] != Unknown) {
          end = works_[at] == Yes ? Yes : No;  // No in a circle too
          break;
        }
        works_[at] = BeingFollowed;
        path_.push_back(at);
        const Step step = steps_.of(target, at, now[at]);
        if (step.way == Way::None) end = No;
        if (step.way != Way::None && step.next == nowhere) end = Yes;
        if (end == Unknown) at = step.next;
      }
      for (const std::uint32_t each : path_) works_[each] = end;
    }
  }

  /// No packet that goes down is sent up again but by a mend, and nobody but mends sends to a mended switch,
  /// whichever switches have their next entry already: so it goes round in no circle, and waits for no packet
  /// that waits for it.
  [[nodiscard]] bool any_mixture_is_safe(const Target& target) const {
    for (std::uint32_t s = 0; s < now.size(); ++s) {
      for (const std::uint8_t port : {now[s], next[s]}) {
        const Step step = steps_.of(target, s, port);
        if (step.way == Way::None || step.next == nowhere) continue;
        if (mended_[s] == 0 && mended_[step.next] != 0) return false;
        if (step.way == Way::Down && !goes_on_safely(target, s, step.next)) return false;
      }
    }
    return true;
  }
  [[nodiscard]] bool goes_on_safely(const Target& target, std::uint32_t s, std::uint32_t over) const {
    for (const std::uint8_t port : {now[over], next[over]}) {
      const Step step = steps_.of(target, over, port);
      if (step.way != Way::Up) continue;
      if (mended_[s] == 0 || !mends_.turns(SwitchIndex{s}, SwitchIndex{over}, SwitchIndex{step.next}))
        return false;
    }
    return true;
  }

  const Steps& steps_;
  const routing::Mends& mends_;
  std::vector<Works> works_;
  std::vector<std::uint8_t> mended_;  ///< by switch, for what is behind mended_for_
  SwitchIndex mended_for_{0};
  std::vector<std::uint32_t> path_;
};

std::vector<const Target*> targets_by_lid(const SwitchGraph& graph, std::size_t stride) {
  std::vector<const Target*> targets(stride, nullptr);
  for (const Target& target : graph.targets()) {
    for (unsigned i = 0; i < target.lid_count(); ++i) {
      const std::size_t lid = std::size_t{target.base.raw()} + i;
      if (lid < targets.size()) targets[lid] = &target;
    }
  }
  return targets;
}

class PassMaker {
 public:
  PassMaker(const routing::UpdateOrder& order, const ForwardingTables& now, const ForwardingTables& wanted,
            const routing::RecentEntries* recent)
      : order_{order},
        graph_{order.graph},
        recent_{recent},
        now_{now},
        wanted_{&wanted},
        steps_{graph_, order.ranks, *order.up},
        lid_pass_{graph_, steps_, order.mends},
        targets_{targets_by_lid(graph_, wanted.stride())} {
    pass_.tables = now;
  }

  Pass make(Packets packets, std::optional<Course>* course) {
    if (course == nullptr || !follow(*course, packets)) plan_anew(packets, course);
    pass_.writes = pass_.tables != now_;
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      if (!std::ranges::equal(pass_.tables.row(SwitchIndex{s}), wanted_->row(SwitchIndex{s}))) ++pass_.behind;
    }
    return std::move(pass_);
  }

 private:
  /// Whether there is one that still holds.
  bool follow(std::optional<Course>& course, Packets packets) {
    const bool holds = course && !course->stages.empty() && course->now == now_ &&
                       course->wanted == *wanted_ && course->up == *order_.up &&
                       course->usable == *order_.usable;
    if (!holds) return false;
    with_kept_ = course->target;
    wanted_ = &with_kept_;
    say_staying(course->staying);
    write_first(course->stages, packets);
    course->now = pass_.tables;
    return true;
  }

  void plan_anew(Packets packets, std::optional<Course>* course) {
    if (course != nullptr) course->reset();
    const ForwardingTables* const asked = wanted_;
    const auto differing = routing::differing_blocks(now_, *wanted_);
    keep_ways(differing);
    std::vector<std::uint16_t> blocks;
    for (const routing::BlockRef& at : differing) blocks.push_back(at.block);
    std::sort(blocks.begin(), blocks.end());
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
    for (const std::uint16_t block : blocks) {
      for (std::size_t i = 0; i < lids_per_block; ++i) {
        repair(Lid{static_cast<std::uint16_t>(block * lids_per_block + i)});
      }
    }
    const ForwardingTables repaired = pass_.tables;
    if (!repaired_.empty()) take_back_what_closes_a_circle(differing);
    const ForwardingTables in_nobodys_way = pass_.tables;
    std::vector<std::vector<routing::EntryWrite>> turns;
    if (!staged_.empty()) turns = advance(differing, packets);
    const bool begins = course != nullptr && !turns.empty() && !took_back_;
    // Turns begin when there is nothing left to repair beside them.
    if ((begins && !are_whole(repaired_)) || (turns_foreign_ && closes_a_circle(differing))) {
      pass_.tables = in_nobodys_way;
    } else if (begins) {
      *course = {pass_.tables, *asked, *wanted_, *order_.up, *order_.usable, std::move(turns), pass_.staying};
    }
    // Nothing that they could wait for is left.
    if (packets == Packets::Gone && pass_.tables == now_ && now_ != *wanted_) pass_.tables = repaired;
  }

  [[nodiscard]] bool are_whole(std::span<const Lid> lids) const {
    return std::ranges::all_of(lids, [this](Lid lid) {
      for (std::uint32_t s = 0; s < graph_.size(); ++s) {
        if (pass_.tables.port(SwitchIndex{s}, lid) != wanted_->port(SwitchIndex{s}, lid)) return false;
      }
      return true;
    });
  }

  void keep_ways(std::span<const routing::BlockRef> differing) {
    if (order_.usable == nullptr) return;
    const auto ways = routing::ways_to_keep(order_, now_, *wanted_, differing, *order_.usable);
    if (ways.empty()) return;
    with_kept_ = *wanted_;
    for (const routing::KeptWay& way : ways) {
      with_kept_.set(way.sw, way.lid, way.port);
      kept_.push_back(way.lid);
    }
    wanted_ = &with_kept_;
  }

  void repair(Lid lid) {
    bool differs = false;
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      lid_pass_.now[s] = now_.port(SwitchIndex{s}, lid).raw();
      lid_pass_.wanted[s] = wanted_->port(SwitchIndex{s}, lid).raw();
      differs = differs || lid_pass_.now[s] != lid_pass_.wanted[s];
    }
    if (!differs) return;
    const Target* const target = targets_[lid.raw()];
    // Nobody has it any more, so that nobody misses it.
    if (target == nullptr) lid_pass_.next = lid_pass_.wanted;
    if (target != nullptr && lid_pass_.make(*target) == LidPass::Answer::NeedsStages) {
      staged_.push_back(lid);
      return;
    }
    if (target != nullptr) repaired_.push_back(lid);
    set(lid, lid_pass_.next);
  }

  /// Repairs turn packets as the order allows, and what stands may still turn them as an earlier one did: a
  /// repair that closes a circle with that waits, and what is broken is taken out.
  void take_back_what_closes_a_circle(std::span<const routing::BlockRef> differing) {
    const std::vector<std::vector<routing::EntryWrite>> all{writes(differing, *wanted_)};
    turns_foreign_ = routing::has_foreign_turns(order_, {now_, *wanted_, all, {recent_, kept_}});
    if (!turns_foreign_) return;
    const std::vector<std::vector<routing::EntryWrite>> repairs{writes(differing, pass_.tables)};
    routing::LidRounds rounds = routing::make_rounds(order_, {now_, pass_.tables, repairs, {}});
    for (const routing::Stopover& stopover : rounds.stopovers)
      for (const Lid lid : stopover.lids) rounds.of[lid.raw()] = LidRounds::never;
    for (const Lid lid : rounds.circular) rounds.of[lid.raw()] = LidRounds::never;
    std::erase_if(repaired_, [&](Lid lid) {
      if (lid.raw() >= rounds.of.size() || rounds.of[lid.raw()] == 0) return false;
      for (std::uint32_t s = 0; s < graph_.size(); ++s)
        lid_pass_.now[s] = now_.port(SwitchIndex{s}, lid).raw();
      const bool emptied = lid_pass_.only_what_works(*targets_[lid.raw()]);
      set(lid, lid_pass_.next);
      took_back_ = took_back_ || emptied;
      // Then it takes its turn with those that stand.
      if (!emptied) staged_.push_back(lid);
      return true;
    });
  }

  /// Repairs, and stages that were planned as if these had ended, are written at once.
  [[nodiscard]] bool closes_a_circle(std::span<const routing::BlockRef> differing) const {
    const std::vector<std::vector<routing::EntryWrite>> all{writes(differing, pass_.tables)};
    return !routing::mixtures_are_acyclic(order_, {now_, pass_.tables, all});
  }

  /// From `now_` to these, all at once.
  [[nodiscard]] std::vector<routing::EntryWrite> writes(std::span<const routing::BlockRef> differing,
                                                        const ForwardingTables& to) const {
    std::vector<routing::EntryWrite> result;
    for (const routing::BlockRef& at : differing) {
      for (std::size_t i = 0; i < lids_per_block; ++i) {
        const Lid lid{static_cast<std::uint16_t>(at.block * lids_per_block + i)};
        if (lid.raw() >= targets_.size() || targets_[lid.raw()] == nullptr) continue;
        const PortNum port = to.port(at.sw, lid);
        if (port != now_.port(at.sw, lid)) result.push_back({at.sw, lid, port, routing::Change::Gains});
      }
    }
    return result;
  }

  void set(Lid lid, const std::vector<std::uint8_t>& entries) {
    for (std::uint32_t s = 0; s < graph_.size(); ++s)
      pass_.tables.set(SwitchIndex{s}, lid, PortNum{entries[s]});
  }

  /// What is repaired in this pass is no part of the stages. Those that are left, where LIDs take turns.
  std::vector<std::vector<routing::EntryWrite>> advance(std::span<const routing::BlockRef> differing,
                                                        Packets packets) {
    ForwardingTables to = pass_.tables;
    for (const Lid lid : staged_) {
      for (std::uint32_t s = 0; s < graph_.size(); ++s) {
        to.set(SwitchIndex{s}, lid, wanted_->port(SwitchIndex{s}, lid));
      }
    }
    const bool may_stay = order_.usable != nullptr;
    auto update = routing::plan_safe_update(
        {graph_, order_.ranks, order_.mends, nullptr, may_stay ? order_.usable : order_.up}, pass_.tables, to,
        differing, {recent_, kept_, may_stay ? routing::MayStay::Yes : routing::MayStay::No});
    if (!update.staying.empty()) let_stay(update);
    for (const Lid lid : update.left_out) {
      for (std::uint32_t s = 0; s < graph_.size(); ++s)
        pass_.tables.set(SwitchIndex{s}, lid, wanted_->port(SwitchIndex{s}, lid));
    }
    if (!update.left_out.empty())
      pass_.remark = std::to_string(update.left_out.size()) +
                     " LIDs have tables that follow no known order of switches; they are written at once";
    write_first(update.plan.stages, packets);
    const bool take_turns = !update.following.empty() || !update.third_ways.empty();
    return take_turns ? std::move(update.plan.stages) : std::vector<std::vector<routing::EntryWrite>>{};
  }

  /// What is wanted of LIDs for which it would close a circle is what the plan leaves them.
  void let_stay(const routing::SafeUpdate& update) {
    ForwardingTables left = pass_.tables;
    for (const auto& stage : update.plan.stages) (void)routing::apply(stage, left);
    if (wanted_ != &with_kept_) with_kept_ = *wanted_;
    wanted_ = &with_kept_;
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      for (const Lid lid : update.staying)
        with_kept_.set(SwitchIndex{s}, lid, left.port(SwitchIndex{s}, lid));
    }
    say_staying(update.staying);
  }

  void say_staying(const std::vector<Lid>& lids) {
    if (lids.empty()) return;
    pass_.staying = lids;
    pass_.remark = std::to_string(lids.size()) +
                   " LIDs keep routes of an earlier order, since each way to others could close a circle";
  }

  /// Takes away of the first stage what is written in this pass: all but what waits for packets.
  void write_first(std::vector<std::vector<routing::EntryWrite>>& stages, Packets packets) {
    if (stages.empty()) return;
    std::vector<routing::EntryWrite>& stage = stages.front();
    std::vector<char> waits(wanted_->stride(), 0);
    for (const routing::EntryWrite& write : stage) {
      const bool meets_packets = takes_a_way(write) || write.change == routing::Change::Follows;
      if (packets == Packets::UnderWay && meets_packets) waits[write.lid.raw()] = 1;
    }
    for (const routing::EntryWrite& write : stage) {
      if (waits[write.lid.raw()] == 0) pass_.tables.set(write.sw, write.lid, write.port);
    }
    std::erase_if(stage, [&](const routing::EntryWrite& write) { return waits[write.lid.raw()] == 0; });
    if (stage.empty()) stages.erase(stages.begin());
  }

  [[nodiscard]] bool takes_a_way(const routing::EntryWrite& write) const {
    const Target& target = *targets_[write.lid.raw()];
    return write.change == routing::Change::Loses &&
           steps_.of(target, write.sw.raw(), now_.port(write.sw, write.lid).raw()).way != Way::None;
  }

  const routing::UpdateOrder& order_;
  const SwitchGraph& graph_;
  const routing::RecentEntries* recent_;
  const ForwardingTables& now_;
  const ForwardingTables* wanted_;
  ForwardingTables with_kept_;  ///< that is wanted, where something is kept
  std::vector<Lid> kept_;
  Steps steps_;
  LidPass lid_pass_;
  std::vector<const Target*> targets_;
  std::vector<Lid> staged_;
  std::vector<Lid> repaired_;
  bool took_back_ = false;
  bool turns_foreign_ = false;  ///< beside repairs, packets may turn as the order does not allow
  Pass pass_;
};

}  // namespace

Pass next_pass(const routing::UpdateOrder& order, const ForwardingTables& now, const ForwardingTables& wanted,
               Packets packets, const routing::RecentEntries* recent, std::optional<Course>* course) {
  return PassMaker(order, now, wanted, recent).make(packets, course);
}

void TablesInForce::confirm(NodeGuid guid, std::span<const std::uint8_t> has,
                            std::span<const std::uint8_t> asked) {
  std::vector<std::uint8_t>& row = rows_[guid];
  const std::size_t known = row.size();
  const std::size_t size = std::min(has.size(), asked.size());
  if (row.size() < size) row.resize(size, no_port);
  const Instant began{FabricClock::duration{passes_}};
  for (std::size_t begin = 0; begin < size; begin += lids_per_block) {
    const std::size_t bytes = std::min(lids_per_block, size - begin);
    if (std::memcmp(&has[begin], &asked[begin], bytes) != 0) continue;
    for (std::size_t lid = begin; lid < std::min(known, begin + bytes); ++lid) {
      if (row[lid] != has[lid])
        recent_.replaced(Lid{static_cast<std::uint16_t>(lid)}, guid, PortNum{row[lid]}, began,
                         began + FabricClock::duration{1});
    }
    std::memcpy(&row[begin], &has[begin], bytes);
  }
}

void TablesInForce::keep(std::span<const NodeGuid> present) {
  std::vector<NodeGuid> sorted(present.begin(), present.end());
  std::ranges::sort(sorted);
  std::erase_if(rows_, [&](const auto& row) { return !std::ranges::binary_search(sorted, row.first); });
}

ForwardingTables TablesInForce::of(const SwitchGraph& graph, Lid top) const {
  ForwardingTables tables(graph.guids(), top);
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    const auto found = rows_.find(graph.guid(SwitchIndex{s}));
    if (found == rows_.end()) continue;
    const auto row = tables.row(SwitchIndex{s});
    const std::size_t size = std::min(row.size(), found->second.size());
    std::copy_n(found->second.begin(), size, row.begin());
  }
  return tables;
}

}  // namespace heddle::planned
