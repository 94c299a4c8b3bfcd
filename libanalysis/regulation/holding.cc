#include "regulation/holding.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "fabric/unique_names.h"

namespace heddle::regulation {
namespace {

using routing::Hop;
using routing::SwitchIndex;

/// The ways up of a switch that are on.
struct Bundle {
  std::size_t links = 0;
  double fullest = 0;  ///< of both planes, as a share of the limit
  double own = 0;      ///< in the plane in use
};

std::string rule_of(const Bundle& bundle, std::size_t ways_down, const SelectOptions& options) {
  if (bundle.links < 2 || ways_down < 2) return "every switch keeps a path to all hosts and managers";
  const double without = static_cast<double>(bundle.links) / static_cast<double>(bundle.links - 1);
  if (bundle.own * without > 1)
    return fmt::format("no link is to carry more than {:.0f} %", 100 * options.thresholds.u_on.value());
  if (bundle.fullest * without > 1)
    return fmt::format("no link is to carry more than {:.0f} % in the other LID plane either",
                       100 * options.thresholds.u_on.value());
  return "no set without them was found that keeps every rule";
}

}  // namespace

std::string held_by(const SelectionProblem& problem, const SelectOptions& options,
                    const Evaluation& evaluation, const routing::LinkSet& active,
                    const std::vector<double>& loads, const std::vector<double>& own) {
  const Network& network = *problem.network;
  const std::size_t n = network.graph().size();
  std::vector<Bundle> bundles(n);
  std::vector<std::size_t> ways_down(n, 0);
  for (const Trunk& trunk : network.trunks()) {
    for (const LinkIndex link : trunk.links) {
      if (!active.contains(link)) continue;
      Bundle& bundle = bundles[trunk.lower.raw()];
      ++bundle.links;
      ++ways_down[trunk.upper.raw()];
      for (const std::uint32_t hop : {network.up_hop(link), network.down_hop(link)}) {
        bundle.fullest = std::max(bundle.fullest, loads[hop] / evaluation.limit(hop));
        bundle.own = std::max(bundle.own, own[hop] / evaluation.limit(hop));
      }
    }
  }
  std::map<std::string, double> watts;
  double all = 0;
  for (const Trunk& trunk : network.trunks()) {
    for (const LinkIndex link : trunk.links) {
      if (!active.contains(link)) continue;
      const Link& cable = network.fabric().link(link);
      const double each = problem.power->link(network.fabric(), link, power::mode_of(cable)).value();
      const Exempt exempt = problem.exempt[link.raw()];
      const std::string rule = exempt != Exempt::No
                                   ? std::string{to_string(exempt)}
                                   : rule_of(bundles[trunk.lower.raw()],
                                             network.host_position(trunk.upper) == Network::no_position
                                                 ? ways_down[trunk.upper.raw()]
                                                 : 2,
                                             options);
      watts[rule] += each;
      all += each;
    }
  }
  if (watts.empty() || all <= 0) return {};
  const auto most = std::max_element(watts.begin(), watts.end(),
                                     [](const auto& x, const auto& y) { return x.second < y.second; });
  return fmt::format("{:.0f} % of what stays on is held by: {}", 100 * most->second / all, most->first);
}

std::string full_with_all(const SelectionProblem& problem, const SelectOptions& options,
                          const Selection& selection) {
  const Network& network = *problem.network;
  const double u_on = options.thresholds.u_on.value();
  const Trunk* fullest = nullptr;
  double most = u_on * (1 + 1e-6);
  std::size_t count = 0;
  if (selection.ceilings.empty()) return {};
  for (const Trunk& trunk : network.trunks()) {
    double highest = 0;
    for (const LinkIndex link : trunk.links)
      highest = std::max(
          {highest, selection.ceilings[network.up_hop(link)], selection.ceilings[network.down_hop(link)]});
    if (highest <= u_on * (1 + 1e-6)) continue;
    ++count;
    if (highest <= most) continue;
    most = highest;
    fullest = &trunk;
  }
  if (fullest == nullptr) return {};
  const auto name = [&](SwitchIndex s) { return unique_name(network.fabric(), network.graph().node(s)); };
  return fmt::format(
      "{} of {} trunks have a link above {:.0f} % also with all links on, {} -- {} at {:.0f} %; ", count,
      network.trunks().size(), 100 * u_on, name(fullest->lower), name(fullest->upper), 100 * most);
}

}  // namespace heddle::regulation
