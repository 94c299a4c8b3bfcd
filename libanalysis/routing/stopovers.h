/// Entries that LIDs have for a while, on the way from those that they have to those that they are to have.
/// Where no LID that is left can change without a circle (lid_rounds.h), because the old entries of each
/// close one with the new ones of another, some can go by a third way first: one that makes no circle with
/// the old entries of all, nor those dependencies that are in the way of a LID which is to change. When the
/// packets of the old entries are gone, that one can.
///
/// Where that is not enough, and nothing else helps, some entries are taken away for that time: those that
/// lead the fewest switches.
///
/// A way is found outward from the destination, dependency by dependency (as in Nue routing: Domke, Hoefler,
/// Matsuoka, HPDC 2016), and may be a longer one.
///
/// Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "routing/dependencies.h"
#include "routing/lid_mixtures.h"
#include "routing/tables.h"

namespace heddle::routing {

/// Whether switches may be without a way meanwhile that have one before and after.
enum class Pauses : std::uint8_t { No, Yes };

class RoomMaker {
 public:
  /// `left` are led by what is before their change; `led`, by LID, is what all others are led by. All must
  /// outlive it.
  RoomMaker(const LidMixtures& mixtures, std::span<const Lid> left, std::span<const Led> led);

  struct Moved {
    std::vector<Lid> lids;
    ForwardingTables tables;  ///< with their ways; all else as before
    std::size_t paused = 0;   ///< pairs of a switch and a LID that have no way meanwhile
  };
  /// So that `lid`, one of those left, can change then. `standing`: what all are led by now, without a
  /// circle.
  [[nodiscard]] std::optional<Moved> make_for(Lid lid, const Dependencies& standing,
                                              Pauses pauses = Pauses::No);
  /// A way for good, by old entries as far as these lead there over such links, from wherever the new ones
  /// do; new ones are over links that may be led over. Its dependencies join what stands.
  [[nodiscard]] std::optional<Moved> make_whole(Lid lid, Over over, Dependencies& standing);

 private:
  /// A packet that holds one hop waits for another.
  using Wait = std::pair<std::uint32_t, std::uint32_t>;
  struct Attempt {
    ForwardingTables tables;
    Dependencies standing;
    std::set<Lid> moved;
    std::set<Wait> avoided;
    std::size_t paused = 0;  ///< as Moved::paused
  };

  [[nodiscard]] Dependencies then(Lid lid, const Attempt& attempt) const;
  [[nodiscard]] bool makes(Lid lid, const Wait& wait, const ForwardingTables& tables) const;
  [[nodiscard]] std::optional<Attempt> without(const Wait& wait, const Attempt& attempt);
  [[nodiscard]] std::vector<Lid> makers(const Wait& wait, Lid lid, const ForwardingTables& tables) const;
  [[nodiscard]] std::optional<Attempt> pause(Lid lid, std::span<const Dependencies::Edge> circle,
                                             const Attempt& attempt) const;
  [[nodiscard]] std::size_t led_over(std::uint32_t s, Lid lid, const ForwardingTables& tables) const;
  [[nodiscard]] std::vector<char> without_way(Lid lid) const;
  [[nodiscard]] bool move(Lid lid, std::span<const char> without, Attempt& attempt);

  const LidMixtures& mixtures_;
  std::span<const Lid> left_;
  Dependencies others_;                         ///< of LIDs that are not left
  std::size_t budget_ = std::size_t{1} << 26U;  ///< dependencies that may be looked at
  std::size_t attempts_ = 256;                  ///< each a walk over the whole graph
};

}  // namespace heddle::routing
