/// What packets may follow while LIDs change from one set of tables to another, as dependencies: entries of
/// before, of after, or some of either, as the stages of the change allow it; and what is under way by
/// entries that are gone.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "routing/dependencies.h"
#include "routing/hop_map.h"
#include "routing/lid_rounds.h"
#include "routing/past_packets.h"

namespace heddle::routing {

/// Links that may be led over; or those, too, over which LIDs may stay.
enum class Over : std::uint8_t { Usable, Open };

/// Entries by which a LID is led.
enum class Led : std::uint8_t { Before, Both, After };

class LidMixtures {
 public:
  /// Both must outlive it.
  LidMixtures(const UpdateOrder& order, const TableChange& change);

  [[nodiscard]] const SwitchGraph& graph() const { return order_.graph; }
  [[nodiscard]] const HopMap& map() const { return map_; }
  /// By hop: what may be led over besides.
  [[nodiscard]] std::span<const char> usable() const { return usable_; }
  [[nodiscard]] const std::vector<const Target*>& targets() const { return targets_; }
  /// Where LIDs are when they begin to change, and where they end.
  [[nodiscard]] const ForwardingTables& before() const { return *before_; }
  [[nodiscard]] const ForwardingTables& after() const { return change_.after; }
  /// That change, ascending.
  [[nodiscard]] std::vector<Lid> lids() const;

  void add(Lid lid, Led led, Dependencies& into) const;
  /// Of packets that `by` sent, where they go on by `onward`.
  void follow(const Target& target, Lid lid, const ForwardingTables& onward, std::uint32_t by,
              Dependencies& into) const;
  /// What leads over a link that is down waits for nothing: HopMap::none.
  [[nodiscard]] std::uint32_t hop(const ForwardingTables& tables, std::uint32_t s, Lid lid) const {
    const std::uint32_t found = map_.hop(s, tables.port(SwitchIndex{s}, lid).raw());
    return found != HopMap::none && forwards_[found] != 0 ? found : HopMap::none;
  }

  /// These LIDs have the entries of `between` when they begin to change, all others those that they have.
  Stopover stop_over(std::vector<Lid> lids, ForwardingTables between);

  /// Likewise, but these LIDs lose the entries that lead nowhere, at once; none where there are none. Not
  /// what is to go on leading out of a port behind which the graph has nobody: somebody may be there.
  std::optional<Stopover> clear(std::span<const Lid> lids);

  [[nodiscard]] bool has_past() const { return !past_.waits().empty(); }
  /// Of packets that were sent on by an entry that is gone; last those that are sent back where they came
  /// from.
  [[nodiscard]] std::vector<PastPackets::Wait> past() const;
  /// They meet the entries to come.
  void add_meetings(Lid lid, Dependencies& into) const;
  /// Some of them turn as the order forbids.
  [[nodiscard]] bool is_past_foreign() const;
  [[nodiscard]] bool may_stay() const { return change_.besides.may_stay != MayStay::No; }
  [[nodiscard]] bool may_pause() const { return change_.besides.may_stay == MayStay::OrPause; }
  /// Whether these entries lead there over such links, from every switch that has a new one.
  [[nodiscard]] bool is_whole(Lid lid, Over over, const ForwardingTables& tables) const;
  [[nodiscard]] bool is_whole(Lid lid, Over over) const { return is_whole(lid, over, *before_); }
  /// Whether these entries lead there from one switch, over links that are up.
  [[nodiscard]] bool leads_there(const ForwardingTables& tables, Lid lid, std::uint32_t s) const;
  /// The entry of some switch leads over a link that is down.
  [[nodiscard]] bool is_broken(Lid lid) const;
  /// Entries of one of them, before or after, turn packets as the order forbids.
  [[nodiscard]] bool any_foreign(std::span<const Lid> lids) const;

 private:
  static constexpr std::uint32_t unchanged = 0xffffffffU;

  /// Of a switch and a LID: when its entry is written.
  struct Written {
    std::uint16_t stage = 0;  ///< the first one where it is not at all
    bool waits = false;
  };
  [[nodiscard]] bool is_held_back(Lid lid, std::uint32_t by) const;
  [[nodiscard]] bool leads_out(Lid lid, std::uint32_t s) const;
  void go_by(ForwardingTables between, const Stopover& stopover);
  void note(std::span<const std::vector<EntryWrite>> stages);
  void note(const EntryWrite& write, std::uint16_t stage);
  [[nodiscard]] Written written(Lid lid, std::uint32_t s) const {
    return written_[row_of_[lid.raw()] * order_.graph.size() + s];
  }
  [[nodiscard]] bool any_foreign(const ForwardingTables& tables, std::span<const Lid> lids) const;
  [[nodiscard]] bool turns_up(std::uint32_t held, std::uint32_t wanted) const;
  [[nodiscard]] bool returns(std::uint32_t held, std::uint32_t wanted) const {
    return map_.peer(wanted) == map_.from(held);
  }
  [[nodiscard]] bool is_unusual(std::uint32_t held, std::uint32_t wanted) const;
  template <class F>
  void for_each_meeting(Lid lid, F&& f) const;

  const UpdateOrder& order_;
  const TableChange& change_;
  const ForwardingTables* before_;
  ForwardingTables between_;  ///< before, with stopovers
  HopMap map_;
  std::vector<char> forwards_;  ///< by hop
  std::vector<char> usable_;    ///< likewise
  std::vector<char> open_;      ///< likewise
  std::vector<const Target*> targets_;
  std::vector<std::uint32_t> row_of_;  ///< by LID
  std::vector<Written> written_;
  PastPackets past_;
};

}  // namespace heddle::routing
