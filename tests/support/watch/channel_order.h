/// Channel dependencies that come and go one by one, and whether they have a cycle. A channel is one
/// direction of a cable between switches, numbered as the hops of the graph; a dependency counts the LIDs
/// that make it.
///
/// All channels stand in one order, in which each dependency leads forward. One that leads backward moves the
/// channels between its ends, and nobody else (Pearce and Kelly, A dynamic topological sort algorithm for
/// directed acyclic graphs, JEA 2006); where that cannot be, it closes a cycle, and is tried again later.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/units.h"
#include "routing/switch_graph.h"

namespace heddle::test {

class ChannelOrder {
 public:
  using Channel = std::uint32_t;
  using Dependency = std::pair<Channel, Channel>;
  static constexpr Channel none = 0xffffffffU;

  explicit ChannelOrder(const routing::SwitchGraph& graph);

  /// A LID more whose packets hold `before` and wait for `after`.
  void add(Channel before, Channel after) {
    if (now_[at(before, after)]++ == 0 && place_[before] > place_[after]) put(before, after);
  }
  void remove(Channel before, Channel after) {
    const std::size_t i = at(before, after);
    if (--now_[i] == 0 && life_) part(i);
  }
  /// No LID makes any, and nothing is at rest.
  void clear();
  /// As add(), for many of them after clear(): until arrange() the order means nothing.
  void count(Channel before, Channel after) { ++now_[at(before, after)]; }
  void arrange();
  /// From here on what stands counts together with whatever comes.
  void rest();
  /// From here on what LIDs made up to so long ago counts instead: no packet is under way for longer.
  void packets_live(Picoseconds life);
  /// Time does not go back.
  void pass_to(Picoseconds now);

  /// Those that lead to a switch.
  [[nodiscard]] std::span<const Channel> into(std::uint32_t s) const { return into_[s]; }

  /// Also of what is at rest.
  [[nodiscard]] bool has_cycle();
  /// One of the dependencies that LIDs make without those at rest; empty if there is none. Slow.
  [[nodiscard]] std::vector<Channel> find_cycle_of_now() const;
  /// One of all; empty if there is none. Slow.
  [[nodiscard]] std::vector<Channel> find_cycle() const;
  /// One of all between channels that pass, by number; empty if there is none. Slow.
  [[nodiscard]] std::vector<Channel> find_cycle(std::span<const std::uint8_t> passes) const;

 private:
  [[nodiscard]] std::size_t at(Channel before, Channel after) const {
    return std::size_t{before} * width_ + local_[after];
  }
  [[nodiscard]] bool depends(Channel before, Channel after) const {
    const std::size_t i = at(before, after);
    return now_[i] != 0 || at_rest_[i] != 0;
  }
  void put(Channel before, Channel after);
  void part(std::size_t dependency);
  /// Depth first; `done` hears of each channel when all after it are done. The first cycle met.
  template <class Depends, class Done>
  std::vector<Channel> walk(Depends depends, Done done) const;

  std::size_t width_ = 0;                          ///< dependencies that a channel can have
  std::vector<std::uint32_t> local_;               ///< of a channel among those of its switch
  std::vector<std::pair<Channel, Channel>> next_;  ///< first and one past the last that may come after it
  std::vector<std::vector<Channel>> into_;         ///< by switch
  std::vector<std::uint32_t> from_;                ///< the switch that it leaves
  std::vector<std::uint32_t> now_;
  std::vector<std::uint8_t> at_rest_;
  std::optional<Picoseconds> life_;
  Picoseconds time_{0};
  std::vector<Picoseconds> parted_at_;                      ///< by dependency, where packets live for life_
  std::deque<std::pair<Picoseconds, std::size_t>> parted_;  ///< not longer ago
  std::vector<std::uint32_t> place_;                        ///< in the order
  std::vector<Dependency> backward_;  ///< all that lead backward, and some that do not any more
  // Of put(), kept for their memory.
  std::vector<std::uint8_t> met_;
  std::vector<Channel> after_;
  std::vector<Channel> before_;
  std::vector<std::uint32_t> places_;
};

}  // namespace heddle::test
