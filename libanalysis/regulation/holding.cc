#include "regulation/holding.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "fabric/unique_names.h"

namespace heddle::regulation {
namespace {

using routing::Hop;
using routing::SwitchIndex;

/// The ways of switches that are on.
class Ways {
 public:
  Ways(const Network& network, const routing::LinkSet& active, const std::vector<double>& first,
       const std::vector<double>& second)
      : network_{network}, up_(network.graph().size()), down_(network.graph().size(), 0) {
    for (const Trunk& trunk : network.trunks()) {
      for (const LinkIndex link : trunk.links) {
        if (!active.contains(link)) continue;
        WaysUp& ways = up_[trunk.lower.raw()];
        ++ways.links;
        ++down_[trunk.upper.raw()];
        for (const std::uint32_t hop : {network.up_hop(link), network.down_hop(link)}) {
          if (first[hop] > ways.first.share) ways.first = {first[hop], hop};
          if (second[hop] > ways.second.share) ways.second = {second[hop], hop};
        }
      }
    }
  }
  [[nodiscard]] const WaysUp& up_from(const Trunk& trunk) const { return up_[trunk.lower.raw()]; }
  /// Of the switch below, or the only one down to the switch above, which nobody sends to but for that.
  [[nodiscard]] bool is_last(const Trunk& trunk) const {
    return up_from(trunk).links < 2 ||
           (network_.host_position(trunk.upper) == Network::no_position && down_[trunk.upper.raw()] < 2);
  }

 private:
  const Network& network_;
  std::vector<WaysUp> up_;
  std::vector<std::size_t> down_;
};

}  // namespace

std::vector<Holding> held(const SelectionProblem& problem, const routing::LinkSet& active,
                          const std::vector<double>& first, const std::vector<double>& second,
                          const std::vector<double>& loads,
                          const std::function<std::string(const WaysUp&)>& rule) {
  const Network& network = *problem.network;
  const Ways ways{network, active, first, second};
  std::map<std::string, Holding> rules;
  for (const Trunk& trunk : network.trunks()) {
    for (const LinkIndex link : trunk.links) {
      if (!active.contains(link)) continue;
      const Exempt exempt = problem.exempt[link.raw()];
      std::string name = exempt != Exempt::No  ? std::string{to_string(exempt)}
                         : ways.is_last(trunk) ? "every switch keeps a path to all hosts and managers"
                                               : rule(ways.up_from(trunk));
      const double load =
          std::max(loads[network.up_hop(link)], loads[network.down_hop(link)]) / network.capacity(link);
      const auto [it, is_first] = rules.try_emplace(std::move(name));
      Holding& holding = it->second;
      if (is_first || load > holding.busiest.value()) {
        holding.example = link;
        holding.busiest = Ratio{load};
      }
      ++holding.links;
      holding.watts +=
          problem.power->link(network.fabric(), link, power::mode_of(network.fabric().link(link)));
    }
  }
  std::vector<Holding> result;
  for (auto& [name, holding] : rules) {
    holding.rule = name;
    result.push_back(std::move(holding));
  }
  std::ranges::stable_sort(result, std::ranges::greater{}, &Holding::watts);
  return result;
}

std::vector<Holding> held_by(const SelectionProblem& problem, const SelectOptions& options,
                             const Evaluation& evaluation, const routing::LinkSet& active,
                             const std::vector<double>& loads, const std::vector<double>& own) {
  std::vector<double> first(loads.size(), 0);
  std::vector<double> second(loads.size(), 0);
  for (std::uint32_t h = 0; h < loads.size(); ++h) {
    if (evaluation.limit(h) <= 0) continue;  // of hosts
    first[h] = own[h] / evaluation.limit(h);
    second[h] = loads[h] / evaluation.limit(h);
  }
  const double u_on = 100 * options.thresholds.u_on.value();
  return held(problem, active, first, second, loads, [&](const WaysUp& ways) -> std::string {
    if (ways.without_one(ways.first) > 1) return fmt::format("no link is to carry more than {:.0f} %", u_on);
    if (ways.without_one(ways.second) > 1)
      return fmt::format("no link is to carry more than {:.0f} % in the other LID plane either", u_on);
    return std::string{nothing_found};
  });
}

std::string most_is_held(const std::vector<Holding>& held) {
  double all = 0;
  for (const Holding& each : held) all += each.watts.value();
  if (held.empty() || all <= 0) return {};
  return fmt::format("{:.0f} % of what stays on is held by: {}", 100 * held.front().watts.value() / all,
                     held.front().rule);
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
