/// Changes of tables as packets see them, for tests: what waits for what, over tables that come one after the
/// other. Shares no code with the rounds of LIDs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/random.h"
#include "fabric/fabric.h"
#include "routing/dependencies.h"
#include "routing/hop_map.h"
#include "routing/link_set.h"
#include "routing/recent_entries.h"
#include "routing/update_plan.h"
#include "routing/updn.h"

namespace heddle::routing::changes {

using namespace std::chrono_literals;

inline std::shared_ptr<const Fabric> without_cables(const Fabric& fabric, const LinkSet& there) {
  FabricBuilder builder;
  for (const Node& node : fabric.nodes()) {
    const NodeIndex index = *builder.add_node(node);
    for (unsigned p = 0; p <= node.port_count; ++p)
      EXPECT_TRUE(builder.set_port(index, fabric.port(PortIndex{node.first_port.raw() + p})));
  }
  for (std::uint32_t i = 0; i < fabric.links().size(); ++i) {
    const Link& link = fabric.link(LinkIndex{i});
    if (!there.contains(LinkIndex{i})) continue;
    EXPECT_TRUE(builder.add_link(link.a, link.b, link.width, link.speed));
  }
  return builder.build();
}

/// Whether packets that start at `s` arrive.
inline bool arrives_by(const SwitchGraph& graph, const ForwardingTables& tables, SwitchIndex s,
                       const Target& target, Lid lid) {
  for (std::size_t hops = 0; hops <= graph.size(); ++hops) {
    if (s == target.at) return tables.port(s, lid) != no_path;
    SwitchIndex next = no_switch;
    for (const Hop& hop : graph.hops(s)) {
      if (hop.out == tables.port(s, lid)) next = hop.peer;
    }
    if (next == no_switch) return false;
    s = next;
  }
  return false;
}

/// Tables one after the other, as long as packets of the first are under way: each goes on by the same tables
/// as the switch before, or by later ones.
class Passing {
 public:
  explicit Passing(const SwitchGraph& graph) : graph_{graph}, map_{graph} {}

  /// LIDs that wait do so until the packets of all that need not are gone.
  void carry_out(std::vector<std::vector<EntryWrite>> stages, ForwardingTables& tables) {
    if (passed_.empty()) passed_.push_back(tables);
    for (bool gone = false; !stages.empty(); gone = true) {
      if (gone) passed_ = {tables};
      if (gone) recent.forget_until(now_);
      std::set<Lid> later;
      std::vector<std::vector<EntryWrite>> left;
      for (auto& stage : stages) {
        const bool first = gone && &stage == &stages.front();
        for (const EntryWrite& write : stage) {
          const bool waits = write.change == Change::Follows || write.change == Change::Loses;
          if ((waits && !first) || (returns_wait && sends_back(write, tables))) later.insert(write.lid);
        }
        const auto rest = std::stable_partition(
            stage.begin(), stage.end(), [&](const EntryWrite& write) { return !later.contains(write.lid); });
        if (rest != stage.end()) left.emplace_back(rest, stage.end());
        stage.erase(rest, stage.end());
        if (!stage.empty()) write(stage, tables);
      }
      stages = std::move(left);
    }
  }
  [[nodiscard]] bool has_circle() const {
    Dependencies all(graph_);
    for (const Target& target : graph_.targets()) {
      for (unsigned i = 0; i < target.lid_count(); ++i)
        add(target, Lid{static_cast<std::uint16_t>(target.base.raw() + i)}, all);
    }
    return !all.find_cycle().empty();
  }

  RecentEntries recent;
  /// Nobody sends packets back to where they came from before those that did are gone (packet_life.h).
  bool returns_wait = false;

 private:
  /// To a switch that an entry which is gone made send here.
  [[nodiscard]] bool sends_back(const EntryWrite& write, const ForwardingTables& tables) const {
    const std::uint32_t next = map_.hop(write.sw.raw(), write.port.raw());
    if (next == HopMap::none) return false;
    const SwitchIndex peer{map_.peer(next)};
    return std::ranges::any_of(passed_, [&](const ForwardingTables& passed) {
      const std::uint32_t led = map_.hop(peer.raw(), passed.port(peer, write.lid).raw());
      return led != HopMap::none && map_.peer(led) == write.sw.raw() &&
             passed.port(peer, write.lid) != tables.port(peer, write.lid);
    });
  }
  void write(const std::vector<EntryWrite>& stage, ForwardingTables& tables) {
    for (const EntryWrite& write : stage)
      recent.replaced(write.lid, graph_.guid(write.sw), tables.port(write.sw, write.lid), now_ + 1us,
                      now_ + 2us);
    now_ += 2us;
    apply(stage, tables);
    passed_.push_back(tables);
  }
  void add(const Target& target, Lid lid, Dependencies& all) const {
    const auto hop = [&](std::size_t which, std::uint32_t s) {
      return map_.hop(s, passed_[which].port(SwitchIndex{s}, lid).raw());
    };
    for (std::size_t first = 0; first < passed_.size(); ++first) {
      for (std::uint32_t s = 0; s < graph_.size(); ++s) {
        const std::uint32_t by = s == target.at.raw() ? HopMap::none : hop(first, s);
        if (by == HopMap::none || map_.peer(by) == target.at.raw()) continue;
        for (std::size_t later = first; later < passed_.size(); ++later) {
          if (const std::uint32_t next = hop(later, map_.peer(by)); next != HopMap::none)
            all.add(by, next, lid);
        }
      }
    }
  }

  const SwitchGraph& graph_;
  HopMap map_;
  std::vector<ForwardingTables> passed_;
  Instant now_{};
};

/// All links but some cables between switches.
inline LinkSet without_some(const Fabric& fabric, std::size_t off, Random& random) {
  LinkSet active = LinkSet::all(fabric);
  for (std::size_t tries = 0; off > 0 && tries < 100; ++tries) {
    const LinkIndex link{static_cast<std::uint32_t>(random.below(fabric.links().size()))};
    const auto is_switch = [&](LinkEnd end) { return fabric.node(end.node).type == NodeType::Switch; };
    if (!is_switch(fabric.link(link).a) || !is_switch(fabric.link(link).b)) continue;
    active.erase(link);
    --off;
  }
  return active;
}

/// Of all these cables, in the order of one who did not know some of them.
inline UpDownRouter made_anew(const Fabric& fabric, const UpDownRouter& earlier) {
  UpDownOptions options;
  for (std::uint32_t s = 0; s < earlier.graph().size(); ++s)
    options.ranks.emplace_back(earlier.graph().guid(SwitchIndex{s}), earlier.ranks().rank(SwitchIndex{s}));
  return UpDownRouter::make(fabric, options).value();
}

/// A fabric whose cables a daemon did not all see when it was started, with its tables and those of now.
struct CablesThatCame {
  std::shared_ptr<const Fabric> fabric;
  UpDownRouter earlier;
  UpDownRouter router;
};

inline CablesThatCame cables_that_came(std::shared_ptr<const Fabric> fabric, std::uint64_t seed) {
  Random random(seed);
  const auto part = without_cables(*fabric, without_some(*fabric, 1 + random.below(4), random));
  auto earlier = UpDownRouter::make(*part).value();
  auto router = made_anew(*fabric, earlier);
  return {std::move(fabric), std::move(earlier), std::move(router)};
}

}  // namespace heddle::routing::changes
