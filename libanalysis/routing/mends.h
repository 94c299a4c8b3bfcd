/// Paths for pairs of switches that no way up and then down joins: a leaf with one link and a leaf of another
/// part, a spine and the leaf of a manager that share no switch above. Such a switch sends what is for the
/// other down to a neighbour that goes up from there, which the order forbids otherwise. Each such turn is
/// one that no dependency can lead back to: whatever legal paths and turns are in use, over whichever links,
/// the dependencies of all together have no cycle (as in Nue routing: Domke, Hoefler, Matsuoka, HPDC 2016;
/// there against the paths in use, here against all that the order allows, so that turns stay as links come
/// and go). A pure function of graph and order.
///
/// A switch is mended for a destination or it is not: what it sends meets no other mended switch but those
/// nearer by mends, and what has once met one that is not goes up and then down. So no mixture of old and new
/// entries can make a loop out of mends.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "routing/legal_paths.h"
#include "routing/link_set.h"
#include "routing/ranks.h"
#include "routing/switch_graph.h"
#include "routing/turns.h"

namespace heddle::routing {

class Mends {
 public:
  static constexpr std::uint32_t none = 0xffffffffU;

  /// A cable by which a mended switch may send.
  struct Way {
    PortNum out;
    SwitchIndex peer;
    LinkIndex link;
    std::uint32_t mend = none;  ///< the peer's own, where it is mended too
    /// Of the peer over all links, where it is not: a longer way would make other turns.
    LegalPaths::Distance distance = LegalPaths::far;
  };
  /// `at` sends what is for `to` by one of its ways.
  struct Mend {
    SwitchIndex at;
    SwitchIndex to;
    std::uint32_t first_way = 0;
    std::uint32_t ways = 0;
  };

  Mends() = default;
  /// For every pair that has no legal path over `full`, if one of the two has hosts: managers are hosts.
  /// `kept`: turns that are allowed before any others, as far as they close no circle (kept_turns.h).
  Mends(const SwitchGraph& graph, const Ranks& ranks, const LegalPaths& full,
        std::span<const Turn> kept = {});

  /// By `to`, ascending; those of one `to` after the mends that they lead to.
  [[nodiscard]] std::span<const Mend> all() const { return mends_; }
  [[nodiscard]] std::span<const Mend> to(SwitchIndex d) const {
    if (first_.empty()) return {};
    return std::span(mends_).subspan(first_[d.raw()], first_[d.raw() + 1] - first_[d.raw()]);
  }
  [[nodiscard]] std::span<const Way> ways(const Mend& mend) const {
    return std::span(ways_).subspan(mend.first_way, mend.ways);
  }
  /// Position in all(), or none.
  [[nodiscard]] std::uint32_t find(SwitchIndex at, SwitchIndex to) const;

  /// Pairs (from, to) with hosts at one of them or at both that have no path, mended or not. SMPs reach these
  /// by directed route.
  [[nodiscard]] std::span<const std::pair<SwitchIndex, SwitchIndex>> left() const { return left_; }

  /// Whether packets may go down from `from` to `over` and up again to `to`.
  [[nodiscard]] bool turns(SwitchIndex from, SwitchIndex over, SwitchIndex to) const;
  [[nodiscard]] bool has_turns() const { return !turns_.empty(); }

  /// By position in all(): which of them still lead to their destination when only `active` may be used, over
  /// which `paths` are the legal ones.
  [[nodiscard]] std::vector<std::uint8_t> leading(const LegalPaths& paths, const LinkSet* active) const;
  /// Whether a way leads there, given what leading() said.
  [[nodiscard]] static bool leads(const Mend& mend, const Way& way, const LegalPaths& paths,
                                  const LinkSet* active, std::span<const std::uint8_t> leading) {
    if (active != nullptr && !active->contains(way.link)) return false;
    return way.mend == none ? paths.distance(way.peer, mend.to) == way.distance : leading[way.mend] != 0;
  }

 private:
  std::vector<Mend> mends_;
  std::vector<std::uint32_t> first_;  ///< by destination; empty where there are none
  std::vector<Way> ways_;
  std::vector<std::pair<SwitchIndex, SwitchIndex>> left_;
  std::unordered_set<std::uint64_t> turns_;
  std::size_t switches_ = 0;
};

}  // namespace heddle::routing
