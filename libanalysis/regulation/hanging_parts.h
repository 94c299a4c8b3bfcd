/// Which parts of the fabric hang by one cable, or by one switch, of those that stay on, as seen from the
/// managers; and which of them are *covered*: something that is off leads there, and is turned on from
/// outside. What hangs by a lost cable or switch and is not covered stays away: nobody reaches the port that
/// is off.
///
/// Made for one choice of links: linear in switches and cables. One thread; the network must outlive it.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "regulation/network.h"

namespace heddle::regulation {

class HangingParts {
 public:
  HangingParts(const Network& network, const routing::LinkSet& active);

  /// A link between these two that is off, and the switch at which it is; no_switch for what is none.
  struct Spare {
    routing::SwitchIndex off_at;
    routing::SwitchIndex other;
  };
  void cover(Spare spare);
  /// Undoes one cover().
  void uncover(Spare spare);

  /// What comes back with a spare, summed over all that may be lost, one at a time. More hosts are worth more
  /// than anything that follows, cables being lost more often than switches.
  struct Worth {
    std::size_t hosts_by_cable = 0;
    std::size_t hosts_by_switch = 0;
    std::size_t switches_by_cable = 0;
    std::size_t switches_by_switch = 0;
    friend auto operator<=>(const Worth&, const Worth&) = default;
  };
  /// Of what is not covered yet.
  [[nodiscard]] Worth worth(Spare spare) const;

 private:
  static constexpr std::uint32_t none = 0xffffffffU;

  /// The switches from one of a walk on to before another, with all that hangs by them.
  struct Part {
    std::uint32_t first = 0;
    std::uint32_t end = 0;
    std::uint32_t outer = none;      ///< the smallest part that it is in
    routing::SwitchIndex by_switch;  ///< that leads there
    bool is_by_one_cable = false;
    bool may_lose_switch = false;  ///< it is no manager's
    unsigned covers = 0;           ///< against the loss of the cable
    unsigned switch_covers = 0;    ///< those that are not off at `by_switch`
    std::size_t hosts = 0;
  };

  void walk(const routing::LinkSet& active);
  void find_parts(const routing::LinkSet& active);
  [[nodiscard]] bool is_in(routing::SwitchIndex s, const Part& part) const {
    return place_[s.raw()] >= part.first && place_[s.raw()] < part.end;
  }
  /// Calls `f(part)` for each part that has `other` in it and not `off_at`.
  template <class Parts, class F>
  static void each_bridged(Parts& self, Spare spare, F&& f);

  const Network& network_;
  std::vector<std::uint32_t> place_;         ///< in the walk, by switch; none: not reached
  std::vector<routing::SwitchIndex> order_;  ///< of the walk, depth first
  std::vector<LinkIndex> came_by_;           ///< by place; no_link at managers
  std::vector<std::uint32_t> parent_;        ///< by place
  std::vector<std::uint32_t> part_of_;       ///< by place: the smallest part that it is in
  std::vector<Part> parts_;
};

}  // namespace heddle::regulation
