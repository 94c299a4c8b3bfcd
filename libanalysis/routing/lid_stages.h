/// In which order switches change their entries for one LID, where not every mixture of old and new ones goes
/// up and then down: a stage begins when all switches of the one before have the new one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "routing/ranks.h"

namespace heddle::routing {

/// How one LID is led before and after; by position of the switch in the graph.
struct LidChange {
  static constexpr std::uint32_t nowhere = 0xffffffffU;
  enum class Way : std::uint8_t { None, Up, Down, Mended };
  struct Entry {
    Way way = Way::None;
    std::uint32_t next = nowhere;  ///< switch; none at the destination's own
  };

  explicit LidChange(std::size_t switches)
      : before(switches), after(switches), died_to(switches, nowhere), broken(switches, 0) {}

  /// Up to down and none to any gain; down to up and any to none lose.
  [[nodiscard]] bool gains(std::uint32_t s) const {
    return before[s].way != after[s].way && (before[s].way == Way::None || after[s].way == Way::Down);
  }
  [[nodiscard]] bool loses(std::uint32_t s) const { return before[s].way != after[s].way && !gains(s); }
  [[nodiscard]] bool is_broken(std::uint32_t s) const { return any_broken && broken[s] != 0; }

  std::vector<Entry> before;  ///< none where it is broken: what leads nowhere already
  std::vector<Entry> after;
  std::vector<std::uint32_t> changed;  ///< switches whose entries differ, ascending
  std::vector<std::uint32_t> died_to;  ///< where a broken entry leads to another one
  std::vector<char> broken;            ///< if any is
  bool any_broken = false;
};

/// First those that gain, from the bottom; then those that keep their direction; then those that lose, from
/// the top. `stage` has a 0 for each switch, and is given the numbers of those that change. How many stages
/// there are.
std::size_t number_stages(const Ranks& ranks, const LidChange& change, std::vector<std::uint32_t>& stage);

}  // namespace heddle::routing
