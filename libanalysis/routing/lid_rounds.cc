#include "routing/lid_rounds.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "routing/dependencies.h"
#include "routing/hop_map.h"
#include "routing/past_packets.h"

namespace heddle::routing {
namespace {

/// Each costs a walk over the whole graph of dependencies: what is not decided after so many waits for the
/// next round.
constexpr std::size_t most_rounds_tried = 512;

/// Entries by which a LID is led.
enum class Led : std::uint8_t { Before, Both, After };

class Mixtures {
 public:
  Mixtures(const UpdateOrder& order, const TableChange& change)
      : order_{order},
        change_{change},
        map_{order.graph},
        forwards_{hops_over(order.graph, order.up)},
        targets_(std::size_t{order.graph.top_lid().raw()} + 1, nullptr),
        row_of_(targets_.size(), unchanged) {
    for (const Target& target : order.graph.targets()) {
      for (unsigned i = 0; i < target.lid_count(); ++i)
        targets_[std::size_t{target.base.raw()} + i] = &target;
    }
    for (std::size_t stage = 0; stage < change.stages.size(); ++stage) {
      for (const EntryWrite& write : change.stages[stage]) note(write, static_cast<std::uint16_t>(stage));
    }
    if (change.besides.recent != nullptr)
      past_ = PastPackets(order.graph, map_, forwards_, change.before, *change.besides.recent);
  }

  /// That change, ascending.
  [[nodiscard]] std::vector<Lid> lids() const {
    std::vector<Lid> result;
    for (std::size_t lid = 0; lid < row_of_.size(); ++lid) {
      if (row_of_[lid] != unchanged) result.emplace_back(static_cast<std::uint16_t>(lid));
    }
    return result;
  }
  [[nodiscard]] const std::vector<const Target*>& targets() const { return targets_; }

  void add(Lid lid, Led led, Dependencies& into) const {
    const Target* const target = targets_[lid.raw()];
    if (target == nullptr) return;
    for (std::uint32_t s = 0; s < order_.graph.size(); ++s) {
      if (s == target->at.raw()) continue;
      const std::uint32_t old_hop = hop(change_.before, s, lid);
      const std::uint32_t new_hop = hop(change_.after, s, lid);
      if (led != Led::After) follow(*target, lid, change_.before, old_hop, into);
      if (led != Led::Before) follow(*target, lid, change_.after, new_hop, into);
      if (led != Led::Both || row_of_[lid.raw()] == unchanged) continue;
      const Written here = written(lid, s);
      // By the old entry, then by a new one: unless that waits until such packets are gone.
      if (old_hop != HopMap::none) {
        const Written there = written(lid, map_.peer(old_hop));
        if (!there.waits || here.stage >= there.stage) follow(*target, lid, change_.after, old_hop, into);
      }
      // By the new entry, then by one that is still old.
      if (new_hop != HopMap::none && here.stage <= written(lid, map_.peer(new_hop)).stage)
        follow(*target, lid, change_.before, new_hop, into);
    }
  }

  [[nodiscard]] bool has_past() const { return !past_.waits().empty(); }
  /// Of packets that were sent on by an entry that is gone.
  void add_past(Dependencies& into) const {
    for (const PastPackets::Wait& each : past_.waits()) into.add(each.held, each.wanted, each.lid);
  }
  /// They meet the entries to come.
  void add_meetings(Lid lid, Dependencies& into) const {
    for_each_meeting(lid, [&](std::uint32_t held, std::uint32_t wanted) { into.add(held, wanted, lid); });
  }
  /// Some of them turn as the order forbids.
  [[nodiscard]] bool is_past_foreign() const {
    if (std::any_of(past_.waits().begin(), past_.waits().end(),
                    [&](const auto& each) { return is_unusual(each.held, each.wanted); }))
      return true;
    bool unusual = false;
    for (const Lid lid : past_.lids())
      for_each_meeting(lid, [&](std::uint32_t held, std::uint32_t wanted) {
        unusual = unusual || is_unusual(held, wanted);
      });
    return unusual;
  }

