// Which links leave with the next change: what may be taken, and how much of it at a time.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "regulation/evaluation.h"
#include "regulation/governor_impl.h"
#include "regulation/trunk_policy.h"

namespace heddle::regulation {

using routing::LinkSet;

bool Governor::Impl::may_take(LinkIndex link, Turn turn) {
  LinkRecord& record = at(link);
  if (record.state != LinkState::Active || record.wanted) return false;
  if (seconds(now_ - record.active_since) < expected_rest(link)) return false;
  if (turn == Turn::Widen) return true;
  const auto day_ago = now_ - std::chrono::hours{24};
  while (!record.transitions.empty() && record.transitions.front() <= day_ago) record.transitions.pop_front();
  if (record.transitions.size() + 2 <= options.most_transitions) return true;
  const std::string why = fmt::format("{} transitions in 24 hours; left on", record.transitions.size());
  if (record.reason != why) report(ReportKind::Excluded, {record.ref}, name(link) + ": " + why);
  record.reason = why;
  return false;
}

std::vector<Governor::Impl::Take> Governor::Impl::allowed_takes(const Selection& selection, Kind kind) {
  std::vector<Take> takes;
  const std::size_t most = options.most_closing == 0 ? records.size() : options.most_closing;
  if (kind == Kind::Closing) {
    // Trunk by trunk: a whole one is as it was predicted.
    std::map<std::uint32_t, std::vector<const LinkDecision*>> by_trunk;
    for (const LinkDecision& decision : selection.decisions) {
      if (decision.turn == Turn::Off) by_trunk[network->trunk_of(decision.link)].push_back(&decision);
    }
    for (const auto& [trunk, decisions] : by_trunk) {
      for (const LinkDecision* decision : decisions) {
        if (takes.size() < most && may_take(decision->link, decision->turn))
          takes.push_back({decision->link, power::off_mode, Cause::Regulation, decision->reason});
      }
    }
    return takes;
  }
  // A reduced link is away for a moment: as many at a time as can be missed together.
  LinkSet rest = confirmed;
  for (const LinkDecision& decision : selection.decisions) {
    if (takes.size() >= most) break;
    if (decision.turn != Turn::Reduce && decision.turn != Turn::Widen) continue;
    if (!may_take(decision.link, decision.turn)) continue;
    rest.erase(decision.link);
    if (rules_hold(rest)) {
      takes.push_back({decision.link, decision.mode, Cause::Regulation, decision.reason});
    } else {
      rest.insert(decision.link);
    }
  }
  return takes;
}

std::vector<double> Governor::Impl::loads_of(const Selection& selection) const {
  std::vector<double> loads = selection.predicted;
  for (const Trunk& trunk : network->trunks()) {
    for (const LinkIndex link : trunk.links) {
      const power::LinkMode mode = selection.modes[link.raw()];
      const double rate = mode.on() ? data_rate(mode.width, mode.speed).value() : 0;
      loads[network->up_hop(link)] *= rate;
      loads[network->down_hop(link)] *= rate;
    }
  }
  return loads;
}

std::vector<std::uint32_t> Governor::Impl::crowded_trunks(const SelectionProblem& now, const LinkSet& active,
                                                          const Selection* whole) {
  const SelectOptions select = select_options();
  Evaluation evaluation{now, select};
  evaluation.allow(fullest_of_trunk(*network, evaluation.table_loads(on_links())));
  if (whole != nullptr) evaluation.allow(loads_of(*whole));
  const std::vector<double> loads = evaluation.table_loads(active);
  std::vector<std::uint32_t> result;
  for (std::uint32_t t = 0; t < network->trunks().size(); ++t) {
    const auto& links = network->trunks()[t].links;
    const bool fits = std::all_of(links.begin(), links.end(), [&](LinkIndex link) {
      return evaluation.suffices(network->up_hop(link), loads) &&
             evaluation.suffices(network->down_hop(link), loads);
    });
    if (!fits) result.push_back(t);
  }
  return result;
}

/// Links that an operator wants off or full, as far as the rules bear it. What stands in the way comes back.
std::vector<Governor::Impl::Take> Governor::Impl::operator_takes() {
  std::vector<Take> takes;
  if (is_stopping_) return takes;
  LinkSet rest = confirmed;
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    if (records[i].state == LinkState::Ready) rest.insert(LinkIndex{i});
  }
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    LinkRecord& link = records[i];
    const LinkIndex index{i};
    if (link.state != LinkState::Active) continue;
    const bool off = wish(link.ref) == Wish::Off;
    const bool widen = link.wanted && link.mode != link.full;
    if (!off && !widen) continue;
    LinkSet fewer = rest;
    fewer.erase(index);
    const OffOrder why = off ? off_order(link.ref) : OffOrder{};
    if (!why.forced && !rules_hold(fewer)) {
      if (!widen && rules_hold(available())) bring_back(Whose::Regulation, "in place of " + name(index));
      continue;
    }
    rest = std::move(fewer);
    if (off) {
      takes.push_back(
          {index, power::off_mode, Cause::Operator, fmt::format("by {}: {}", why.by, why.reason)});
    } else {
      link.wanted = false;
      takes.push_back({index, link.full, Cause::Regulation, link.reason});
    }
  }
  return takes;
}

}  // namespace heddle::regulation
