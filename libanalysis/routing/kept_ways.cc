#include "routing/kept_ways.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "routing/dependencies.h"
#include "routing/hop_map.h"

namespace heddle::routing {
namespace {

/// Each costs a walk over the whole graph of dependencies: what is not decided after so many is not kept.
constexpr std::size_t most_trials = 64;

class Keeper {
 public:
  Keeper(const SwitchGraph& graph, const ForwardingTables& before, const ForwardingTables& after)
      : graph_{graph}, before_{before}, after_{after}, map_{graph} {}

  std::vector<KeptWay> keep(std::span<const BlockRef> differing, const LinkSet& usable) {
    find_lost(differing, usable);
    std::vector<std::vector<KeptWay>> by_lid;
    for (const Target& target : graph_.targets()) {
      for (unsigned i = 0; !lost_.empty() && i < target.lid_count(); ++i) {
        const auto lost = lost_.find(Lid{static_cast<std::uint16_t>(target.base.raw() + i)});
        if (lost == lost_.end()) continue;
        if (auto kept = keep(target, lost->first, lost->second); !kept.empty())
          by_lid.push_back(std::move(kept));
      }
    }
    if (by_lid.empty()) return {};
    Dependencies now = wanted();
    take(by_lid, now);
    return std::move(kept_);
  }

 private:
  /// Switches that would be without an entry, and whose own leads over a link that may be used.
  void find_lost(std::span<const BlockRef> differing, const LinkSet& usable) {
    std::vector<char> forwards(graph_.hop_count(), 0);
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      std::size_t hop = graph_.first_hop(SwitchIndex{s});
      for (const Hop& each : graph_.hops(SwitchIndex{s}))
        forwards[hop++] = usable.contains(each.link) ? 1 : 0;
    }
    for (const BlockRef& at : differing) {
      for (std::size_t i = 0; i < lids_per_block; ++i) {
        const Lid lid{static_cast<std::uint16_t>(at.block * lids_per_block + i)};
        if (after_.port(at.sw, lid) != no_path || before_.port(at.sw, lid) == no_path) continue;
        const std::uint32_t hop = map_.hop(at.sw.raw(), before_.port(at.sw, lid).raw());
        if (hop != HopMap::none && forwards[hop] != 0) lost_[lid].push_back(at.sw);
      }
    }
  }

  [[nodiscard]] bool leads_there(const Target& target, Lid lid, std::uint32_t s) const {
    for (std::size_t hops = 0; hops <= graph_.size(); ++hops) {
      const PortNum port = after_.port(SwitchIndex{s}, lid);
      if (port == no_path) return false;
      if (s == target.at.raw()) return true;
      const std::uint32_t hop = map_.hop(s, port.raw());
      if (hop == HopMap::none) return false;
      s = map_.peer(hop);
    }
    return false;
  }

  /// Outward: what leads to one that leads there.
  std::vector<KeptWay> keep(const Target& target, Lid lid, const std::vector<SwitchIndex>& lost) const {
    std::vector<KeptWay> kept;
    std::vector<char> leads(graph_.size(), 0);
    for (bool more = true; more;) {
      more = false;
      for (const SwitchIndex s : lost) {
        if (leads[s.raw()] != 0) continue;
        const PortNum port = before_.port(s, lid);
        const std::uint32_t next = map_.peer(map_.hop(s.raw(), port.raw()));
        if (leads[next] == 0 && !leads_there(target, lid, next)) continue;
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

  void follow(const Target& target, Lid lid, std::uint32_t hop, std::span<const KeptWay> kept,
              Dependencies& into) const {
    if (hop == HopMap::none || map_.peer(hop) == target.at.raw()) return;
    const SwitchIndex over{map_.peer(hop)};
    const auto own =
        std::find_if(kept.begin(), kept.end(), [&](const KeptWay& way) { return way.sw == over; });
    const PortNum port = own != kept.end() ? own->port : after_.port(over, lid);
    const std::uint32_t next = map_.hop(over.raw(), port.raw());
    if (next != HopMap::none) into.add(hop, next, lid);
  }

  void add(const std::vector<KeptWay>& ways, Dependencies& into) const {
    const Lid lid = ways.front().lid;
    const auto targets = graph_.targets();
    const auto target = std::find_if(targets.begin(), targets.end(), [&](const Target& each) {
      return lid >= each.base && lid.raw() < each.base.raw() + each.lid_count();
    });
    for (const KeptWay& way : ways) follow(*target, lid, map_.hop(way.sw.raw(), way.port.raw()), ways, into);
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
    }
  }

  const SwitchGraph& graph_;
  const ForwardingTables& before_;
  const ForwardingTables& after_;
  HopMap map_;
  std::map<Lid, std::vector<SwitchIndex>> lost_;
  std::vector<KeptWay> kept_;
  std::size_t trials_ = 0;
};

}  // namespace

std::vector<KeptWay> ways_to_keep(const SwitchGraph& graph, const ForwardingTables& before,
                                  const ForwardingTables& after, std::span<const BlockRef> differing,
                                  const LinkSet& usable) {
  return Keeper(graph, before, after).keep(differing, usable);
}

}  // namespace heddle::routing
