#include "regulation/trunk_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "regulation/cage_bonus.h"
#include "regulation/other_ways.h"

namespace heddle::regulation {
namespace {

double in_percent(double ratio) { return 100 * ratio; }

power::LinkMode full_mode(const SelectionProblem& problem, LinkIndex link) {
  return power::mode_of(problem.network->fabric().link(link));
}

constexpr double more_than_expected = 1.05;

bool all_on(const SelectionProblem& problem, const Trunk& trunk) {
  return std::ranges::all_of(trunk.links, [&](LinkIndex link) {
    return problem.current->contains(link) || !problem.available->contains(link);
  });
}

/// What a load may be measured at that was predicted, as estimates may be wrong.
double with_margin(double predicted, const SelectOptions& options) {
  return predicted / (1 - options.margin.value());
}

/// Of the trunk's links; 0 where nothing is known.
BothWays fullest(const SelectionProblem& problem, const Trunk& trunk, std::span<const double> shares) {
  BothWays most;
  if (shares.empty()) return most;
  for (const LinkIndex link : trunk.links) {
    most.up = std::max(most.up, shares[problem.network->up_hop(link)]);
    most.down = std::max(most.down, shares[problem.network->down_hop(link)]);
  }
  return most;
}

bool is_above(const BothWays& shares, const BothWays& most) {
  return shares.up > most.up || shares.down > most.down;
}

/// Share of the time that packets wait for a link of the trunk; not where it is full whatever is on.
double blocked(const SelectionProblem& problem, const SelectOptions& options, const Trunk& trunk,
               const TrunkLoad& load) {
  const BothWays ceilings = fullest(problem, trunk, problem.ceilings);
  const auto is_full = [&](double ceiling) { return load.off.empty() && with_margin(ceiling, options) >= 1; };
  double most = 0;
  for (const LinkIndex link : load.on) {
    const double up = problem.loads->waiting[problem.network->up_hop(link)];
    const double down = problem.loads->waiting[problem.network->down_hop(link)];
    if (!std::isnan(up) && !is_full(ceilings.up)) most = std::max(most, up);
    if (!std::isnan(down) && !is_full(ceilings.down)) most = std::max(most, down);
  }
  return most;
}

}  // namespace

std::vector<LinkIndex> quickest_first(const SelectionProblem& problem, std::vector<LinkIndex> links) {
  if (!problem.wakes.empty()) {
    std::ranges::stable_sort(links, {}, [&](LinkIndex link) { return problem.wakes[link.raw()].wake; });
  }
  return links;
}

BothWays tolerated(const SelectionProblem& problem, const Trunk& trunk, const SelectOptions& options) {
  const double u_on = options.thresholds.u_on.value();
  const BothWays expected = fullest(problem, trunk, problem.expected);
  const BothWays unavoidable =
      all_on(problem, trunk) ? fullest(problem, trunk, problem.unavoidable) : BothWays{};
  const auto one_way = [&](double expects, double cannot_avoid) {
    const double most = std::max(u_on, more_than_expected * expects);
    return cannot_avoid > u_on ? std::max(most, with_margin(cannot_avoid, options)) : most;
  };
  return {one_way(expected.up, unavoidable.up), one_way(expected.down, unavoidable.down)};
}

std::vector<double> fullest_of_trunk(const Network& network, const std::vector<double>& loads) {
  std::vector<double> result = loads;
  for (const Trunk& trunk : network.trunks()) {
    double up = 0;
    double down = 0;
    for (const LinkIndex link : trunk.links) {
      up = std::max(up, loads[network.up_hop(link)]);
      down = std::max(down, loads[network.down_hop(link)]);
    }
    for (const LinkIndex link : trunk.links) {
      result[network.up_hop(link)] = up;
      result[network.down_hop(link)] = down;
    }
  }
  return result;
}

TrunkLoad trunk_load(const SelectionProblem& problem, const Trunk& trunk) {
  const Network& network = *problem.network;
  TrunkLoad result;
  double up = 0;
  double down = 0;
  for (const LinkIndex link : trunk.links) {
    if (!problem.available->contains(link)) continue;
    if (!problem.current->contains(link)) {
      result.off.push_back(link);
      continue;
    }
    result.on.push_back(link);
    if (problem.exempt[link.raw()] == Exempt::No) result.spare.push_back(link);
    const double capacity = current_capacity(problem, link);
    const double link_up = problem.loads->hop[network.up_hop(link)];
    const double link_down = problem.loads->hop[network.down_hop(link)];
    result.capacity += capacity;
    if (std::isnan(link_up) || std::isnan(link_down)) {
      result.known = false;
      continue;
    }
    up += link_up;
    down += link_down;
    if (capacity <= 0) continue;
    result.highest.up = std::max(result.highest.up, link_up / capacity);
    result.highest.down = std::max(result.highest.down, link_down / capacity);
  }
  std::reverse(result.spare.begin(), result.spare.end());
  result.busiest = std::max(up, down);
  return result;
}

TrunkChoice choose_by_trunks(const SelectionProblem& problem, const SelectOptions& options,
                             std::span<const double> loads) {
  TrunkChoice choice{*problem.current, {}};
  const double u_off = options.thresholds.u_off.value();
  const double u_on = options.thresholds.u_on.value();
  const CageBonus cages{*problem.power, *problem.network};
  for (const Trunk& trunk : problem.network->trunks()) {
    TrunkLoad load = trunk_load(problem, trunk);
    std::stable_sort(load.spare.begin(), load.spare.end(), [&](LinkIndex x, LinkIndex y) {
      const auto of = [&](LinkIndex link) {
        return std::max(loads[problem.network->up_hop(link)], loads[problem.network->down_hop(link)]);
      };
      return of(x) < of(y);
    });
    cages.sort(load.spare, choice.active);
    // What nobody measured is not quiet.
    const double measured = load.utilization();
    const std::size_t before = load.on.size();
    std::size_t left = before;
    double capacity = load.capacity;
    for (const LinkIndex link : load.spare) {
      const double fewer = capacity - current_capacity(problem, link);
      if (!load.known || (load.highest.most() > u_on && problem.traffic == nullptr) || left < 2 ||
          load.busiest >= u_off * capacity || load.busiest >= u_on * fewer)
        break;
      capacity = fewer;
      --left;
      choice.active.erase(link);
      choice.decisions.push_back(
          {link, Turn::Off, power::off_mode,
           fmt::format("trunk at {:.0f} % of {} links, below {:.0f} %; {:.0f} % on {} stays below {:.0f} %",
                       in_percent(measured), before, in_percent(u_off), in_percent(load.busiest / capacity),
                       left, in_percent(u_on))});
    }
    if (left < before) continue;
    std::size_t on = before;
    bool one_is_full = is_above(load.highest, tolerated(problem, trunk, options));
    for (const LinkIndex link : load.off) {
      if (capacity > 0 && load.busiest <= u_on * capacity && !one_is_full) break;
      one_is_full = false;
      capacity += problem.network->capacity(link);
      ++on;
      choice.active.insert(link);
      choice.decisions.push_back(
          {link, Turn::On, full_mode(problem, link),
           before == 0
               ? std::string{"no link of its trunk is on"}
               : fmt::format(
                     "trunk at {:.0f} % of {} links, its fullest at {:.0f} %, above {:.0f} %; {} take it",
                     in_percent(measured), before, in_percent(load.highest.most()), in_percent(u_on), on)});
    }
  }
  return choice;
}

std::vector<LinkDecision> needed_links(const SelectionProblem& problem, const SelectOptions& options,
                                       Ratio waiting, Reach reach) {
  const Network& network = *problem.network;
  const double u_on = options.thresholds.u_on.value();
  std::vector<LinkDecision> result;
  std::vector<std::uint8_t> taken(problem.exempt.size(), 0);
  const auto take = [&](LinkIndex link, std::string reason) {
    if (taken[link.raw()] != 0) return;
    taken[link.raw()] = 1;
    result.push_back({link, Turn::On, full_mode(problem, link), std::move(reason)});
  };
  OtherWays others{problem};
  for (const Trunk& trunk : network.trunks()) {
    const TrunkLoad load = trunk_load(problem, trunk);
    if (load.on.empty()) continue;
    const double waits = blocked(problem, options, trunk, load);
    const BothWays most = tolerated(problem, trunk, options);
    if (!is_above(load.highest, most) && waits <= waiting.value()) continue;
    // A blocked link carries less than what is offered: count it as full.
    double wanted = load.busiest / u_on;
    if (waits > waiting.value()) wanted = std::max(wanted, load.capacity / u_on * (1 + waits));
    const bool is_up = load.highest.up > most.up;
    const std::string reason =
        waits > waiting.value()
            ? fmt::format("waiting {:.0f} % of the time at {:.0f} % of {} links, above {:.0f} %",
                          in_percent(waits), in_percent(load.utilization()), load.on.size(),
                          in_percent(waiting.value()))
            : fmt::format("fullest of {} links at {:.0f} %, above {:.0f} %", load.on.size(),
                          in_percent(is_up ? load.highest.up : load.highest.down),
                          in_percent(is_up ? most.up : most.down));
    double capacity = load.capacity;
    bool first = true;
    for (const LinkIndex link : quickest_first(problem, load.off)) {
      if (!first && capacity >= wanted) break;
      first = false;
      capacity += network.capacity(link);
      take(link, reason);
    }
    const double lacks = first ? std::max(wanted - capacity, capacity / static_cast<double>(load.on.size()))
                               : std::max(0.0, wanted - capacity);
    others.lacks(trunk.lower, lacks, reason);
  }
  if (options.policy == SelectPolicy::Trunk) return result;
  for (LinkDecision& decision : others.bring(std::move(taken), reach)) result.push_back(std::move(decision));
  return result;
}

}  // namespace heddle::regulation
