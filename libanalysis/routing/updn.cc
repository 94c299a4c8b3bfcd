#include "routing/updn.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <unordered_map>
#include <utility>

#include "routing/balance.h"
#include "routing/choose_ranks.h"
#include "routing/detour.h"
#include "routing/home.h"

namespace heddle::routing {
namespace {

Result<ChosenOrder> make_ranks(const SwitchGraph& graph, const Destinations& destinations, const LinkSet& all,
                               const UpDownOptions& options) {
  if (options.ranks.empty()) {
    if (options.roots.empty()) return choose_ranks(graph, destinations, all);
    auto ranks = rank_from_roots(graph, options.roots);
    if (!ranks) return fail(ranks.error());
    return ChosenOrder{std::move(*ranks), std::nullopt};
  }
  const std::unordered_map<NodeGuid, std::uint16_t> given(options.ranks.begin(), options.ranks.end());
  std::vector<std::uint16_t> rank;
  for (const NodeGuid guid : graph.guids()) {
    const auto it = given.find(guid);
    if (it == given.end()) {
      return fail(ErrorCode::Invalid,
                  fmt::format("no rank is given for switch {}; ranks must name every switch or be left out",
                              to_string(guid)));
    }
    rank.push_back(it->second);
  }
  return ChosenOrder{Ranks(graph, std::move(rank)), std::nullopt};
}

}  // namespace

struct UpDownRouter::State {
  struct Plane {
    LinkSet active;
    LegalPaths paths;
  };

  SwitchGraph graph;
  Destinations destinations;
  Ranks ranks;
  LegalPaths full;
  Mends mends;
  ForwardingTables home;
  ForwardingTables tables;
  std::vector<Plane> planes;

  State(SwitchGraph g, Destinations d, ChosenOrder order, const UpDownOptions& options)
      : graph{std::move(g)},
        destinations{std::move(d)},
        ranks{std::move(order.ranks)},
        full{graph, ranks, nullptr},
        mends{order.made ? std::move(order.made->mends)
                         : mends_with(graph, ranks, full, turns_of(graph, options.turns))},
        home{graph} {
    if (options.tables == TablesWanted::No) return;
    home = order.made ? std::move(order.made->chains) : home_by_chains(graph, destinations, ranks, full);
  }

  void make_home(const LinkSet& all) {
    if (is_regular_tree(graph, ranks)) return mend_home(topology(), all, home);
    const unsigned rounds = balance_rounds(graph, destinations);
    ForwardingTables chains = home;
    const double largest = balance(topology(), rounds, home);
    mend_home(topology(), all, home);
    if (rounds != 0 && !is_near_bound(graph, largest))
      spare_chains(topology(), all, rounds, std::move(chains), home);
  }

  [[nodiscard]] FullTopology topology() const { return {graph, destinations, ranks, full, mends}; }

