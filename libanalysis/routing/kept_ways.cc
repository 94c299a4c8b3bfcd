#include "routing/kept_ways.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "routing/dependencies.h"
#include "routing/hop_map.h"
#include "routing/lid_mixtures.h"
#include "routing/stopovers.h"

namespace heddle::routing {
namespace {

/// Each costs a walk over the whole graph of dependencies: what is not decided after so many is not kept.
constexpr std::size_t most_trials = 64;

class Keeper {
 public:
  Keeper(const UpdateOrder& order, const ForwardingTables& before, const ForwardingTables& after)
      : order_{order},
        graph_{order.graph},
        usable_{order.by_plane.empty() ? std::span(order.usable, 1) : order.by_plane},
        before_{before},
        after_{after},
        map_{order.graph},
        is_up_{hops_over(order.graph, order.up)} {}

  std::vector<KeptWay> keep(std::span<const BlockRef> differing, Keep which) {
    find_lost(differing);
    auto by_lid = ways(which == Keep::InOrder ? Turns::InOrderOrStanding : Turns::Any);
    if (by_lid.empty()) return {};
    if (!join_hosts(by_lid) && stands_in_order()) by_lid = ways(Turns::InOrder);
    if (by_lid.empty()) return {};
    if (which == Keep::All) {
      for (const auto& ways : by_lid) kept_.insert(kept_.end(), ways.begin(), ways.end());
    } else {
      Dependencies now = wanted();
      take(by_lid, now);
      if (which == Keep::OrOthers) {
        for (std::size_t plane = 0; plane < usable_.size(); ++plane) take_others(plane, now);
      }
    }
    return std::move(kept_);
  }

 private:
  enum class Turns : std::uint8_t { InOrder, InOrderOrStanding, Any };

  /// By LID: those that would be lost and lead there.
  [[nodiscard]] std::vector<std::vector<KeptWay>> ways(Turns turns) const {
    std::vector<std::vector<KeptWay>> by_lid;
    for (const Target& target : graph_.targets()) {
      for (unsigned i = 0; !lost_.empty() && i < target.lid_count(); ++i) {
        const auto lost = lost_.find(Lid{static_cast<std::uint16_t>(target.base.raw() + i)});
        if (lost == lost_.end()) continue;
        if (auto kept = keep(target, lost->first, lost->second, turns); !kept.empty())
          by_lid.push_back(std::move(kept));
      }
    }
    return by_lid;
  }

  /// Hosts need one another: where some would be apart without these, something is lost.
  [[nodiscard]] bool join_hosts(std::span<const std::vector<KeptWay>> by_lid) const {
    return std::ranges::any_of(by_lid, [&](const std::vector<KeptWay>& ways) {
      return target_of(ways.front().lid).kind == TargetKind::Host &&
             std::ranges::any_of(ways, [&](const KeptWay& way) { return graph_.hosts_at(way.sw) > 0; });
    });
  }

  /// Whether what stands leads over no link that is down, and turns as the order and its mends allow.
  [[nodiscard]] bool stands_in_order() const {
    for (const Target& target : graph_.targets()) {
      for (unsigned i = 0; i < target.lid_count(); ++i) {
        if (!stands_in_order(target, Lid{static_cast<std::uint16_t>(target.base.raw() + i)})) return false;
      }
    }
    return true;
  }
  [[nodiscard]] bool stands_in_order(const Target& target, Lid lid) const {
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      const std::uint32_t hop = map_.hop(s, before_.port(SwitchIndex{s}, lid).raw());
      if (s == target.at.raw() || hop == HopMap::none) continue;
      if (is_up_[hop] == 0) return false;
      const std::uint32_t over = map_.peer(hop);
      if (over != target.at.raw() && !is_in_order(target, s, over, before_.port(SwitchIndex{over}, lid)))
        return false;
    }
    return true;
  }
  /// Packets to the target that come from `from` to `over` may go on by that port: up, then down, or by a
  /// mend of `from` for that target.
  [[nodiscard]] bool is_in_order(const Target& target, std::uint32_t from, std::uint32_t over,
                                 PortNum onward) const {
    const std::uint32_t next = map_.hop(over, onward.raw());
    if (next == HopMap::none) return true;
    const bool turns_up = order_.ranks.above(SwitchIndex{from}, SwitchIndex{over}) &&
                          order_.ranks.above(SwitchIndex{map_.peer(next)}, SwitchIndex{over});
    return !turns_up ||
           (order_.mends.find(SwitchIndex{from}, target.at) != Mends::none &&
            order_.mends.turns(SwitchIndex{from}, SwitchIndex{over}, SwitchIndex{map_.peer(next)}));
  }