  /// By LID: the entry of some switch leads over a link that is down; packets are turned as the order
  /// forbids.
  [[nodiscard]] bool is_broken(Lid lid) const {
    if (order_.up == nullptr) return false;
    for (std::uint32_t s = 0; s < order_.graph.size(); ++s) {
      const std::uint32_t hop = map_.hop(s, change_.before.port(SwitchIndex{s}, lid).raw());
      if (hop != HopMap::none && forwards_[hop] == 0) return true;
    }
    return false;
  }
  [[nodiscard]] bool is_foreign(Lid lid) const {
    return is_foreign(change_.before, lid) || is_foreign(change_.after, lid);
  }

 private:
  static constexpr std::uint32_t unchanged = 0xffffffffU;

  /// Of a switch and a LID: when its entry is written.
  struct Written {
    std::uint16_t stage = 0;  ///< the first one where it is not at all
    bool waits = false;
  };
  void note(const EntryWrite& write, std::uint16_t stage) {
    std::uint32_t& row = row_of_[write.lid.raw()];
    if (row == unchanged) {
      row = static_cast<std::uint32_t>(written_.size() / order_.graph.size());
      written_.resize(written_.size() + order_.graph.size());
    }
    written_[row * order_.graph.size() + write.sw.raw()] = {
        stage, write.change == Change::Loses || write.change == Change::Follows};
  }
  [[nodiscard]] Written written(Lid lid, std::uint32_t s) const {
    return written_[row_of_[lid.raw()] * order_.graph.size() + s];
  }
  [[nodiscard]] bool is_foreign(const ForwardingTables& tables, Lid lid) const {
    const Target* const target = targets_[lid.raw()];
    for (std::uint32_t s = 0; target != nullptr && s < order_.graph.size(); ++s) {
      const std::uint32_t by = s == target->at.raw() ? HopMap::none : hop(tables, s, lid);
      if (by == HopMap::none || map_.peer(by) == target->at.raw()) continue;
      const std::uint32_t next = hop(tables, map_.peer(by), lid);
      if (next != HopMap::none && turns_up(by, next)) return true;
    }
    return false;
  }
  /// From a way down into a way up that is no mend's.
  [[nodiscard]] bool turns_up(std::uint32_t held, std::uint32_t wanted) const {
    const SwitchIndex from{map_.from(held)};
    const SwitchIndex over{map_.peer(held)};
    const SwitchIndex to{map_.peer(wanted)};
    return order_.ranks.above(from, over) && order_.ranks.above(to, over) &&
           !order_.mends.turns(from, over, to);
  }
  /// Mends count on nobody going back where he came from (turns.h).
  [[nodiscard]] bool is_unusual(std::uint32_t held, std::uint32_t wanted) const {
    const bool returns = map_.peer(wanted) == map_.from(held);
    return turns_up(held, wanted) || (returns && order_.mends.has_turns());
  }
  template <class F>
  void for_each_meeting(Lid lid, F&& f) const {
    const Target* const target = targets_[lid.raw()];
    if (target == nullptr || row_of_[lid.raw()] == unchanged) return;
    for (const std::uint32_t held : past_.hops(lid)) {
      const std::uint32_t at = map_.peer(held);
      if (at == target->at.raw() || written(lid, at).waits) continue;
      const std::uint32_t next = hop(change_.after, at, lid);
      if (next != HopMap::none) f(held, next);
    }
  }
  /// What leads over a link that is down waits for nothing.
  [[nodiscard]] std::uint32_t hop(const ForwardingTables& tables, std::uint32_t s, Lid lid) const {
    const std::uint32_t found = map_.hop(s, tables.port(SwitchIndex{s}, lid).raw());
    return found != HopMap::none && forwards_[found] != 0 ? found : HopMap::none;
  }
  void follow(const Target& target, Lid lid, const ForwardingTables& onward, std::uint32_t by,
              Dependencies& into) const {
    if (by == HopMap::none || map_.peer(by) == target.at.raw()) return;
    const std::uint32_t next = hop(onward, map_.peer(by), lid);
    if (next != HopMap::none) into.add(by, next, lid);
  }

  const UpdateOrder& order_;
  const TableChange& change_;
  HopMap map_;
  std::vector<char> forwards_;  ///< by hop
  std::vector<const Target*> targets_;
  std::vector<std::uint32_t> row_of_;  ///< by LID
  std::vector<Written> written_;
  PastPackets past_;
};

class RoundMaker {
 public:
  RoundMaker(const UpdateOrder& order, const TableChange& change)
      : order_{order}, mixtures_{order, change}, now_{order.graph} {}

