#include "routing/kept_turns.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "routing/hop_map.h"

namespace heddle::routing {
namespace {

/// By from, over and to; how many LIDs make it.
using Counted = std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::size_t>;

/// Each makes all mends anew: turns that are not decided after so many are not kept.
constexpr std::size_t most_mendings = 32;

/// In pairs of switches.
struct Apart {
  std::size_t hosts = 0;  ///< both have hosts
  std::size_t all = 0;    ///< one has, at least: managers ask a switch without hosts by its LID, too
};

Apart apart(const SwitchGraph& graph, const Mends& mends) {
  return {hosts_apart(graph, mends), mends.left().size()};
}

/// Keeps as many turns as leave nobody apart.
class TurnKeeper {
 public:
  TurnKeeper(const SwitchGraph& graph, const Ranks& ranks, const LegalPaths& full)
      : graph_{graph}, ranks_{ranks}, full_{full}, mends_{graph, ranks, full} {
    most_apart_ = apart(graph, mends_);
  }

  void take(std::span<const Turn> turns) {
    if (trials_ == most_mendings) return;
    ++trials_;
    std::vector<Turn> with = kept_;
    with.insert(with.end(), turns.begin(), turns.end());
    Mends mends(graph_, ranks_, full_, with);
    const Apart now = apart(graph_, mends);
    if (now.hosts <= most_apart_.hosts && now.all <= most_apart_.all) {
      kept_ = std::move(with);
      mends_ = std::move(mends);
    } else if (turns.size() > 1) {
      take(turns.first(turns.size() / 2));
      take(turns.subspan(turns.size() / 2));
    }
  }
  Mends&& mends() && { return std::move(mends_); }

 private:
  const SwitchGraph& graph_;
  const Ranks& ranks_;
  const LegalPaths& full_;
  Mends mends_;
  Apart most_apart_;
  std::vector<Turn> kept_;
  std::size_t trials_ = 0;
};

}  // namespace

std::vector<KeptTurn> standing_turns(const SwitchGraph& graph, const Ranks& ranks,
                                     const ForwardingTables& tables) {
  const HopMap map{graph};
  std::vector<char> descends(graph.hop_count(), 0);
  for (std::uint32_t h = 0; h < descends.size(); ++h)
    descends[h] = ranks.above(SwitchIndex{map.from(h)}, SwitchIndex{map.peer(h)}) ? 1 : 0;
  Counted turns;
  for (const Target& target : graph.targets()) {
    for (unsigned i = 0; i < target.lid_count(); ++i) {
      const Lid lid{static_cast<std::uint16_t>(target.base.raw() + i)};
      for (std::uint32_t s = 0; s < graph.size(); ++s) {
        const std::uint32_t by = map.hop(s, tables.port(SwitchIndex{s}, lid).raw());
        if (s == target.at.raw() || by == HopMap::none || descends[by] == 0) continue;
        const std::uint32_t over = map.peer(by);
        const std::uint32_t next = map.hop(over, tables.port(SwitchIndex{over}, lid).raw());
        if (over == target.at.raw() || next == HopMap::none || descends[next] != 0) continue;
        ++turns[{s, over, map.peer(next)}];
        if (turns.size() > most_kept_turns) return {};
      }
    }
  }
  std::vector<std::pair<std::size_t, KeptTurn>> ordered;
  for (const auto& [turn, lids] : turns) {
    const auto& [from, over, to] = turn;
    ordered.push_back(
        {lids, {graph.guid(SwitchIndex{from}), graph.guid(SwitchIndex{over}), graph.guid(SwitchIndex{to})}});
  }
  std::sort(ordered.begin(), ordered.end(), [](const auto& x, const auto& y) {
    return x.first != y.first ? x.first > y.first : x.second < y.second;
  });
  std::vector<KeptTurn> kept;
  for (const auto& [lids, turn] : ordered) kept.push_back(turn);
  return kept;
}

std::vector<Turn> turns_of(const SwitchGraph& graph, const std::vector<KeptTurn>& kept) {
  if (kept.empty()) return {};
  std::unordered_map<NodeGuid, SwitchIndex> by_guid;
  for (std::uint32_t s = 0; s < graph.size(); ++s)
    by_guid.emplace(graph.guid(SwitchIndex{s}), SwitchIndex{s});
  std::vector<Turn> turns;
  for (const KeptTurn& turn : kept) {
    const auto from = by_guid.find(turn.from);
    const auto over = by_guid.find(turn.over);
    const auto to = by_guid.find(turn.to);
    if (from != by_guid.end() && over != by_guid.end() && to != by_guid.end())
      turns.push_back({from->second, over->second, to->second});
  }
  return turns;
}

std::size_t hosts_apart(const SwitchGraph& graph, const Mends& mends) {
  return static_cast<std::size_t>(std::count_if(
      mends.left().begin(), mends.left().end(),
      [&](const auto& pair) { return graph.hosts_at(pair.first) != 0 && graph.hosts_at(pair.second) != 0; }));
}

Mends mends_with(const SwitchGraph& graph, const Ranks& ranks, const LegalPaths& full,
                 std::span<const Turn> turns) {
  if (turns.empty()) return {graph, ranks, full};
  Mends all{graph, ranks, full, turns};
  if (all.left().empty()) return all;
  TurnKeeper keeper(graph, ranks, full);
  keeper.take(turns);
  return std::move(keeper).mends();
}

}  // namespace heddle::routing
