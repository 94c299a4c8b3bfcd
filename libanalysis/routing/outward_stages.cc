#include "routing/outward_stages.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "routing/hop_map.h"

namespace heddle::routing {
namespace {

constexpr std::uint32_t not_reached = 0xffffffffU;

/// One LID's switches: when each of them is written.
class Outward {
 public:
  explicit Outward(const UpdateOrder& order)
      : order_{order},
        map_{order.graph},
        old_(order.graph.size()),
        new_(order.graph.size()),
        changed_(order.graph.size()),
        reached_(order.graph.size()),
        level_(order.graph.size()),
        after_(order.graph.size()) {}

  /// Whether all turns that mixtures make are allowed.
  bool plan(const Target& target, Lid lid, const ForwardingTables& before, const ForwardingTables& after,
            std::vector<std::vector<EntryWrite>>& stages) {
    load(target, lid, before, after);
    find_senders(target);
    bool all_allowed = find_levels();
    if (!all_allowed) {
      for (auto& senders : after_) senders.clear();
      (void)find_levels();
    }
    std::map<std::uint32_t, std::vector<EntryWrite>> by_level;
    for (std::uint32_t s = 0; s < changed_.size(); ++s) {
      if (changed_[s] == 0) continue;
      const bool waits = reached_[s] == 0 || !after_[s].empty();
      by_level[level_[s] != unknown ? level_[s] : not_reached].push_back(
          {SwitchIndex{s}, lid, after.port(SwitchIndex{s}, lid), waits ? Change::Loses : Change::Keeps});
    }
    if (stages.size() < by_level.size()) stages.resize(by_level.size());
    std::size_t stage = 0;
    for (const auto& [unused, writes] : by_level) {
      stages[stage].insert(stages[stage].end(), writes.begin(), writes.end());
      ++stage;
    }
    return all_allowed;
  }

 private:
  void load(const Target& target, Lid lid, const ForwardingTables& before, const ForwardingTables& after) {
    for (std::uint32_t s = 0; s < changed_.size(); ++s) {
      const SwitchIndex sw{s};
      changed_[s] = before.port(sw, lid) != after.port(sw, lid) ? 1 : 0;
      old_[s] = next(target, s, before.port(sw, lid));
      new_[s] = next(target, s, after.port(sw, lid));
    }
    std::fill(reached_.begin(), reached_.end(), std::uint8_t{0});
    reached_[target.at.raw()] = 1;
    std::vector<std::uint32_t> way;
    for (std::uint32_t s = 0; s < changed_.size(); ++s) {
      way.clear();
      std::uint32_t at = s;
      while (at != not_reached && reached_[at] == 0 && way.size() <= changed_.size()) {
        way.push_back(at);
        at = new_[at];
      }
      if (at == not_reached || reached_[at] == 0) continue;
      for (const std::uint32_t each : way) reached_[each] = 1;
    }
  }

  [[nodiscard]] std::uint32_t next(const Target& target, std::uint32_t s, PortNum out) const {
    if (s == target.at.raw()) return not_reached;
    const std::uint32_t hop = map_.hop(s, out.raw());
    return hop == HopMap::none ? not_reached : map_.peer(hop);
  }

  /// By switch, those that send it packets, are written too, and whose packets it must not turn. Who of these
  /// has no path any more comes after those that send it packets.
  void find_senders(const Target& target) {
    for (auto& senders : after_) senders.clear();
    std::vector<std::uint32_t> ending;
    for (std::uint32_t s = 0; s < changed_.size(); ++s) {
      const std::uint32_t over = old_[s];
      if (changed_[s] == 0 || over == not_reached || over == target.at.raw()) continue;
      if (changed_[over] == 0 || reached_[over] == 0 || is_allowed(s, over, new_[over])) continue;
      after_[over].push_back(s);
      if (reached_[s] == 0) ending.push_back(s);
    }
    for (std::size_t i = 0; i < ending.size(); ++i) {
      for (std::uint32_t s = 0; s < changed_.size(); ++s) {
        if (changed_[s] == 0 || old_[s] != ending[i]) continue;
        after_[ending[i]].push_back(s);
        if (reached_[s] == 0 && std::ranges::find(ending, s) == ending.end()) ending.push_back(s);
      }
    }
  }
  [[nodiscard]] bool is_allowed(std::uint32_t from, std::uint32_t over, std::uint32_t to) const {
    const SwitchIndex middle{over};
    const bool turns_up =
        order_.ranks.above(SwitchIndex{from}, middle) && order_.ranks.above(SwitchIndex{to}, middle);
    return !turns_up || order_.mends.turns(SwitchIndex{from}, middle, SwitchIndex{to});
  }

  /// False if switches wait for each other.
  bool find_levels() {
    std::fill(level_.begin(), level_.end(), unknown);
    for (std::uint32_t s = 0; s < changed_.size(); ++s) {
      if (reached_[s] != 0 && !level(s)) return false;
    }
    return true;
  }
  std::optional<std::uint32_t> level(std::uint32_t s) {
    if (level_[s] == in_hand) return std::nullopt;
    if (level_[s] != unknown) return level_[s];
    level_[s] = in_hand;
    std::uint32_t found = 0;
    if (reached_[s] != 0 && new_[s] != not_reached) {
      const auto behind = level(new_[s]);
      if (!behind) return std::nullopt;
      found = *behind + changed_[new_[s]];
    }
    for (const std::uint32_t sender : after_[s]) {
      const auto first = level(sender);
      if (!first) return std::nullopt;
      found = std::max(found, *first + 1);
    }
    level_[s] = found;
    return found;
  }

  static constexpr std::uint32_t unknown = 0xffffffffU;
  static constexpr std::uint32_t in_hand = 0xfffffffeU;

  const UpdateOrder& order_;
  HopMap map_;
  std::vector<std::uint32_t> old_;  ///< by switch, the one that its entry leads to
  std::vector<std::uint32_t> new_;
  std::vector<std::uint8_t> changed_;
  std::vector<std::uint8_t> reached_;  ///< the new entry leads to the destination
  std::vector<std::uint32_t> level_;
  std::vector<std::vector<std::uint32_t>> after_;
};

}  // namespace

OutwardStages outward_stages(const UpdateOrder& order, const ForwardingTables& before,
                             const ForwardingTables& after, std::span<const Lid> lids) {
  OutwardStages result;
  if (lids.empty()) return result;
  Outward outward(order);
  for (const Target& target : order.graph.targets()) {
    for (unsigned i = 0; i < target.lid_count(); ++i) {
      const Lid lid{static_cast<std::uint16_t>(target.base.raw() + i)};
      if (std::find(lids.begin(), lids.end(), lid) == lids.end()) continue;
      if (!outward.plan(target, lid, before, after, result.stages)) result.turning.push_back(lid);
    }
  }
  return result;
}

}  // namespace heddle::routing
