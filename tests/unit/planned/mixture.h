/// What could happen to packets between two sets of tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "routing/link_set.h"
#include "routing/switch_graph.h"
#include "routing/tables.h"

namespace heddle::planned {

/// What could happen to packets while switches are given `next` in place of `now`, one by one in any order.
/// Knows only cables and entries; shares nothing with what makes the passes.
class Mixture {
 public:
  Mixture(const routing::SwitchGraph& graph, const routing::LinkSet& usable,
          const routing::ForwardingTables& now, const routing::ForwardingTables& next)
      : graph_{graph}, usable_{usable}, tables_{&now, &next} {}

  struct Wrongs {
    std::size_t lost = 0;  ///< (switch with hosts, LID) that has a path before and may have none meanwhile
    std::size_t lost_to_hosts = 0;  ///< of these, to LIDs of hosts
    std::size_t circles = 0;        ///< LIDs whose packets may run in a circle
  };

  Wrongs find() {
    Wrongs wrongs;
    for (const routing::Target& target : graph_.targets()) {
      for (unsigned i = 0; i < target.lid_count(); ++i) {
        look(target, Lid{static_cast<std::uint16_t>(target.base.raw() + i)}, wrongs);
      }
    }
    return wrongs;
  }

 private:
  /// The switch behind a port; the same one where the packet has arrived, none where it is lost.
  [[nodiscard]] routing::SwitchIndex follow(const routing::Target& target, routing::SwitchIndex s,
                                            PortNum port) const {
    if (s == target.at) return port == target.out ? s : routing::no_switch;
    for (const routing::Hop& hop : graph_.hops(s)) {
      if (hop.out == port) return usable_.contains(hop.link) ? hop.peer : routing::no_switch;
    }
    return routing::no_switch;
  }

  [[nodiscard]] bool arrives_by(const routing::ForwardingTables& table, const routing::Target& target,
                                Lid lid, routing::SwitchIndex s) const {
    for (std::size_t hops = 0; hops <= graph_.size(); ++hops) {
      const routing::SwitchIndex next = follow(target, s, table.port(s, lid));
      if (next == routing::no_switch) return false;
      if (next == s) return true;
      s = next;
    }
    return false;
  }

  void look(const routing::Target& target, Lid lid, Wrongs& wrongs) {
    state_.assign(graph_.size(), 0);
    loses_.assign(graph_.size(), false);
    circle_ = false;
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      const routing::SwitchIndex at{s};
      walk(target, lid, at);
      const bool worked = graph_.hosts_at(at) != 0 && arrives_by(*tables_[0], target, lid, at);
      if (!worked || !loses_[s]) continue;
      ++wrongs.lost;
      if (target.kind == routing::TargetKind::Host) ++wrongs.lost_to_hosts;
    }
    if (circle_) ++wrongs.circles;
  }

  void walk(const routing::Target& target, Lid lid, routing::SwitchIndex s) {
    if (state_[s.raw()] != 0) return;
    state_[s.raw()] = 1;
    for (const routing::ForwardingTables* table : tables_) {
      const routing::SwitchIndex next = follow(target, s, table->port(s, lid));
      if (next == s) continue;
      if (next == routing::no_switch) {
        loses_[s.raw()] = true;
        continue;
      }
      if (state_[next.raw()] == 1) circle_ = true;
      walk(target, lid, next);
      if (loses_[next.raw()]) loses_[s.raw()] = true;
    }
    state_[s.raw()] = 2;
  }

  const routing::SwitchGraph& graph_;
  const routing::LinkSet& usable_;
  const routing::ForwardingTables* tables_[2];
  std::vector<int> state_;
  std::vector<bool> loses_;
  bool circle_ = false;
};

}  // namespace heddle::planned
