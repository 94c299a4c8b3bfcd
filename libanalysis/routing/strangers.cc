#include "routing/strangers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>

#include "routing/dependencies.h"
#include "routing/hop_map.h"

namespace heddle::routing {
namespace {

/// Each costs a walk over the whole graph of dependencies: what is not decided after so many stays as it is.
constexpr std::size_t most_walks = 64;

constexpr std::uint32_t nobody = 0xffffffffU;

class Search {
 public:
  Search(const UpdateOrder& order, const ForwardingTables& before, const ForwardingTables& after)
      : order_{order},
        before_{before},
        after_{after},
        map_{order.graph},
        is_up_{hops_over(order.graph, order.up)},
        now_{order.graph},
        at_(before.stride(), nobody) {
    for (const Target& target : order.graph.targets()) {
      for (unsigned i = 0; i < target.lid_count(); ++i) {
        const std::size_t lid = std::size_t{target.base.raw()} + i;
        if (lid < at_.size()) at_[lid] = target.at.raw();
      }
    }
  }

  std::vector<Lid> find(std::span<const BlockRef> differing) {
    for (std::size_t lid = 1; lid < at_.size(); ++lid) {
      if (at_[lid] == nobody) add(Lid{static_cast<std::uint16_t>(lid)}, {&before_}, now_);
    }
    if (!turns_by_itself_) return {};
    for (std::size_t lid = 1; lid < at_.size(); ++lid) {
      if (at_[lid] != nobody) add(Lid{static_cast<std::uint16_t>(lid)}, {&before_}, now_);
    }
    if (!now_.find_cycle().empty()) return {};
    const std::set<Lid> changed = changed_in(differing);
    const std::vector<Lid> lids(changed.begin(), changed.end());
    take(lids);
    return std::move(closing_);
  }

 private:
  [[nodiscard]] std::set<Lid> changed_in(std::span<const BlockRef> differing) const {
    std::set<Lid> changed;
    for (const BlockRef& at : differing) {
      for (std::size_t i = 0; i < lids_per_block; ++i) {
        const Lid lid{static_cast<std::uint16_t>(at.block * lids_per_block + i)};
        if (lid.raw() < at_.size() && at_[lid.raw()] != nobody &&
            before_.port(at.sw, lid) != after_.port(at.sw, lid))
          changed.insert(lid);
      }
    }
    return changed;
  }

  /// All mixtures of these tables.
  void add(Lid lid, const std::vector<const ForwardingTables*>& tables, Dependencies& into) {
    for (std::uint32_t s = 0; s < order_.graph.size(); ++s) {
      if (s == at_[lid.raw()]) continue;
      for (const ForwardingTables* const first : tables) {
        const std::uint32_t hop = map_.hop(s, first->port(SwitchIndex{s}, lid).raw());
        if (hop == HopMap::none || is_up_[hop] == 0 || map_.peer(hop) == at_[lid.raw()]) continue;
        for (const ForwardingTables* const second : tables) {
          const std::uint32_t over = map_.peer(hop);
          const std::uint32_t next = map_.hop(over, second->port(SwitchIndex{over}, lid).raw());
          if (next == HopMap::none || is_up_[next] == 0) continue;
          into.add(hop, next, lid);
          if (at_[lid.raw()] == nobody) turns_by_itself_ = turns_by_itself_ || !is_in_order(s, hop, next);
        }
      }
    }
  }
  [[nodiscard]] bool is_in_order(std::uint32_t from, std::uint32_t hop, std::uint32_t next) const {
    const SwitchIndex over{map_.peer(hop)};
    const SwitchIndex to{map_.peer(next)};
    return !order_.ranks.above(SwitchIndex{from}, over) || order_.ranks.above(over, to) ||
           order_.mends.turns(SwitchIndex{from}, over, to);
  }

  void take(std::span<const Lid> lids) {
    if (lids.empty()) return;
    Dependencies with = now_;
    const bool decides = ++trials_ <= most_walks;
    if (decides) {
      for (const Lid lid : lids) add(lid, {&before_, &after_}, with);
    }
    if (decides && with.find_cycle().empty()) {
      now_ = std::move(with);
    } else if (decides && lids.size() > 1) {
      take(lids.first(lids.size() / 2));
      take(lids.subspan(lids.size() / 2));
    } else {
      closing_.insert(closing_.end(), lids.begin(), lids.end());
    }
  }

  const UpdateOrder& order_;
  const ForwardingTables& before_;
  const ForwardingTables& after_;
  HopMap map_;
  std::vector<char> is_up_;  ///< by hop
  Dependencies now_;
  std::vector<std::uint32_t> at_;  ///< by LID: the switch where it is
  bool turns_by_itself_ = false;   ///< strangers do, as the order does not allow
  std::size_t trials_ = 0;
  std::vector<Lid> closing_;
};

}  // namespace

std::vector<Lid> circles_with_strangers(const UpdateOrder& order, const ForwardingTables& before,
                                        const ForwardingTables& after, std::span<const BlockRef> differing) {
  return Search(order, before, after).find(differing);
}

}  // namespace heddle::routing
