#include "health/route_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/disjoint_sets.h"
#include "fabric/links.h"
#include "routing/proof.h"

namespace heddle::health {
namespace {

using routing::Fault;
using routing::SwitchGraph;
using routing::SwitchIndex;

/// Of a kind of fault, before places are told apart.
constexpr std::size_t most_refuted = 64;

/// Whether the same cable was Active in another snapshot.
bool was_active(const Fabric& fabric, const Link& link, const Fabric& before) {
  const PortIndex a = before.find_port(fabric.ref(link.a));
  const PortIndex b = before.find_port(fabric.ref(link.b));
  if (a == no_port || b == no_port || before.port(a).link == no_link) return false;
  return before.port(a).link == before.port(b).link && is_active(before, before.link(before.port(a).link));
}

struct ActiveLinks {
  routing::LinkSet throughout;  ///< before, and at the end
  /// Links of hosts throughout; between switches those that were Active at one time or the other: a table
  /// that led over them may have been read then.
  routing::LinkSet allowed;
};

ActiveLinks active_links(const Fabric& fabric, const Fabric& before) {
  ActiveLinks links{routing::LinkSet::none(fabric), routing::LinkSet::none(fabric)};
  for (std::uint32_t i = 0; i < fabric.links().size(); ++i) {
    const Link& link = fabric.links()[i];
    const bool is = is_active(fabric, link);
    const bool was = was_active(fabric, link, before);
    if (is && was) links.throughout.insert(LinkIndex{i});
    if ((is && was) || (joins_switches(fabric, link) && (is || was))) links.allowed.insert(LinkIndex{i});
  }
  return links;
}

/// Switches that no active link joins to the piece with most hosts.
std::vector<SwitchIndex> apart(const SwitchGraph& graph, const routing::LinkSet& active) {
  DisjointSets pieces(graph.size());
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    for (const routing::Hop& hop : graph.hops(SwitchIndex{s})) {
      if (active.contains(hop.link)) pieces.join(s, hop.peer.raw());
    }
  }
  std::vector<std::size_t> hosts(graph.size());
  for (std::uint32_t s = 0; s < graph.size(); ++s) hosts[pieces.find(s)] += graph.hosts_at(SwitchIndex{s});
  const auto main = static_cast<std::uint32_t>(std::ranges::max_element(hosts) - hosts.begin());
  std::vector<SwitchIndex> others;
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    if (pieces.find(s) != main) others.emplace_back(s);
  }
  return others;
}

/// The same place for the same fault, wherever the proof met it first.
PortRef place_of(const routing::Finding& found, const Fabric& fabric, const SwitchGraph& graph) {
  const auto at = [&](const routing::Step& step) {
    const NodeIndex node = graph.node(step.sw);
    const bool has = step.out.raw() <= fabric.node(node).port_count;
    return PortRef{fabric.node(node).guid, has ? step.out : PortNum{0}};
  };
  if (found.fault == Fault::NoPath) return {graph.guid(found.steps.back().sw), PortNum{0}};
  if (found.fault == Fault::DeadEnd) return at(found.steps.back());
  PortRef least = at(found.steps.front());
  for (const routing::Step& step : found.steps) least = std::min(least, at(step));
  return least;
}

std::string words(const routing::Finding& found, std::size_t more) {
  const std::string lids = fmt::format("LID {}{}", found.destination.raw(), more > 0 ? " and others" : "");
  switch (found.fault) {
    case Fault::NoPath:
      return fmt::format("packets to {} come here, and no entry leads on", lids);
    case Fault::DeadEnd:
      return fmt::format("packets to {} are led out here, and do not arrive by that", lids);
    case Fault::Loop:
      return fmt::format("packets to {} run in a circle of {} switches", lids, found.steps.size());
    case Fault::Deadlock:
      break;
  }
  return fmt::format(
      "routes wait for one another in a circle of {} links: full buffers may never empty, if all traffic is "
      "on one VL",
      found.steps.size());
}

Finding finding_of(const routing::Finding& found, const PortRef& at, std::size_t more) {
  Finding finding;
  finding.rule = Rule::RefutedRoutes;
  // Who keeps VLs apart by service levels breaks circles that tables alone have.
  finding.sureness = found.fault == Fault::Deadlock ? Sureness::Likely : Sureness::Sure;
  finding.at = at;
  finding.what = words(found, more);
  finding.advice =
      found.fault == Fault::Deadlock
          ? "have whoever routes use an engine that is free of deadlock on one VL (updn, ftree, or the "
            "plugin's), or one that keeps VLs apart; then health.off = [\"refuted-routes\"] hides the rule"
          : "see what the log of the subnet manager says, and have it sweep anew; somebody else may write "
            "tables, too";
  return finding;
}

}  // namespace

std::vector<Finding> judge_routes(const Fabric& fabric, const Fabric& before,
                                  const routing::ForwardingTables& tables) {
  const auto graph = SwitchGraph::make(fabric);
  if (!graph || graph->size() == 0) return {};
  const ActiveLinks active = active_links(fabric, before);
  routing::ProofOptions options;
  options.active = &active.allowed;
  options.excused = apart(*graph, active.throughout);
  options.most_findings = most_refuted;
  const routing::Proof proof = routing::prove(*graph, tables, options);
  struct Place {
    const routing::Finding* first = nullptr;
    std::size_t count = 0;
  };
  std::map<std::pair<PortRef, Fault>, Place> places;
  for (const routing::Finding& found : proof.findings) {
    Place& place = places[{place_of(found, fabric, *graph), found.fault}];
    if (place.first == nullptr) place.first = &found;
    ++place.count;
  }
  std::vector<Finding> all;
  for (const auto& [where, place] : places) {
    const bool told = !all.empty() && all.back().at == where.first;
    if (!told) all.push_back(finding_of(*place.first, where.first, place.count - 1));
  }
  return all;
}

}  // namespace heddle::health
