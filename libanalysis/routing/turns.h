/// Turns from a way down into a way up that an order may allow besides, because no dependency leads from the
/// way up back to the way down: neither over legal paths, whichever are in use, nor over other such turns.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "routing/legal_paths.h"
#include "routing/ranks.h"
#include "routing/switch_graph.h"

namespace heddle::routing {

/// From `from` down to `over` and up to `to`.
struct Turn {
  SwitchIndex from;
  SwitchIndex over;
  SwitchIndex to;
};

class Turns {
 public:
  /// `full`: over all links. All three must outlive it.
  Turns(const SwitchGraph& graph, const Ranks& ranks, const LegalPaths& full)
      : graph_{graph}, ranks_{ranks}, full_{full}, by_from_(graph.size()) {}

  /// Legal by the order, or allowed by now.
  [[nodiscard]] bool allowed(const Turn& turn) const {
    return !exceptional(turn) || allowed_.contains(key(turn));
  }
  /// Those beyond the order, by number().
  [[nodiscard]] const std::unordered_set<std::uint64_t>& exceptions() const { return allowed_; }
  [[nodiscard]] static std::uint64_t number(const Turn& turn, std::size_t switches) {
    return (std::uint64_t{turn.from.raw()} * switches + turn.over.raw()) * switches + turn.to.raw();
  }
  /// Not refused yet.
  [[nodiscard]] bool possible(const Turn& turn) const;
  /// Allows all of them from here on, both ways, or none. Both ways, because answers must come back, and the
  /// next pair would take another way there.
  bool allow(std::span<const Turn> turns);
  /// Allows those that can be, this way round, in their order.
  void keep(std::span<const Turn> turns);

 private:
  [[nodiscard]] bool exceptional(const Turn& turn) const {
    return ranks_.above(turn.from, turn.over) && ranks_.above(turn.to, turn.over);
  }
  [[nodiscard]] std::uint64_t key(const Turn& turn) const { return number(turn, graph_.size()); }
  /// A dependency can lead from the end of `first` to the beginning of `second`.
  [[nodiscard]] bool leads(const Turn& first, const Turn& second) const {
    if (first.to != second.from) return full_.distance(first.to, second.from) != LegalPaths::far;
    // Nobody goes back where he came from, but one packet may wait for another that comes down on the way
    // back.
    return first.over != second.over || comes_back_down(first.to);
  }
  /// Whether dependencies lead from a way up out of `s` to another one's way down into it: one can go up from
  /// it by two ways to one switch.
  [[nodiscard]] bool comes_back_down(SwitchIndex s) const;
  bool allow_one(const Turn& turn);
  [[nodiscard]] bool closes_a_circle(const Turn& turn) const;
  void forget(const Turn& turn);

  const SwitchGraph& graph_;
  const Ranks& ranks_;
  const LegalPaths& full_;
  std::vector<std::vector<Turn>> by_from_;
  std::vector<SwitchIndex> froms_;  ///< switches that turns begin at
  std::unordered_set<std::uint64_t> allowed_;
  std::unordered_set<std::uint64_t> refused_;
  mutable std::unordered_map<std::uint32_t, bool> comes_back_down_;  ///< what was asked, by switch
};

}  // namespace heddle::routing
