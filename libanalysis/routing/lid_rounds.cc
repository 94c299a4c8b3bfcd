#include "routing/lid_rounds.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "routing/dependencies.h"
#include "routing/lid_mixtures.h"
#include "routing/past_packets.h"
#include "routing/stopovers.h"

namespace heddle::routing {
namespace {

/// Each costs a walk over the whole graph of dependencies: what is not decided after so many waits for the
/// next round.
constexpr std::size_t most_rounds_tried = 512;
/// Likewise: waits of packets that are under way, and are not decided after so many, do not count.
constexpr std::size_t most_past_tried = 64;
/// In one change: each costs a packet's life.
constexpr std::size_t most_stopovers = 16;
/// In which LIDs are asked for the ways by which they stay.
constexpr std::size_t most_orders_tried = 4;

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
    rounds.stands_in_circle = !now_.find_cycle().empty();
    if (rounds.stands_in_circle) return rounds;
    meets_past_ = mixtures_.has_past();
    rounds.first_waits = !meets_past_;
    trials_ = most_past_tried;
    add_past(mixtures_.past());
    for (std::size_t round = 0; !left.empty(); ++round) {
      deferred_.clear();
      trials_ = most_rounds_tried;
      take(left);
      rounds.count = round + 1;
      for (const Lid lid : left) rounds.of[lid.raw()] = round;
      if (deferred_.size() == left.size() && !meets_past_) {
        if (stop_over(left, round, rounds) || clear(left, round, rounds)) continue;
        if (mixtures_.may_stay()) {
          Stay found = stay(left);
          if (mixtures_.may_pause() && pause(found.without, left, round, rounds)) continue;
          let_stay(found, round, rounds);
          left = std::move(found.without);
        }
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
    std::stable_partition(whole, lids.end(), [&](Lid lid) { return mixtures_.any_foreign({&lid, 1}); });
    return lids;
  }
  [[nodiscard]] Dependencies standing() const {
    Dependencies result(order_.graph);
    for (std::size_t lid = 0; lid < led_.size(); ++lid)
      mixtures_.add(Lid{static_cast<std::uint16_t>(lid)}, led_[lid], result);
    return result;
  }
  /// Whether some LIDs can go by another way until one of those that are left has changed.
  bool stop_over(std::span<const Lid> left, std::size_t round, LidRounds& rounds) {
    if (rounds.stopovers.size() == most_stopovers) return false;
    RoomMaker room(mixtures_, left, led_);
    for (const Lid lid : left) {
      auto way = room.make_for(lid, now_);
      if (!way) continue;
      rounds.stopovers.push_back(mixtures_.stop_over(std::move(way->lids), std::move(way->tables)));
      rounds.stopovers.back().round = round;
      now_ = standing();
      return true;
    }
    return false;
  }
  /// Whether some have entries that lead nowhere: without these, and once what they held is gone, there may
  /// be a way for them.
  bool clear(std::span<const Lid> left, std::size_t round, LidRounds& rounds) {
    if (std::exchange(cleared_, true)) return false;
    auto stopover = mixtures_.clear(left);
    if (!stopover) return false;
    if (round == 0) rounds.broken = stopover->lids;
    stopover->round = round;
    rounds.stopovers.push_back(*std::move(stopover));
    now_ = standing();
    return true;
  }
  /// Whether one of those that could not even stay can change in the next round, if others have no way until
  /// then: the one for which the fewest have none.
  bool pause(std::span<const Lid> without, std::span<const Lid> left, std::size_t round, LidRounds& rounds) {
    if (rounds.stopovers.size() == most_stopovers) return false;
    RoomMaker room(mixtures_, left, led_);
    std::optional<RoomMaker::Moved> best;
    for (const Lid lid : without) {
      auto way = room.make_for(lid, now_, Pauses::Yes);
      if (way && (!best || way->paused < best->paused)) best = std::move(way);
    }
    if (!best) return false;
    rounds.stopovers.push_back(mixtures_.stop_over(std::move(best->lids), std::move(best->tables)));
    rounds.stopovers.back().round = round;
    now_ = standing();
    return true;
  }

  /// LIDs that need not change, or only where they lead nowhere; and those that could only be led off links
  /// over which they may stay.
  struct Stay {
    struct One {
      Lid lid;
      std::optional<RoomMaker::Moved> way;  ///< that closes no circle; none: as it is
    };
    std::vector<One> lids;
    std::vector<Lid> without;  ///< all others
  };
  /// What one is given can be in the way of another: those for which nothing was left are asked first the
  /// next time.
  [[nodiscard]] Stay stay(std::span<const Lid> left) const {
    RoomMaker room(mixtures_, left, led_);
    std::vector<Lid> first;
    Stay best = stay(left, first, room);
    std::vector<Lid> without = best.without;
    for (std::size_t tries = 1; tries < most_orders_tried && !best.without.empty(); ++tries) {
      std::erase_if(without, [&](Lid lid) { return std::ranges::find(first, lid) != first.end(); });
      if (without.empty()) break;
      first.insert(first.begin(), without.begin(), without.end());
      Stay found = stay(left, first, room);
      without = found.without;
      if (found.without.size() < best.without.size()) best = std::move(found);
    }
    return best;
  }
  [[nodiscard]] Stay stay(std::span<const Lid> left, std::span<const Lid> first, RoomMaker& room) const {
    Stay stay;
    Dependencies with = now_;
    const auto stays = [&](Lid lid, Over over) {
      std::optional<RoomMaker::Moved> way;
      if (!mixtures_.is_whole(lid, over)) {
        way = room.make_whole(lid, over, with);
        if (!way) return false;
      }
      stay.lids.push_back({lid, std::move(way)});
      return true;
    };
    std::vector<Lid> rest(left.begin(), left.end());
    std::erase_if(rest, [&](Lid lid) { return std::ranges::find(first, lid) != first.end(); });
    for (const Lid lid : first) {
      if (!stays(lid, Over::Usable) && !stays(lid, Over::Open)) stay.without.push_back(lid);
    }
    for (const Over over : {Over::Usable, Over::Open})
      std::erase_if(rest, [&](Lid lid) { return stays(lid, over); });
    stay.without.insert(stay.without.end(), rest.begin(), rest.end());
    return stay;
  }
  void let_stay(Stay& stay, std::size_t round, LidRounds& rounds) {
    for (Stay::One& one : stay.lids) {
      rounds.of[one.lid.raw()] = LidRounds::never;
      rounds.staying.push_back(one.lid);
      if (!one.way) continue;
      if (round == 0 && mixtures_.is_broken(one.lid)) rounds.broken.push_back(one.lid);
      ForwardingTables tables = mixtures_.before();
      for (std::uint32_t s = 0; s < order_.graph.size(); ++s)
        tables.set(SwitchIndex{s}, one.lid, one.way->tables.port(SwitchIndex{s}, one.lid));
      rounds.stopovers.push_back(mixtures_.stop_over({one.lid}, std::move(tables)));
      rounds.stopovers.back().round = round;
      rounds.stopovers.back().onward.clear();
    }
    if (!mixtures_.may_pause()) return;
    for (const Lid lid : stay.without) rounds.of[lid.raw()] = LidRounds::never;
    rounds.staying.insert(rounds.staying.end(), stay.without.begin(), stay.without.end());
  }
  /// Adds all that make no circle with what stands. Nobody can keep the others from it: a fault has caught
  /// them, and its repair sends them back.
  void add_past(std::span<const PastPackets::Wait> waits) {
    if (waits.empty() || trials_ == 0) return;
    --trials_;
    Dependencies with = now_;
    for (const PastPackets::Wait& each : waits) with.add(each.held, each.wanted, each.lid);
    if (with.find_cycle().empty()) {
      now_ = std::move(with);
    } else if (waits.size() > 1) {
      add_past(waits.first(waits.size() / 2));
      add_past(waits.subspan(waits.size() / 2));
    }
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
  LidMixtures mixtures_;
  Dependencies now_;
  std::vector<Led> led_;  ///< by LID, when the round begins
  std::vector<Lid> deferred_;
  std::size_t trials_ = 0;
  bool cleared_ = false;
  bool meets_past_ = false;  ///< the round does not wait until packets by entries that are gone are gone, too
};

}  // namespace

bool mixtures_are_acyclic(const UpdateOrder& order, const TableChange& change) {
  const LidMixtures mixtures(order, change);
  Dependencies all(order.graph);
  for (std::size_t lid = 0; lid < mixtures.targets().size(); ++lid)
    mixtures.add(Lid{static_cast<std::uint16_t>(lid)}, Led::Both, all);
  return all.find_cycle().empty();
}

bool has_foreign_turns(const UpdateOrder& order, const TableChange& change) {
  const LidMixtures mixtures(order, change);
  return mixtures.is_past_foreign() || mixtures.any_foreign(mixtures.lids()) ||
         mixtures.any_foreign(change.besides.kept);
}

LidRounds make_rounds(const UpdateOrder& order, const TableChange& change) {
  return RoundMaker(order, change).make();
}

}  // namespace heddle::routing