  LidRounds make() {
    LidRounds rounds;
    led_.assign(mixtures_.targets().size(), Led::Before);
    rounds.of.assign(led_.size(), 0);
    std::vector<Lid> left = in_order();
    const std::vector<Lid> all = left;
    now_ = standing();
    if (!now_.find_cycle().empty()) return rounds;
    meets_past_ = mixtures_.has_past() && add_past();
    for (std::size_t round = 0; !left.empty(); ++round) {
      deferred_.clear();
      trials_ = most_rounds_tried;
      take(left);
      rounds.count = round + 1;
      for (const Lid lid : left) rounds.of[lid.raw()] = round;
      if (deferred_.size() == left.size() && !meets_past_) {
        rounds.circular = left;
        break;
      }
      for (const Lid lid : left) led_[lid.raw()] = Led::After;
      for (const Lid lid : deferred_) led_[lid.raw()] = Led::Before;
      left = deferred_;
      meets_past_ = false;
      now_ = standing();
    }
    std::copy_if(all.begin(), all.end(), std::back_inserter(rounds.broken),
                 [&](Lid lid) { return rounds.of[lid.raw()] == 0 && mixtures_.is_broken(lid); });
    std::sort(rounds.broken.begin(), rounds.broken.end());
    return rounds;
  }

 private:
  /// LIDs that are broken, then those whose turns are in the way of others, then all the others.
  [[nodiscard]] std::vector<Lid> in_order() const {
    std::vector<Lid> lids = mixtures_.lids();
    const auto whole =
        std::stable_partition(lids.begin(), lids.end(), [&](Lid lid) { return mixtures_.is_broken(lid); });
    std::stable_partition(whole, lids.end(), [&](Lid lid) { return mixtures_.is_foreign(lid); });
    return lids;
  }
  [[nodiscard]] Dependencies standing() const {
    Dependencies result(order_.graph);
    for (std::size_t lid = 0; lid < led_.size(); ++lid)
      mixtures_.add(Lid{static_cast<std::uint16_t>(lid)}, led_[lid], result);
    return result;
  }
  /// Whether they make no circle with what stands; else nobody can keep them from it.
  bool add_past() {
    Dependencies with = now_;
    mixtures_.add_past(with);
    if (!with.find_cycle().empty()) return false;
    now_ = std::move(with);
    return true;
  }
  /// Adds all that close no circle with what is there.
  void take(std::span<const Lid> lids) {
    if (lids.empty()) return;
    if (trials_ > 0) {
      --trials_;
      Dependencies with = now_;
      for (const Lid lid : lids) {
        mixtures_.add(lid, Led::Both, with);
        if (meets_past_) mixtures_.add_meetings(lid, with);
      }
      if (with.find_cycle().empty()) {
        now_ = std::move(with);
        return;
      }
      if (lids.size() > 1) {
        take(lids.first(lids.size() / 2));
        take(lids.subspan(lids.size() / 2));
        return;
      }
    }
    deferred_.insert(deferred_.end(), lids.begin(), lids.end());
  }

  const UpdateOrder& order_;
  Mixtures mixtures_;
  Dependencies now_;
  std::vector<Led> led_;  ///< by LID, when the round begins
  std::vector<Lid> deferred_;
  std::size_t trials_ = 0;
  bool meets_past_ = false;  ///< the round does not wait until packets by entries that are gone are gone, too
};

}  // namespace

bool mixtures_are_acyclic(const UpdateOrder& order, const TableChange& change) {
  const Mixtures mixtures(order, change);
  Dependencies all(order.graph);
  for (std::size_t lid = 0; lid < mixtures.targets().size(); ++lid)
    mixtures.add(Lid{static_cast<std::uint16_t>(lid)}, Led::Both, all);
  return all.find_cycle().empty();
}

bool has_foreign_turns(const UpdateOrder& order, const TableChange& change) {
  const Mixtures mixtures(order, change);
  if (mixtures.is_past_foreign()) return true;
  const auto is_foreign = [&](Lid lid) { return mixtures.is_foreign(lid); };
  const std::vector<Lid> lids = mixtures.lids();
  const auto& kept = change.besides.kept;
  return std::any_of(lids.begin(), lids.end(), is_foreign) ||
         std::any_of(kept.begin(), kept.end(), is_foreign);
}

LidRounds make_rounds(const UpdateOrder& order, const TableChange& change) {
  return RoundMaker(order, change).make();
}

}  // namespace heddle::routing
