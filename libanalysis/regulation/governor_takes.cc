// Which links leave with the next change: what may be taken, and how much of it at a time.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "regulation/governor_impl.h"

namespace heddle::regulation {

using routing::LinkSet;

bool Governor::Impl::has_rested(LinkIndex link) const {
  const LinkRecord& record = records[link.raw()];
  return record.state == LinkState::Active && !record.wanted &&
         seconds(now_ - record.active_since) >= expected_rest(link);
}

bool Governor::Impl::may_take(LinkIndex link, Turn turn) {
  LinkRecord& record = at(link);
  if (!has_rested(link)) return false;
  if (turn == Turn::Widen) return true;
  const auto day_ago = now_ - std::chrono::hours{24};
  while (!record.transitions.empty() && record.transitions.front() <= day_ago) record.transitions.pop_front();
  if (record.transitions.size() + 2 <= options.most_transitions) return true;
  const std::string why = fmt::format("{} transitions in 24 hours; left on", record.transitions.size());
  if (record.reason != why) report(ReportKind::Excluded, {record.ref}, name(link) + ": " + why);
  record.reason = why;
  return false;
}

/// A choice is an estimate: a few links first, and twice as many each time that it came out as predicted.
std::size_t Governor::Impl::most_at_a_time() const {
  const std::size_t most = options.most_closing == 0 ? records.size() : options.most_closing;
  if (options.first_closing == 0) return most;
  return std::min(most, static_cast<std::size_t>(options.first_closing) << trust_.proved);
}

std::vector<Governor::Impl::Take> Governor::Impl::allowed_takes(const Selection& selection, Kind kind) {
  std::vector<Take> takes;
  if (kind == Kind::Closing) {
    // Trunk by trunk: a whole one is as it was predicted.
    std::map<std::uint32_t, std::vector<const LinkDecision*>> by_trunk;
    for (const LinkDecision& decision : selection.decisions) {
      if (decision.turn == Turn::Off) by_trunk[network->trunk_of(decision.link)].push_back(&decision);
    }
    for (const auto& [trunk, decisions] : by_trunk) {
      for (const LinkDecision* decision : decisions) {
        if (may_take(decision->link, decision->turn))
          takes.push_back({decision->link, power::off_mode, Cause::Regulation, decision->reason});
      }
    }
    return takes;
  }
  // A reduced link is away for a moment: as many at a time as can be missed together.
  LinkSet rest = confirmed;
  for (const LinkDecision& decision : selection.decisions) {
    if (takes.size() >= most_at_a_time()) break;
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

/// Links that an operator wants off or full. Switches that are gone have no way whatever is left on: that
/// must not keep a link that an operator takes away.
std::vector<Governor::Impl::Take> Governor::Impl::operator_takes() {
  if (lost_switches.empty()) return takes_of_operators();
  excuse_drained({lost_switches.begin(), lost_switches.end()});
  auto takes = takes_of_operators();
  excuse_drained({});
  return takes;
}

/// As far as the rules bear it. What stands in the way comes back.
std::vector<Governor::Impl::Take> Governor::Impl::takes_of_operators() {
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
