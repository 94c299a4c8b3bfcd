#include "routing/past_packets.h"

#include <span>
#include <unordered_map>
#include <vector>

namespace heddle::routing {
namespace {

class PastFinder {
 public:
  PastFinder(const SwitchGraph& graph, const HopMap& map, std::span<const char> forwards,
             const ForwardingTables& now, const RecentEntries& recent)
      : graph_{graph}, map_{map}, forwards_{forwards}, now_{now}, recent_{recent} {
    for (std::uint32_t s = 0; s < graph.size(); ++s) by_guid_.emplace(graph.guid(SwitchIndex{s}), s);
  }

  void find(const Target& target, Lid lid, std::vector<PastPackets::Wait>& waits,
            std::vector<std::uint32_t>& hops) const {
    const auto entries = recent_.of(lid);
    std::unordered_map<NodeGuid, std::vector<const RecentEntries::Entry*>> by_switch;
    for (const RecentEntries::Entry& entry : entries) by_switch[entry.sw].push_back(&entry);
    const auto of = [&](SwitchIndex sw) -> std::span<const RecentEntries::Entry* const> {
      const auto found = by_switch.find(graph_.guid(sw));
      if (found == by_switch.end()) return {};
      return found->second;
    };
    // As RecentEntries::since(), of which there would be many.
    const auto since = [&](SwitchIndex sw) {
      const auto own = of(sw);
      return own.empty() ? Instant::min() : own.back()->succeeded;
    };
    for (const RecentEntries::Entry& gone : entries) {
      const auto at = by_guid_.find(gone.sw);
      if (at == by_guid_.end() || at->second == target.at.raw()) continue;
      const std::uint32_t sent = hop(at->second, gone.port);
      if (sent == HopMap::none) continue;
      // Packets that wait for its link: those that were sent here before it ended.
      for (const Hop& back : graph_.hops(SwitchIndex{at->second})) {
        const std::uint32_t from = back.peer.raw();
        const std::uint32_t held =
            from == target.at.raw() ? HopMap::none : hop(from, now_.port(back.peer, lid));
        const bool leads_here = held != HopMap::none && map_.peer(held) == at->second;
        if (leads_here && since(back.peer) < gone.until) waits.push_back({held, sent, lid});
      }
      // Packets that hold it.
      if (map_.peer(sent) == target.at.raw()) continue;
      hops.push_back(sent);
      const SwitchIndex next{map_.peer(sent)};
      const auto meet = [&](PortNum port) {
        const std::uint32_t wanted = hop(next.raw(), port);
        if (wanted != HopMap::none) waits.push_back({sent, wanted, lid});
      };
      meet(now_.port(next, lid));
      for (const RecentEntries::Entry* other : of(next)) {
        if (other->until > gone.since) meet(other->port);
      }
    }
  }

 private:
  [[nodiscard]] std::uint32_t hop(std::uint32_t s, PortNum port) const {
    const std::uint32_t found = map_.hop(s, port.raw());
    return found != HopMap::none && forwards_[found] != 0 ? found : HopMap::none;
  }

  const SwitchGraph& graph_;
  const HopMap& map_;
  std::span<const char> forwards_;
  const ForwardingTables& now_;
  const RecentEntries& recent_;
  std::unordered_map<NodeGuid, std::uint32_t> by_guid_;
};

}  // namespace

PastPackets::PastPackets(const SwitchGraph& graph, const HopMap& map, std::span<const char> forwards,
                         const ForwardingTables& now, const RecentEntries& recent) {
  if (recent.all().empty()) return;
  const PastFinder finder(graph, map, forwards, now, recent);
  for (const Target& target : graph.targets()) {
    for (unsigned i = 0; i < target.lid_count(); ++i) {
      const Lid lid{static_cast<std::uint16_t>(target.base.raw() + i)};
      if (recent.of(lid).empty()) continue;
      lids_.push_back(lid);
      finder.find(target, lid, waits_, hops_[lid]);
    }
  }
}

std::span<const std::uint32_t> PastPackets::hops(Lid lid) const {
  const auto found = hops_.find(lid);
  if (found == hops_.end()) return {};
  return found->second;
}

}  // namespace heddle::routing
