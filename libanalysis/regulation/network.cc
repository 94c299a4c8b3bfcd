#include "regulation/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "fabric/unique_names.h"

namespace heddle::regulation {

using routing::Hop;
using routing::LegalPaths;
using routing::LinkSet;
using routing::SwitchIndex;
using routing::Target;
using routing::TargetKind;

namespace {

/// No table could ever join them.
bool never_joined(const Network& network, SwitchIndex from, SwitchIndex to) {
  return network.full_paths().distance(from, to) == LegalPaths::far &&
         network.mends().find(from, to) == routing::Mends::none;
}

}  // namespace

Network::Network(std::shared_ptr<const Fabric> fabric, routing::UpDownRouter router)
    : fabric_{std::move(fabric)}, router_{std::move(router)} {
  const auto& g = graph();
  const std::size_t links = fabric_->links().size();
  trunk_of_.assign(links, no_trunk);
  up_hop_.assign(links, no_trunk);
  down_hop_.assign(links, no_trunk);
  for (const Link& link : fabric_->links()) capacity_.push_back(data_rate(link.width, link.speed).value());
  std::map<std::pair<SwitchIndex, SwitchIndex>, std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < g.size(); ++i) {
    const SwitchIndex s{i};
    auto position = static_cast<std::uint32_t>(g.first_hop(s));
    for (const Hop& hop : g.hops(s)) {
      const std::uint32_t at = position++;
      if (ranks().above(s, hop.peer)) {
        down_hop_[hop.link.raw()] = at;
        continue;
      }
      up_hop_[hop.link.raw()] = at;
      const auto [it, is_first] =
          numbers.try_emplace({s, hop.peer}, static_cast<std::uint32_t>(trunks_.size()));
      if (is_first) trunks_.push_back({hop.peer, s, {}});
      trunk_of_[hop.link.raw()] = it->second;
      trunks_[it->second].links.push_back(hop.link);
    }
  }
  host_position_.assign(g.size(), no_position);
  for (std::uint32_t i = 0; i < g.size(); ++i) {
    if (g.hosts_at(SwitchIndex{i}) == 0) continue;
    host_position_[i] = static_cast<std::uint32_t>(host_switches_.size());
    host_switches_.push_back(SwitchIndex{i});
  }
  excused_.assign(g.size(), 0);
}

void Network::excuse(const std::vector<SwitchIndex>& switches) {
  excused_.assign(excused_.size(), 0);
  for (const SwitchIndex s : switches) excused_[s.raw()] = 1;
}

Result<std::unique_ptr<Network>> Network::make(std::shared_ptr<const Fabric> reference,
                                               const NetworkOptions& options) {
  routing::UpDownOptions up_down;
  up_down.planes = options.planes;
  up_down.roots = options.roots;
  up_down.ranks = options.ranks;
  up_down.turns = options.turns;
  up_down.tables = options.tables;
  auto router = routing::UpDownRouter::make(*reference, up_down);
  if (!router) return fail(router.error());
  std::unique_ptr<Network> network{new Network(std::move(reference), std::move(*router))};
  for (const Lid lid : options.managers) {
    const auto targets = network->graph().targets();
    const auto it = std::find_if(targets.begin(), targets.end(), [&](const Target& target) {
      return lid >= target.base && lid.raw() < target.base.raw() + target.lid_count();
    });
    if (it == targets.end()) {
      return fail(ErrorCode::NotFound, fmt::format("no port has the manager's LID {}", lid.raw()));
    }
    auto& managers = network->managers_;
    if (std::find(managers.begin(), managers.end(), it->at) == managers.end()) managers.push_back(it->at);
  }
  for (const SwitchIndex manager : network->managers_) {
    auto& switches = network->never_led_.emplace_back();
    for (std::uint32_t i = 0; i < network->graph().size(); ++i) {
      const SwitchIndex s{i};
      if (never_joined(*network, manager, s) && never_joined(*network, s, manager)) switches.push_back(s);
    }
  }
  return network;
}

std::vector<std::pair<NodeGuid, std::uint16_t>> Network::ranks_by_guid() const {
  std::vector<std::pair<NodeGuid, std::uint16_t>> result;
  for (std::uint32_t i = 0; i < graph().size(); ++i) {
    result.emplace_back(graph().guid(SwitchIndex{i}), ranks().rank(SwitchIndex{i}));
  }
  return result;
}

const routing::ForwardingTables& Network::tables(const LinkSet& active, unsigned plane) {
  router_.route(plane, active);
  return router_.tables();
}

namespace {

std::string name(const Network& network, SwitchIndex s) {
  return unique_name(network.fabric(), network.graph().node(s));
}

}  // namespace

namespace {

/// Who reaches whom, by legal paths and by mends.
class Connections {
 public:
  Connections(const Network& network, const LegalPaths& paths, const LinkSet& active)
      : mends_{network.mends()}, paths_{paths}, leading_{mends_.leading(paths, &active)} {}

  [[nodiscard]] bool joined(SwitchIndex from, SwitchIndex to) const {
    if (paths_.distance(from, to) != LegalPaths::far) return true;
    const std::uint32_t mend = mends_.find(from, to);
    return mend != routing::Mends::none && leading_[mend] != 0;
  }