  /// Switches that would be without an entry, and whose own leads over a link that may be used.
  void find_lost(std::span<const BlockRef> differing) {
    std::vector<std::vector<char>> forwards;
    forwards.reserve(usable_.size());
    for (const LinkSet& usable : usable_) forwards.push_back(hops_over(graph_, &usable));
    const std::vector<std::uint8_t> plane_of = planes_by_lid();
    for (const BlockRef& at : differing) {
      for (std::size_t i = 0; i < lids_per_block; ++i) {
        const Lid lid{static_cast<std::uint16_t>(at.block * lids_per_block + i)};
        if (after_.port(at.sw, lid) != no_path || before_.port(at.sw, lid) == no_path) continue;
        if (lid.raw() >= plane_of.size()) continue;  // nobody has it
        const std::uint32_t hop = map_.hop(at.sw.raw(), before_.port(at.sw, lid).raw());
        if (hop != HopMap::none && forwards[plane_of[lid.raw()]][hop] != 0) lost_[lid].push_back(at.sw);
      }
    }
  }

  /// 0 for those that nobody has.
  [[nodiscard]] std::vector<std::uint8_t> planes_by_lid() const {
    std::vector<std::uint8_t> planes(std::size_t{graph_.top_lid().raw()} + 1, 0);
    for (const Target& target : graph_.targets()) {
      for (unsigned i = 0; i < target.lid_count(); ++i)
        planes[target.base.raw() + i] = static_cast<std::uint8_t>(i % usable_.size());
    }
    return planes;
  }

  [[nodiscard]] bool leads_there(const ForwardingTables& tables, const Target& target, Lid lid,
                                 std::uint32_t s) const {
    for (std::size_t hops = 0; hops <= graph_.size(); ++hops) {
      const PortNum port = tables.port(SwitchIndex{s}, lid);
      if (port == no_path) return false;
      if (s == target.at.raw()) return true;
      const std::uint32_t hop = map_.hop(s, port.raw());
      if (hop == HopMap::none || (&tables == &before_ && is_up_[hop] == 0)) return false;
      s = map_.peer(hop);
    }
    return false;
  }

  /// Outward: what leads to one that leads there.
  std::vector<KeptWay> keep(const Target& target, Lid lid, const std::vector<SwitchIndex>& lost,
                            Turns turns) const {
    std::vector<KeptWay> kept;
    std::vector<char> leads(graph_.size(), 0);
    for (bool more = true; more;) {
      more = false;
      for (const SwitchIndex s : lost) {
        if (leads[s.raw()] != 0) continue;
        const PortNum port = before_.port(s, lid);
        const std::uint32_t next = map_.peer(map_.hop(s.raw(), port.raw()));
        if (leads[next] == 0 && !leads_there(after_, target, lid, next)) continue;
        const bool is_free =
            turns == Turns::Any || next == target.at.raw() ||
            (turns == Turns::InOrderOrStanding && leads_there(before_, target, lid, s.raw()));
        if (!is_free && !is_in_order(target, s.raw(), next, led_by(kept, next, lid))) continue;
        leads[s.raw()] = 1;
        kept.push_back({s, lid, port});
        more = true;
      }
    }
    return kept;
  }

  [[nodiscard]] Dependencies wanted() const {
    Dependencies result(graph_);
    for (const Target& target : graph_.targets()) {
      for (unsigned i = 0; i < target.lid_count(); ++i) {
        const Lid lid{static_cast<std::uint16_t>(target.base.raw() + i)};
        for (std::uint32_t s = 0; s < graph_.size(); ++s) {
          if (s != target.at.raw())
            follow(target, lid, map_.hop(s, after_.port(SwitchIndex{s}, lid).raw()), {}, result);
        }
      }
    }
    return result;
  }

  /// By which port the switch sends it when all is written.
  [[nodiscard]] PortNum led_by(std::span<const KeptWay> kept, std::uint32_t s, Lid lid) const {
    const auto own = std::ranges::find(kept, SwitchIndex{s}, &KeptWay::sw);
    return own != kept.end() ? own->port : after_.port(SwitchIndex{s}, lid);
  }

  void follow(const Target& target, Lid lid, std::uint32_t hop, std::span<const KeptWay> kept,
              Dependencies& into) const {
    if (hop == HopMap::none || map_.peer(hop) == target.at.raw()) return;
    const std::uint32_t over = map_.peer(hop);
    const std::uint32_t next = map_.hop(over, led_by(kept, over, lid).raw());
    if (next != HopMap::none) into.add(hop, next, lid);
  }

  [[nodiscard]] const Target& target_of(Lid lid) const {
    return *std::ranges::find_if(graph_.targets(), [&](const Target& each) {
      return lid >= each.base && lid.raw() < each.base.raw() + each.lid_count();
    });
  }

