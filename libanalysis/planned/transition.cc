#include "planned/transition.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "planned/lid_pass.h"
#include "routing/kept_ways.h"
#include "routing/safe_update.h"

namespace heddle::planned {
namespace {

using routing::ForwardingTables;
using routing::LidRounds;
using routing::lids_per_block;
using routing::SwitchGraph;
using routing::SwitchIndex;
using routing::Target;

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
            const routing::RecentEntries* recent, routing::Keep which, routing::MayStay may_stay)
      : order_{order},
        graph_{order.graph},
        recent_{recent},
        which_{which},
        may_stay_{may_stay},
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
  /// What is kept is in nobody's way.
  [[nodiscard]] bool suits() const { return !is_refused_ && !took_back_; }

 private:
  /// Whether there is one that still holds.
  bool follow(std::optional<Course>& course, Packets packets) {
    const bool holds = course && !course->stages.empty() && course->now == now_ &&
                       course->wanted == *wanted_ && course->up == *order_.up &&
                       course->usable == *order_.usable &&
                       std::ranges::equal(course->by_plane, order_.by_plane);
    if (!holds) return false;
    with_kept_ = course->target;
    wanted_ = &with_kept_;
    say_staying(course->staying);
    pass_.relaxed = course->relaxed;
    write_first(course->stages, packets);
    course->now = pass_.tables;
    return true;
  }