 private:
  const routing::Mends& mends_;
  const LegalPaths& paths_;
  std::vector<std::uint8_t> leading_;
};

}  // namespace

std::vector<SwitchIndex> out_of_sight(const Network& network, const std::vector<SwitchIndex>& never_led,
                                      const LinkSet& active) {
  std::vector<SwitchIndex> out = never_led;
  std::vector<bool> is_out(network.graph().size());
  for (const SwitchIndex s : out) is_out[s.raw()] = true;
  for (std::size_t before = 0; before != out.size();) {
    before = out.size();
    std::erase_if(out, [&](SwitchIndex s) {
      const auto hops = network.graph().hops(s);
      is_out[s.raw()] = std::none_of(hops.begin(), hops.end(), [&](const Hop& hop) {
        return active.contains(hop.link) && !is_out[hop.peer.raw()];
      });
      return !is_out[s.raw()];
    });
  }
  return out;
}

std::optional<std::string> broken_rule(const Network& network, const LegalPaths& paths,
                                       const LinkSet& active) {
  const auto hosts = network.host_switches();
  const Connections connections(network, paths, active);
  for (const SwitchIndex from : hosts) {
    if (network.is_excused(from)) continue;
    const auto row = paths.distance(from);
    for (const SwitchIndex to : hosts) {
      if (row[to.raw()] == LegalPaths::far && !network.is_excused(to) && !connections.joined(from, to))
        return fmt::format("no path from {} to {}", name(network, from), name(network, to));
    }
  }
  for (const SwitchIndex manager : network.manager_switches()) {
    for (std::uint32_t i = 0; i < network.graph().size(); ++i) {
      const SwitchIndex s{i};
      if (network.is_excused(s)) continue;
      for (const auto& [from, to] : {std::pair{manager, s}, std::pair{s, manager}}) {
        if (connections.joined(from, to) || never_joined(network, from, to)) continue;
        return fmt::format("no path between {} and the manager at {}", name(network, s),
                           name(network, manager));
      }
    }
  }
  for (std::size_t m = 0; m < network.never_led().size(); ++m) {
    auto out = out_of_sight(network, network.never_led()[m], active);
    std::erase_if(out, [&](SwitchIndex s) { return network.is_excused(s); });
    if (out.empty()) continue;
    return fmt::format("no directed route from the manager at {} to {}",
                       name(network, network.manager_switches()[m]), name(network, out.front()));
  }
  return std::nullopt;
}

std::optional<std::string> broken_rule(const Network& network, const LinkSet& active) {
  return broken_rule(network, LegalPaths(network.graph(), network.ranks(), &active), active);
}

std::size_t pairs_apart(const Network& network, const LinkSet& active) {
  const LegalPaths paths(network.graph(), network.ranks(), &active);
  const Connections connections(network, paths, active);
  std::size_t count = 0;
  const auto look = [&](SwitchIndex from, SwitchIndex to) {
    if (!network.is_excused(from) && !network.is_excused(to) && !connections.joined(from, to)) ++count;
  };
  for (const SwitchIndex from : network.host_switches()) {
    for (const SwitchIndex to : network.host_switches()) look(from, to);
  }
  for (const SwitchIndex manager : network.manager_switches()) {
    for (std::uint32_t i = 0; i < network.graph().size(); ++i) {
      look(manager, SwitchIndex{i});
      look(SwitchIndex{i}, manager);
    }
  }
  return count;
}

std::vector<PortRef> cut_off_hosts(const Network& network, const LinkSet& active) {
  const LegalPaths paths(network.graph(), network.ranks(), &active);
  const Connections connections(network, paths, active);
  std::vector<SwitchIndex> hosts(network.host_switches().begin(), network.host_switches().end());
  std::erase_if(hosts, [&](SwitchIndex s) { return network.is_excused(s); });
  // Those that a manager does not reach; of the others, those that most of the others do not reach.
  std::vector<std::uint8_t> is_cut(network.graph().size(), 0);
  std::vector<SwitchIndex> managed;
  for (const SwitchIndex s : hosts) {
    for (const SwitchIndex manager : network.manager_switches()) {
      if (!connections.joined(s, manager)) is_cut[s.raw()] = 1;
    }
    if (is_cut[s.raw()] == 0) managed.push_back(s);
  }
  for (const SwitchIndex s : managed) {
    const auto missing = std::count_if(managed.begin(), managed.end(),
                                       [&](SwitchIndex to) { return !connections.joined(s, to); });
    if (2 * static_cast<std::size_t>(missing) >= managed.size()) is_cut[s.raw()] = 1;
  }
  // Pairs that remain: the second of each.
  for (const SwitchIndex from : hosts) {
    for (const SwitchIndex to : hosts) {
      const bool apart = !connections.joined(from, to);
      if (apart && is_cut[from.raw()] == 0 && is_cut[to.raw()] == 0) is_cut[to.raw()] = 1;
    }
  }
  std::vector<PortRef> result;
  for (const Target& target : network.graph().targets()) {
    if (target.kind == TargetKind::Host && is_cut[target.at.raw()] != 0)
      result.push_back(network.fabric().ref(target.port));
  }
  return result;
}

}  // namespace heddle::regulation