  void add(const std::vector<KeptWay>& ways, Dependencies& into) const {
    const Lid lid = ways.front().lid;
    const Target& target = target_of(lid);
    for (const KeptWay& way : ways) follow(target, lid, map_.hop(way.sw.raw(), way.port.raw()), ways, into);
  }

  /// All that close no circle with what is there.
  void take(std::span<const std::vector<KeptWay>> lids, Dependencies& now) {
    if (trials_ == most_trials) return;
    ++trials_;
    Dependencies with = now;
    for (const auto& ways : lids) add(ways, with);
    if (with.find_cycle().empty()) {
      for (const auto& ways : lids) kept_.insert(kept_.end(), ways.begin(), ways.end());
      now = std::move(with);
    } else if (lids.size() > 1) {
      take(lids.first(lids.size() / 2), now);
      take(lids.subspan(lids.size() / 2), now);
    } else {
      unsuited_.push_back(lids.front());
    }
  }

  /// Other ways, from everywhere, that close no circle with what is there.
  void take_others(std::size_t plane, Dependencies& now) {
    const auto is_in_plane = [&](const std::vector<KeptWay>& lost) {
      const Lid lid = lost.front().lid;
      return (lid.raw() - target_of(lid).base.raw()) % usable_.size() == plane;
    };
    if (std::ranges::none_of(unsuited_, is_in_plane)) return;
    const UpdateOrder order{graph_, order_.ranks, order_.mends, order_.up, &usable_[plane]};
    const TableChange none{after_, after_, {}};
    const LidMixtures mixtures(order, none);
    RoomMaker room(mixtures, {}, {});
    for (const auto& lost : unsuited_) {
      if (is_in_plane(lost)) take_another(lost, room, now);
    }
  }
  void take_another(const std::vector<KeptWay>& lost, RoomMaker& room, Dependencies& now) {
    const Lid lid = lost.front().lid;
    const auto way = room.make_whole(lid, Over::Usable, now);
    if (!way) return;
    const auto is_led = [&](const KeptWay& each) { return way->tables.port(each.sw, lid) != no_path; };
    if (!std::all_of(lost.begin(), lost.end(), is_led)) return;
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      const SwitchIndex sw{s};
      const PortNum port = way->tables.port(sw, lid);
      if (port != after_.port(sw, lid)) kept_.push_back({sw, lid, port});
    }
  }

  const UpdateOrder& order_;
  const SwitchGraph& graph_;
  std::span<const LinkSet> usable_;  ///< by plane
  const ForwardingTables& before_;
  const ForwardingTables& after_;
  HopMap map_;
  std::vector<char> is_up_;  ///< by hop
  std::map<Lid, std::vector<SwitchIndex>> lost_;
  std::vector<KeptWay> kept_;
  std::size_t trials_ = 0;
  std::vector<std::vector<KeptWay>> unsuited_;  ///< by LID
};

}  // namespace

std::vector<KeptWay> ways_to_keep(const UpdateOrder& order, const ForwardingTables& before,
                                  const ForwardingTables& after, std::span<const BlockRef> differing,
                                  Keep which) {
  return Keeper(order, before, after).keep(differing, which);
}

bool lose_a_way(const SwitchGraph& graph, PlaneOf plane,
                std::span<const std::pair<SwitchIndex, SwitchIndex>> apart, const ForwardingTables& held,
                const LinkSet& to, const LinkSet& open) {
  const auto leads_over_others = [&](SwitchIndex at, const Target& target, Lid lid) {
    bool over_others = false;
    for (std::uint32_t hops = 0; at != target.at; ++hops) {
      const PortNum out = held.port(at, lid);
      if (out == no_path || hops == graph.size()) return false;
      const auto by = std::ranges::find(graph.hops(at), out, &Hop::out);
      if (by == graph.hops(at).end() || !open.contains(by->link)) return false;
      over_others = over_others || !to.contains(by->link);
      at = by->peer;
    }
    return over_others;
  };
  std::vector<std::vector<const Target*>> targets(graph.size());
  for (const Target& target : graph.targets()) targets[target.at.raw()].push_back(&target);
  const auto loses = [&](SwitchIndex from, SwitchIndex there) {
    return std::ranges::any_of(targets[there.raw()], [&](const Target* target) {
      for (unsigned i = plane.plane; i < target->lid_count(); i += plane.planes) {
        const Lid lid{static_cast<std::uint16_t>(target->base.raw() + i)};
        if (leads_over_others(from, *target, lid)) return true;
      }
      return false;
    });
  };
  return std::ranges::any_of(apart, [&](const auto& pair) {
    return loses(pair.first, pair.second) || loses(pair.second, pair.first);
  });
}

}  // namespace heddle::routing