  void plan_anew(Packets packets, std::optional<Course>* course) {
    if (course != nullptr) course->reset();
    const ForwardingTables* const asked = wanted_;
    auto differing = routing::differing_blocks(now_, *wanted_);
    keep_ways(differing);
    // Other ways differ in blocks that are as they were to be.
    if (which_ == routing::Keep::OrOthers) differing = routing::differing_blocks(now_, *wanted_);
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
      *course = {pass_.tables,     *asked,         *wanted_,
                 *order_.up,       *order_.usable, {order_.by_plane.begin(), order_.by_plane.end()},
                 std::move(turns), pass_.staying,  pass_.relaxed};
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
    const auto ways = routing::ways_to_keep(order_, now_, *wanted_, differing, which_);
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

  /// Repairs turn packets as the order allows, and what stands may still turn them as an earlier one did, as
  /// may what is gone: a repair that closes a circle with these waits, and what is broken is taken out.
  void take_back_what_closes_a_circle(std::span<const routing::BlockRef> differing) {
    const std::vector<std::vector<routing::EntryWrite>> all{writes(differing, *wanted_)};
    turns_foreign_ = routing::has_foreign_turns(order_, {now_, *wanted_, all, {recent_, kept_}});
    if (!turns_foreign_) return;
    took_back_ = take_back(differing, {});
    // Packets that are under way are in the way of the rest, whatever is kept.
    if (recent_ != nullptr) (void)take_back(differing, {recent_});
  }

  /// Whether there was anything broken to be taken out.
  bool take_back(std::span<const routing::BlockRef> differing, const routing::Besides& besides) {
    const std::vector<std::vector<routing::EntryWrite>> repairs{writes(differing, pass_.tables)};
    routing::LidRounds rounds = routing::make_rounds(order_, {now_, pass_.tables, repairs, besides});
    for (const routing::Stopover& stopover : rounds.stopovers)
      for (const Lid lid : stopover.lids) rounds.of[lid.raw()] = LidRounds::never;
    for (const Lid lid : rounds.circular) rounds.of[lid.raw()] = LidRounds::never;
    bool any = false;
    std::erase_if(repaired_, [&](Lid lid) {
      if (lid.raw() >= rounds.of.size() || rounds.of[lid.raw()] == 0) return false;
      for (std::uint32_t s = 0; s < graph_.size(); ++s)
        lid_pass_.now[s] = now_.port(SwitchIndex{s}, lid).raw();
      const bool emptied = lid_pass_.only_what_works(*targets_[lid.raw()]);
      set(lid, lid_pass_.next);
      any = any || emptied;
      // Then it takes its turn with those that stand.
      if (!emptied) staged_.push_back(lid);
      return true;
    });
    return any;
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

  void copy(Lid lid, const ForwardingTables& from, ForwardingTables& to) const {
    for (std::uint32_t s = 0; s < graph_.size(); ++s)
      to.set(SwitchIndex{s}, lid, from.port(SwitchIndex{s}, lid));
  }
  void set(Lid lid, const std::vector<std::uint8_t>& entries) {
    for (std::uint32_t s = 0; s < graph_.size(); ++s)
      pass_.tables.set(SwitchIndex{s}, lid, PortNum{entries[s]});
  }

  /// What is repaired in this pass is no part of the stages. Those that are left, where LIDs take turns.
  std::vector<std::vector<routing::EntryWrite>> advance(std::span<const routing::BlockRef> differing,
                                                        Packets packets) {
    ForwardingTables to = pass_.tables;
    for (const Lid lid : staged_) copy(lid, *wanted_, to);
    const routing::LinkSet* const usable = order_.usable != nullptr ? order_.usable : order_.up;
    auto update =
        routing::plan_safe_update({graph_, order_.ranks, order_.mends, nullptr, usable, order_.open},
                                  pass_.tables, to, differing, {recent_, kept_, may_stay_});
    is_refused_ = !update.circular.empty() || update.is_uncertain;
    if (!update.staying.empty()) let_stay(update);
    for (const Lid lid : update.left_out) copy(lid, *wanted_, pass_.tables);
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
    pass_.relaxed = goes_over_links_to_be_avoided(update.staying, left);
    for (const Lid lid : update.staying) copy(lid, left, with_kept_);
    say_staying(update.staying);
  }

  /// In another way than is wanted: of what is, each plane keeps off its own links.
  [[nodiscard]] bool goes_over_links_to_be_avoided(std::span<const Lid> lids,
                                                   const ForwardingTables& tables) const {
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      const SwitchIndex sw{s};
      for (const routing::Hop& hop : graph_.hops(sw)) {
        if (order_.usable->contains(hop.link) || !order_.up->contains(hop.link)) continue;
        const bool is_led_over = std::ranges::any_of(lids, [&](Lid lid) {
          return tables.port(sw, lid) == hop.out && wanted_->port(sw, lid) != hop.out;
        });
        if (is_led_over) return true;
      }
    }
    return false;
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
  routing::Keep which_;
  routing::MayStay may_stay_;
  const ForwardingTables& now_;
  const ForwardingTables* wanted_;
  ForwardingTables with_kept_;  ///< that is wanted, where something is kept
  std::vector<Lid> kept_;
  Steps steps_;
  LidPass lid_pass_;
  std::vector<const Target*> targets_;
  std::vector<Lid> staged_;
  std::vector<Lid> repaired_;
  bool is_refused_ = false;
  bool took_back_ = false;
  bool turns_foreign_ = false;  ///< beside repairs, packets may turn as the order does not allow
  Pass pass_;
};

}  // namespace

/// All ways that work are kept, and what would close a circle with them does not change. Where that cannot
/// be, those are kept that suit what is wanted, with other ways for the rest if there are any. Where that
/// cannot be either, some are taken away until what they are in the way of has changed.
Pass next_pass(const routing::UpdateOrder& order, const ForwardingTables& now, const ForwardingTables& wanted,
               Packets packets, const routing::RecentEntries* recent, std::optional<Course>* course) {
  using routing::Keep;
  const auto make = [&](Keep which, routing::MayStay may_stay) {
    PassMaker maker(order, now, wanted, recent, which, may_stay);
    Pass pass = maker.make(packets, course);
    return std::pair{std::move(pass), maker.suits()};
  };
  // Who knows no links that may be used lets nothing stay.
  if (order.usable == nullptr) return make(Keep::ThatSuit, routing::MayStay::No).first;
  for (const Keep which : {Keep::All, Keep::OrOthers}) {
    auto [pass, suits] = make(which, routing::MayStay::Yes);
    if (suits) return std::move(pass);
    if (course != nullptr) course->reset();
  }
  return make(Keep::ThatSuit, routing::MayStay::OrPause).first;
}

}  // namespace heddle::planned
