/// The entries of one LID in one pass (transition.h): which of them work, and which may be written in any
/// order beside those that stand. One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "routing/link_set.h"
#include "routing/mends.h"
#include "routing/ranks.h"
#include "routing/switch_graph.h"

namespace heddle::planned {

enum class Way : std::uint8_t { None, Up, Down };

inline constexpr std::uint32_t nowhere = 0xffffffffU;
struct Step {
  Way way = Way::None;
  std::uint32_t next = nowhere;  ///< none at the destination
};

/// Where each port of each switch leads: nowhere, if its link does not forward.
class Steps {
 public:
  Steps(const routing::SwitchGraph& graph, const routing::Ranks& ranks, const routing::LinkSet& usable);

  [[nodiscard]] Step of(const routing::Target& target, std::uint32_t s, std::uint8_t port) const {
    if (s == target.at.raw()) return port == target.out.raw() ? Step{Way::Down, nowhere} : Step{};
    return port < ports_ ? steps_[s * ports_ + port] : Step{};
  }

 private:
  std::size_t ports_ = 0;
  std::vector<Step> steps_;
};

/// What the entries of a LID are, and what the next ones may be: ports by switch.
class LidPass {
 public:
  /// Both must outlive it.
  LidPass(const routing::SwitchGraph& graph, const Steps& steps, const routing::Mends& mends);

  enum class Answer : std::uint8_t { Repaired, NeedsStages };
  /// Sets `next`. NeedsStages: `next` is as `now`.
  [[nodiscard]] Answer make(const routing::Target& target);
  /// Sets `next`: what works, and nothing else. Whether there was anything else.
  [[nodiscard]] bool only_what_works(const routing::Target& target);

  std::vector<std::uint8_t> now;
  std::vector<std::uint8_t> wanted;
  std::vector<std::uint8_t> next;

 private:
  enum Works : std::uint8_t { Unknown, Yes, No, BeingFollowed, Changed };

  /// Whether anything is.
  bool empty_what_is_broken();
  template <class Lost>
  void follow(const routing::Target& target, const std::vector<std::uint8_t>& entries,
              std::vector<Works>& found, Lost lost);
  void find_working(const routing::Target& target);
  /// Sets `next`: what is broken changes where ways end. What leads there works again when that is written;
  /// an entry that led elsewhere, which may not be written yet, would take the way from it once more.
  void repair_where_ways_end(const routing::Target& target);
  bool repair_ends(const routing::Target& target);
  /// No packet that goes down is sent up again but by a mend, and nobody but mends sends to a mended switch,
  /// whichever switches have their next entry already: so it goes round in no circle, and waits for no packet
  /// that waits for it.
  [[nodiscard]] bool any_mixture_is_safe(const routing::Target& target) const;
  [[nodiscard]] bool goes_on_safely(const routing::Target& target, std::uint32_t s, std::uint32_t over) const;

  const Steps& steps_;
  const routing::Mends& mends_;
  std::vector<Works> works_;
  std::vector<Works> works_next_;     ///< by the entries that are next
  std::vector<std::uint8_t> mended_;  ///< by switch, for what is behind mended_for_
  routing::SwitchIndex mended_for_{0};
  std::vector<std::uint32_t> path_;
};

}  // namespace heddle::planned
