/// Follows packets of every LID from every switch that hosts send from, whatever each switch's entry may be
/// at this instant, and holds the result against the one promise: a pair that once had a way has one at every
/// instant. A packet under way looks at one switch's entry after the other's: none that was replaced before
/// the one that sent it there began. A cut or a dead node excuses the pairs whose packets it met, until all
/// that their tables may hold leads to the LID again; nothing else excuses.
#pragma once

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "check/dependencies.h"
#include "check/report.h"
#include "check/world.h"

namespace wire {

struct Rules {
  /// Between an answer that says that a link fell, and a table that may still be written in ignorance of it.
  Time grace = 10'000'000;
  /// How long what a cut broke must have had a way again before that is promised: the writes of one repair
  /// go out at once, and the first of them may lead over what the others are still to change.
  Time batch = 1'000'000;
  /// In which what a cut broke must be back where cables could carry it; 0: not asked for.
  Time back_within = 0;
};

class Unicast {
 public:
  Unicast(const World& world, const Rules& rules, Report& report);

  void check(const Changes& changes, Time now);
  /// Pairs of hosts that a fault broke and that cables could join again: called when they must be back. A
  /// switch that no way up and down leads to is managed by directed route, and its counters are missing.
  void check_lasting();
  /// At the end of the recording.
  void finish();

 private:
  // What a walk may meet.
  enum Flag : unsigned {
    NoEntry = 1U << 0,
    Held = 1U << 1,
    Training = 1U << 2,
    Fallen = 1U << 3,
    Circle = 1U << 4,
    Elsewhere = 1U << 5,
    all_wrong = (1U << 6) - 1,
    Excused = 1U << 6,
    Unknown = 1U << 7,
    FreshHeld = 1U << 8,  ///< by an entry that was written after the link was taken away
    FreshTraining = 1U << 9,
  };
  static const std::array<std::pair<unsigned, Wrong>, 6> kinds;
  enum class Standing : std::uint8_t { Never, Established, Broken };
  struct Pair {
    Standing standing = Standing::Never;
    unsigned wrong = 0;  ///< flags that are reported already
    Time since = 0;
    /// What was sent before, a fault has caught; 0: none ever has.
    Time back_since = 0;
    bool is_repaired = false;  ///< and what it is back from is a fault
  };
  /// At a switch, with entries that are there at this time or later.
  struct State {
    Time time = 0;
    unsigned flags = 0;
    bool done = false;  ///< else under way
  };

  /// It died: what it sends and what is sent to it is broken, even what no cable is needed for.
  void excuse(int node);
  void check_lid(int lid, Time now);
  unsigned follow(int switch_number, int lid, Time time);
  [[nodiscard]] State* state(int switch_number, Time time);
  /// When a packet is under way by this entry, that came at `time`; 0: as early as any that still is.
  [[nodiscard]] Time leaves(const Candidate& entry, Time time) const {
    const Time at = std::max(time, entry.since);
    return at <= horizon_ ? 0 : at;
  }
  /// Of one entry; `next`: the switch that it leads to, or -1.
  unsigned step(int switch_number, int lid, const Candidate& candidate, int& next) const;
  void judge(int lid, int source, Pair& pair, unsigned flags, Time now);
  void tell(int lid, int source, unsigned flag, Wrong kind);
  void tell_cycle(int lid, const std::vector<Channel>& cycle, Time now);
  std::vector<Dependencies::Edge> edges_of(int lid);
  bool update_sources();  ///< whether there are others
  /// A base LID, which is all that switches know of who manages them (IBA 14.2.5.6, MasterSMLID).
  [[nodiscard]] bool is_managers(int lid) const;
  /// Whether packets from there to that LID are judged: those between hosts, and between managers and
  /// switches.
  [[nodiscard]] bool is_judged(int lid, int source) const;
  /// Whether they have a way at every instant: aggregation nodes may be without, when links go off
  /// (docs/regulation.md). Nothing else is allowed for them.
  [[nodiscard]] bool is_promised(int lid, int source) const;
  /// Nodes that a manager reaches over cables that are not cut, or could: what is Disabled at a port that it
  /// reaches it can bring back.
  [[nodiscard]] std::vector<std::uint8_t> in_sight() const;
  /// What cables join that are there or could be brought back, as one number by node.
  [[nodiscard]] std::vector<int> islands() const;

  const World& world_;
  const Topology& topology_;
  const Rules& rules_;
  Report& report_;
  Dependencies dependencies_;
  std::vector<std::uint8_t> is_source_;  ///< by switch
  std::vector<std::uint8_t> has_hosts_;  ///< likewise: not aggregation nodes only
  std::vector<std::uint8_t> has_manager_;
  std::vector<std::vector<Pair>> pairs_;  ///< by LID, then switch
  std::vector<End> owners_;               ///< whose the pairs are
  std::vector<std::uint8_t> is_reached_;  ///< by LID: its owner's switch has had a way to it
  std::vector<std::vector<State>> walk_;  ///< by switch, of the LID at hand
  Time horizon_ = 0;                      ///< what is under way was sent since
};

}  // namespace wire