  /// `wanted`: of each ordered pair of switches whether it is looked at.
  template <class Wanted>
  [[nodiscard]] std::vector<std::pair<SwitchIndex, SwitchIndex>> apart(unsigned plane,
                                                                       const Wanted& wanted) const {
    const Plane& part = planes[plane];
    const std::vector<std::uint8_t> leading = mends.leading(part.paths, &part.active);
    std::vector<std::pair<SwitchIndex, SwitchIndex>> result;
    for (std::uint32_t x = 0; x < graph.size(); ++x) {
      const SwitchIndex from{x};
      const auto row = part.paths.distance(from);
      for (std::uint32_t d = 0; d < graph.size(); ++d) {
        const SwitchIndex to{d};
        if (row[d] != LegalPaths::far || !wanted(from, to)) continue;
        const std::uint32_t mend = mends.find(from, to);
        if (mend == Mends::none || leading[mend] == 0) result.emplace_back(from, to);
      }
    }
    return result;
  }
};

UpDownRouter::UpDownRouter(std::unique_ptr<State> state) : state_{std::move(state)} {}
UpDownRouter::UpDownRouter(UpDownRouter&&) noexcept = default;
UpDownRouter& UpDownRouter::operator=(UpDownRouter&&) noexcept = default;
UpDownRouter::~UpDownRouter() = default;

Result<UpDownRouter> UpDownRouter::make(const Fabric& fabric, const UpDownOptions& options) {
  if (options.planes < 1 || options.planes > 128 || !std::has_single_bit(options.planes)) {
    return fail(ErrorCode::Invalid,
                fmt::format("{} LID planes; there can be 1, 2, 4 and so on up to 128", options.planes));
  }
  auto graph = SwitchGraph::make(fabric);
  if (!graph) return fail(graph.error());
  Destinations destinations(*graph);
  const LinkSet all = LinkSet::all(fabric);
  auto order = make_ranks(*graph, destinations, all, options);
  if (!order) return fail(order.error());
  auto state =
      std::make_unique<State>(std::move(*graph), std::move(destinations), std::move(*order), options);
  if (options.tables == TablesWanted::Yes) state->make_home(all);
  state->tables = state->home;
  for (unsigned p = 0; p < options.planes; ++p) state->planes.push_back({all, state->full});
  return UpDownRouter(std::move(state));
}

const SwitchGraph& UpDownRouter::graph() const { return state_->graph; }
const Ranks& UpDownRouter::ranks() const { return state_->ranks; }
const ForwardingTables& UpDownRouter::tables() const { return state_->tables; }
const LinkSet& UpDownRouter::active(unsigned plane) const { return state_->planes[plane].active; }
unsigned UpDownRouter::planes() const { return static_cast<unsigned>(state_->planes.size()); }
const LegalPaths& UpDownRouter::paths(unsigned plane) const { return state_->planes[plane].paths; }
const LegalPaths& UpDownRouter::full_paths() const { return state_->full; }
const Mends& UpDownRouter::mends() const { return state_->mends; }

std::vector<BlockChange> UpDownRouter::update(const LinkSet& active) {
  std::map<BlockRef, BlockChange> all;
  for (unsigned p = 0; p < planes(); ++p) {
    for (const BlockChange& change : update(p, active)) all.emplace(change.at, change);
  }
  std::vector<BlockChange> result;
  for (const auto& [at, change] : all) {
    const auto now = state_->tables.block(at.sw, at.block);
    if (!std::equal(now.begin(), now.end(), change.before.begin())) result.push_back(change);
  }
  return result;
}

std::vector<BlockChange> UpDownRouter::update(unsigned plane, const LinkSet& active) {
  std::vector<BlockChange> result;
  route(plane, active, &result);
  return result;
}

void UpDownRouter::route(unsigned plane, const LinkSet& active) { route(plane, active, nullptr); }

void UpDownRouter::route(unsigned plane, const LinkSet& active, std::vector<BlockChange>* blocks) {
  State& state = *state_;
  State::Plane& part = state.planes[plane];
  std::vector<LinkIndex> changed;
  LinkSet::for_each_difference(part.active, active, [&](LinkIndex link) { changed.push_back(link); });
  if (changed.empty()) return;
  part.active = active;
  auto affected = part.paths.update(active, changed);
  add_host_links(state.graph, changed, affected);
  add_mends(state.graph, state.mends, affected);

  Detour detour(state.topology(), part.paths, part.active,
                {plane, static_cast<unsigned>(state.planes.size())});
  std::vector<std::size_t> saved(state.tables.blocks());  // 1 + position in `blocks`, of this switch
  for (const auto& [s, destinations] : affected) {
    detour.enter(s);
    const auto home = std::as_const(state.home).row(s);
    const auto row = state.tables.row(s);
    const std::size_t first = blocks == nullptr ? 0 : blocks->size();
    for (const SwitchIndex d : destinations) {
      for (const auto& [lid, port] : detour.changes(d, home, row)) {
        const std::size_t b = lid.raw() / lids_per_block;
        if (blocks != nullptr && saved[b] <= first) {
          blocks->emplace_back().at = {s, static_cast<std::uint16_t>(b)};
          std::memcpy(blocks->back().before.data(), &row[b * lids_per_block], lids_per_block);
          saved[b] = blocks->size();
        }
        row[lid.raw()] = port.raw();
      }
    }
    if (blocks == nullptr) continue;
    std::sort(blocks->begin() + static_cast<std::ptrdiff_t>(first), blocks->end(),
              [](const BlockChange& x, const BlockChange& y) { return x.at < y.at; });
  }
}

std::vector<std::pair<SwitchIndex, SwitchIndex>> UpDownRouter::unconnected(unsigned plane) const {
  const SwitchGraph& graph = state_->graph;
  return state_->apart(plane, [&](SwitchIndex from, SwitchIndex to) {
    return graph.hosts_at(from) != 0 && graph.hosts_at(to) != 0;
  });
}

std::vector<std::pair<SwitchIndex, SwitchIndex>> UpDownRouter::unmanaged(SwitchIndex manager,
                                                                         unsigned plane) const {
  return state_->apart(plane,
                       [&](SwitchIndex from, SwitchIndex to) { return from == manager || to == manager; });
}

std::vector<std::pair<NodeGuid, NodeGuid>> UpDownRouter::apart() const {
  std::vector<std::pair<NodeGuid, NodeGuid>> pairs;
  for (unsigned plane = 0; plane < planes(); ++plane) {
    for (const auto& [from, to] : unconnected(plane)) {
      pairs.emplace_back(graph().guid(from), graph().guid(to));
    }
  }
  std::ranges::sort(pairs);
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

}  // namespace heddle::routing
