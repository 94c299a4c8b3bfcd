#include "regulation/selector.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "regulation/general_search.h"
#include "regulation/holding.h"
#include "regulation/trunk_policy.h"
#include "regulation/trunk_settling.h"

namespace heddle::regulation {
namespace {

using routing::LinkSet;

double percent(double ratio) { return 100 * ratio; }

bool carries(const SelectionProblem& problem, LinkIndex link) {
  return problem.network->trunk_of(link) != Network::no_trunk && problem.available->contains(link);
}

/// Cheapest mode in which a link that stays active still has room. A link that is reduced already stays so up
/// to u_on; another is reduced only below u_off.
power::LinkMode choose_mode(const SelectionProblem& problem, const SelectOptions& options, LinkIndex link,
                            double load) {
  const Fabric& fabric = problem.network->fabric();
  const power::LinkMode full = power::mode_of(fabric.link(link));
  if (problem.exempt[link.raw()] != Exempt::No) return full;
  power::LinkMode best = full;
  Watts least = problem.power->link(fabric, link, full);
  for (const power::LinkMode mode : options.reductions) {
    const double rate = data_rate(mode.width, mode.speed).value();
    if (rate >= problem.network->capacity(link)) continue;
    const bool is_so = !problem.modes.empty() && problem.modes[link.raw()] == mode;
    const double most = is_so ? options.thresholds.u_on.value() : options.thresholds.u_off.value();
    const Watts watts = problem.power->link(fabric, link, mode);
    if (load < most * rate && watts < least) {
      best = mode;
      least = watts;
    }
  }
  return best;
}

/// Loads known only by measurement: what a trunk carries is divided evenly over the links that it keeps.
std::vector<double> redistributed(const SelectionProblem& problem, const LinkSet& active) {
  const Network& network = *problem.network;
  std::vector<double> loads(network.graph().hop_count(), 0);
  for (const Trunk& trunk : network.trunks()) {
    double up = 0;
    double down = 0;
    double capacity = 0;
    for (const LinkIndex link : trunk.links) {
      const double link_up = problem.loads->hop[network.up_hop(link)];
      const double link_down = problem.loads->hop[network.down_hop(link)];
      if (!std::isnan(link_up)) up += link_up;
      if (!std::isnan(link_down)) down += link_down;
      if (active.contains(link)) capacity += network.capacity(link);
    }
    if (capacity <= 0) continue;
    for (const LinkIndex link : trunk.links) {
      if (!active.contains(link)) continue;
      loads[network.up_hop(link)] = up * network.capacity(link) / capacity;
      loads[network.down_hop(link)] = down * network.capacity(link) / capacity;
    }
  }
  return loads;
}

std::string general_reason(const SelectionProblem& problem, const SelectOptions& options, LinkIndex link,
                           bool on, double busiest, double load) {
  const Network& network = *problem.network;
  const double u_on = options.thresholds.u_on.value();
  if (on) {
    return fmt::format("needed: would carry {:.0f} %; with it the most loaded link is at {:.0f} %",
                       percent(load / network.capacity(link)), percent(busiest));
  }
  const double up = problem.loads->hop[network.up_hop(link)];
  const double down = problem.loads->hop[network.down_hop(link)];
  const double use = std::max(std::isnan(up) ? 0 : up, std::isnan(down) ? 0 : down) / network.capacity(link);
  const std::string most = busiest <= u_on ? fmt::format("below {:.0f} %", percent(u_on))
                                           : "which other links would not make less";
  return fmt::format(
      "carries {:.0f} %; without it every rule holds and the most loaded link is at {:.0f} %, {}",
      percent(use), percent(busiest), most);
}

void decide_modes(const SelectionProblem& problem, const SelectOptions& options,
                  const std::vector<double>& loads, Selection& selection) {
  const Network& network = *problem.network;
  const Fabric& fabric = network.fabric();
  for (std::uint32_t i = 0; i < fabric.links().size(); ++i) {
    const LinkIndex link{i};
    const power::LinkMode full = power::mode_of(fabric.link(link));
    if (network.trunk_of(link) == Network::no_trunk) {
      selection.modes.push_back(full);
      continue;
    }
    if (!selection.active.contains(link)) {
      selection.modes.push_back(power::off_mode);
      continue;
    }
    const double load = std::max(loads[network.up_hop(link)], loads[network.down_hop(link)]);
    const power::LinkMode mode = choose_mode(problem, options, link, load);
    selection.modes.push_back(mode);
    if (problem.modes.empty() || !problem.current->contains(link) || problem.modes[i] == mode) continue;
    const double rate = data_rate(mode.width, mode.speed).value();
    const bool slower = rate < data_rate(problem.modes[i].width, problem.modes[i].speed).value();
    selection.decisions.push_back(
        {link, slower ? Turn::Reduce : Turn::Widen, mode,
         fmt::format("{:.0f} % of {}; in {} it is at {:.0f} %", percent(load / network.capacity(link)),
                     power::to_string(full), power::to_string(mode), percent(load / rate))});
  }
}

/// Of what each hop carries in the mode that its link was given.
std::vector<double> shares(const SelectionProblem& problem, const Selection& selection,
                           const std::vector<double>& loads) {
  const Network& network = *problem.network;
  std::vector<double> result(loads.size(), 0);
  for (const Trunk& trunk : network.trunks()) {
    for (const LinkIndex link : trunk.links) {
      if (!selection.active.contains(link)) continue;
      const power::LinkMode mode = selection.modes[link.raw()];
      const double rate = data_rate(mode.width, mode.speed).value();
      for (const std::uint32_t hop : {network.up_hop(link), network.down_hop(link)})
        result[hop] = rate > 0 ? loads[hop] / rate : 0;
    }
  }
  return result;
}

void sum_up(const SelectionProblem& problem, const SelectOptions& options, const std::vector<double>& loads,
            std::span<const double> limits, Selection& selection) {
  const Network& network = *problem.network;
  const Fabric& fabric = network.fabric();
  for (std::uint32_t i = 0; i < fabric.links().size(); ++i) {
    const LinkIndex link{i};
    if (!carries(problem, link)) continue;
    selection.all_on_watts += problem.power->link(fabric, link, power::mode_of(fabric.link(link)));
    if (selection.active.contains(link))
      selection.watts += problem.power->link(fabric, link, selection.modes[i]);
  }
  selection.predicted = shares(problem, selection, loads);
  for (const double share : selection.predicted) selection.busiest = std::max(selection.busiest, share);
  selection.least_watts = least_power(problem, options, limits);
}

/// `with_all`: bit/s with all links on; empty: not known.
std::vector<double> ceilings(const SelectionProblem& problem, const SelectOptions& options,
                             std::span<const double> with_all) {
  std::vector<double> shares(with_all.begin(), with_all.end());
  const Network& network = *problem.network;
  for (const Trunk& trunk : network.trunks()) {
    for (const LinkIndex link : trunk.links) {
      if (shares.empty()) continue;
      for (const std::uint32_t hop : {network.up_hop(link), network.down_hop(link)})
        shares[hop] = std::max(options.thresholds.u_on.value(), shares[hop] / network.capacity(link));
    }
  }
  return shares;
}

/// What is to change, by the general policy.
void decide_links(const SelectionProblem& problem, const SelectOptions& options,
                  const std::vector<double>& loads, Selection& selection) {
  LinkSet::for_each_difference(*problem.current, selection.active, [&](LinkIndex link) {
    if (problem.network->trunk_of(link) == Network::no_trunk) return;
    const bool on = selection.active.contains(link);
    const double load =
        std::max(loads[problem.network->up_hop(link)], loads[problem.network->down_hop(link)]);
    selection.decisions.push_back({link, on ? Turn::On : Turn::Off, selection.modes[link.raw()],
                                   general_reason(problem, options, link, on, selection.busiest, load)});
  });
}

Result<Selection> select_general(const SelectionProblem& problem, const SelectOptions& options) {
  GeneralSearch search{problem, options};
  auto found = search.run();
  if (!found) {
    const auto rule = broken_rule(*problem.network, *problem.available);
    return fail(ErrorCode::Refused,
                fmt::format("with all links that are available: {}", rule.value_or("a rule is broken")));
  }
  Selection selection;
  selection.active = std::move(found->active);
  decide_modes(problem, options, found->loads, selection);
  sum_up(problem, options, found->loads, search.evaluation().ceilings(), selection);
  selection.ceilings = ceilings(problem, options, search.with_all());
  decide_links(problem, options, found->loads, selection);
  selection.held = held_by(problem, options, search.evaluation(), selection.active, found->loads,
                           search.evaluation().own_loads(selection.active, found->loads));
  selection.note = full_with_all(problem, options, selection) + most_is_held(selection.held);
  return selection;
}

Result<Selection> select_by_trunks(const SelectionProblem& problem, const SelectOptions& options) {
  Evaluation evaluation{problem, options};
  std::vector<double> limits;
  std::vector<double> loads = problem.traffic == nullptr ? redistributed(problem, *problem.current)
                                                         : evaluation.table_loads(*problem.current);
  TrunkChoice choice = choose_by_trunks(problem, options, loads);
  if (problem.traffic == nullptr) {
    loads = redistributed(problem, choice.active);
  } else {
    evaluation.allow(fullest_of_trunk(*problem.network, loads));
    limits.assign(evaluation.ceilings().begin(), evaluation.ceilings().end());
    loads = settle_trunks(problem, evaluation, choice);
  }
  Selection selection;
  selection.active = std::move(choice.active);
  selection.decisions = std::move(choice.decisions);
  decide_modes(problem, options, loads, selection);
  sum_up(problem, options, loads, limits, selection);
  selection.ceilings = ceilings(problem, options, limits);
  return selection;
}

}  // namespace

Selection selection_of(const SelectionProblem& problem, const SelectOptions& options, LinkSet active,
                       const std::vector<double>& loads) {
  Evaluation evaluation{problem, options};
  if (const auto spread = evaluation.loads(*problem.available))
    evaluation.allow(fullest_of_trunk(*problem.network, *spread));
  const std::vector<double> with_all =
      fullest_of_trunk(*problem.network, evaluation.table_loads(*problem.available));
  evaluation.allow(with_all);
  Selection selection;
  selection.active = std::move(active);
  decide_modes(problem, options, loads, selection);
  sum_up(problem, options, loads, evaluation.ceilings(), selection);
  selection.ceilings = ceilings(problem, options, with_all);
  decide_links(problem, options, loads, selection);
  return selection;
}

double current_capacity(const SelectionProblem& problem, LinkIndex link) {
  if (problem.modes.empty() || !problem.modes[link.raw()].on()) return problem.network->capacity(link);
  return data_rate(problem.modes[link.raw()].width, problem.modes[link.raw()].speed).value();
}

Result<void> check(const Thresholds& thresholds) {
  const double u_off = thresholds.u_off.value();
  const double u_on = thresholds.u_on.value();
  if (!(u_off > 0 && u_off < 1 && u_on > 0 && u_on <= 1)) {
    return fail(ErrorCode::Invalid,
                fmt::format("u_off {} and u_on {}: both are shares of a link's capacity, above 0 and up to 1",
                            u_off, u_on));
  }
  // u_off n / (n - 1) < u_on is tightest for two links (paper, section 4.3.1).
  if (2 * u_off >= u_on) {
    return fail(
        ErrorCode::Invalid,
        fmt::format("u_off {} leaves no room: when one of two links is turned off the other is at {}, "
                    "which must stay below u_on {}; set u_off below {}",
                    u_off, 2 * u_off, u_on, u_on / 2));
  }
  return {};
}

Result<Selection> select_links(const SelectionProblem& problem, const SelectOptions& options) {
  return options.policy == SelectPolicy::Trunk ? select_by_trunks(problem, options)
                                               : select_general(problem, options);
}

}  // namespace heddle::regulation
