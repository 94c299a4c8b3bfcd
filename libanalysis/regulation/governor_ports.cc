// Coming back: orders that turn links on, side by side with whatever the routing side does.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "regulation/governor_impl.h"

namespace heddle::regulation {

void Governor::Impl::count_transition(LinkRecord& link) {
  const auto day_ago = now_ - std::chrono::hours{24};
  while (!link.transitions.empty() && link.transitions.front() <= day_ago) link.transitions.pop_front();
  link.transitions.push_back(now_);
}

/// What a link must have been quiet for to be turned off, and what it is expected to stay off for.
double Governor::Impl::expected_rest(LinkIndex link) const {
  const double cost = options.break_even * seconds(wakes_[link.raw()].wake + options.drain);
  const double rest = std::max({seconds(options.quiet), seconds(options.least_on), cost});
  return rest * static_cast<double>(1U << std::min(records[link.raw()].doubling, 10U));
}

bool Governor::Impl::came_back_too_soon(LinkIndex link) const {
  return seconds(now_ - records[link.raw()].off_since) < expected_rest(link);
}

std::chrono::nanoseconds Governor::Impl::patience(LinkIndex link) const {
  // Of twenty, one takes longer than the percentile.
  constexpr int slack = 2;
  const ExpectedWake& expected = wakes_[link.raw()];
  if (expected.source == WakeSource::Configured) return slack * expected.longest;
  return slack * std::max(expected.wake, expected.longest);
}

/// To be opened as soon as it is off for certain; already on its way otherwise.
void Governor::Impl::want(LinkIndex link, const std::string& why) {
  LinkRecord& record = at(link);
  const bool reduced = is_on(record) && record.mode != record.full;
  if (record.state != LinkState::Off && record.state != LinkState::Closing && !reduced) return;
  record.wanted = true;
  record.reason = why;
}

void Governor::Impl::open_where_wanted() {
  std::vector<LinkIndex> links;
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    LinkRecord& link = records[i];
    if (link.retry_at && *link.retry_at <= now_) {
      link.retry_at.reset();
      link.wanted = link.state == LinkState::Off;
    }
    if (!link.wanted || link.state != LinkState::Off || link.retry_at) continue;
    if (!dead(link)) {
      links.push_back(LinkIndex{i});
    } else if (side_in_sight(link)) {
      // A switch that seems dead may only be cut off, and this link lead there. It may never train: no other
      // waits for it.
      open({LinkIndex{i}}, link.reason);
    }
  }
  if (links.empty()) return;
  std::string why = at(links.front()).reason;
  if (links.size() > 1 && at(links[1]).reason != why)
    why = fmt::format("{}: {}; and so on", name(links.front()), why);
  open(links, why);
}

std::optional<PortRef> Governor::Impl::side_in_sight(const LinkRecord& link) const {
  const PortRef& ordered = link.off.port;
  const PortRef& other = ordered == link.ref.a ? link.ref.b : link.ref.a;
  if (!lost_switches.contains(ordered.node)) return ordered;
  if (!lost_switches.contains(other.node)) return other;
  return std::nullopt;
}

void Governor::Impl::want_ways_to_lost_switches(const std::string& why) {
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    if (dead(records[i]) && wish(records[i].ref) != Wish::Off) want(LinkIndex{i}, why);
  }
}

void Governor::Impl::open_strangers() {
  awaited_.insert(strangers_.begin(), strangers_.end());
  std::erase_if(awaited_, [this](const LinkRef& link) {
    const auto known = find(link);
    if (known && wish(link) != Wish::Off) want(*known, "what is behind it is wanted");
    return !is_stranger(link);
  });
  std::vector<LinkRef> links;
  for (const LinkRef& link : std::exchange(strangers_, {})) {
    if (!is_stranger(link)) continue;
    // An order that fails at once is followed by whatever asked for it.
    const auto again = strangers_again_.find(link);
    if (again != strangers_again_.end() && now_ < again->second) continue;
    strangers_again_[link] = now_ + options.retry_after;
    links.push_back(link);
    const OffRecord& off = memory.off.at(link);
    // What is behind it may be gone for good: no other waits for it.
    OpenStep step{next_change(), {link}, 0};
    SetPorts order{next_step(), {{link, off.port, off.full, {}}}};
    record(Intent{step.change, now_, {}, step.links});
    opening_.emplace(order.step, std::move(step));
    actions_.emplace_back(std::move(order));
  }
  if (!links.empty())
    report(ReportKind::Decided, links, "on: what is behind it has not been seen since it went off");
}

bool Governor::Impl::dead(const LinkRecord& link) const {
  return lost_switches.contains(link.ref.a.node) || lost_switches.contains(link.ref.b.node);
}

std::vector<LinkRef> Governor::Impl::not_back() const {
  std::vector<LinkRef> links;
  for (const LinkRecord& link : records) {
    if (link.state == LinkState::Off && link.retry_at && !dead(link)) links.push_back(link.ref);
  }
  return links;
}

/// One Intent and one order for all.
void Governor::Impl::open(const std::vector<LinkIndex>& links, const std::string& why) {
  if (links.empty()) return;
  OpenStep step{next_change(), {}, 0};
  SetPorts order{next_step(), {}};
  for (const LinkIndex i : links) {
    LinkRecord& link = at(i);
    link.wanted = false;
    link.retry_at.reset();
    if (link.reason.empty()) link.reason = why;
    if (dead(link)) {
      // A fault brings it back, and no wrong choice.
    } else if (link.doubling < 10 && came_back_too_soon(i)) {
      ++link.doubling;
    } else if (!came_back_too_soon(i)) {
      link.doubling = 0;
    }
    clock_wake(link);
    move(link, LinkState::Opening);
    step.links.push_back(link.ref);
    order.ports.push_back({link.ref, side_in_sight(link).value_or(link.off.port), link.full, patience(i)});
  }
  record(Intent{step.change, now_, {}, step.links});
  const bool said = std::all_of(links.begin(), links.end(), [this](LinkIndex i) { return at(i).in_vain; });
  if (!said) report(ReportKind::Decided, step.links, fmt::format("on: {}", why));
  tell_needed(links);
  opening_.emplace(order.step, std::move(step));
  actions_.emplace_back(std::move(order));
}

void Governor::Impl::opened(StepId id, std::vector<LinkRef> failed, const std::string& why) {
  OpenStep step = std::move(opening_.at(id));
  opening_.erase(id);
  Outcome outcome{step.change, now_, {}, {}, ""};
  std::vector<LinkRef> again;
  WakeRecord learnt;
  for (const LinkRef& ref : step.links) {
    const auto i = find(ref);
    if (std::find(failed.begin(), failed.end(), ref) != failed.end()) {
      // Else its switch was lost meanwhile, and it was ordered once more by itself.
      if (i && at(*i).state == LinkState::Opening && !is_ordered_on(ref)) again.push_back(ref);
      continue;
    }
    outcome.on.push_back(ref);
    if (i) arrive(at(*i), learnt);
  }
  learn(std::move(learnt));
  leave_to_later_changes(outcome.on);
  if (!outcome.on.empty()) report(ReportKind::Confirmed, outcome.on, "on");
  if (again.empty() && !failed.empty()) report(ReportKind::Failed, failed, "turning links on: " + why);
  if (again.empty()) {
    record(std::move(outcome));
    return;
  }
  // A link to a switch that is gone fails like this for as long as it is gone.
  const bool in_vain =
      std::all_of(again.begin(), again.end(), [this](const LinkRef& ref) { return dead(at(*find(ref))); });
  if (step.retries < options.retries && !in_vain) {
    // The intent stays open until all have answered; what came back is known.
    if (!outcome.on.empty()) {
      record(std::move(outcome));
      step.change = next_change();
      record(Intent{step.change, now_, {}, again});
    }
    SetPorts order{next_step(), {}};
    for (const LinkRef& ref : again) {
      const LinkIndex i = *find(ref);
      const LinkRecord& link = at(i);
      order.ports.push_back({ref, side_in_sight(link).value_or(link.off.port), link.full, patience(i)});
    }
    opening_.emplace(order.step, OpenStep{step.change, std::move(again), step.retries + 1});
    actions_.emplace_back(std::move(order));
    return;
  }
  outcome.note = why;
  bool said = true;
  for (const LinkRef& ref : again) {
    LinkRecord& link = at(*find(ref));
    said = std::exchange(link.in_vain, in_vain) && said;
    // It may be on by now, or off: the journal keeps it until it is known.
    outcome.off.push_back(link.off);
    move(link, LinkState::Off);
    link.retry_at = now_ + options.retry_after;
  }
  record(std::move(outcome));
  if (in_vain && said) return;
  report(ReportKind::Failed, again,
         fmt::format("turning links on: {}; next try in {} s", why, seconds(options.retry_after)));
}

void Governor::Impl::bring_back(Whose whose, const std::string& why) {
  if (!network) return;
  call_off(why);
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    LinkRecord& link = records[i];
    const bool is_operators = wish(link.ref) == Wish::Off;
    if (!is_operators || whose == Whose::Everybody) want(LinkIndex{i}, why);
  }
  for (const auto& [link, off] : memory.off) {
    const bool is_regulations = off.cause == Cause::Regulation && wish(link) != Wish::Off;
    const bool theirs = is_regulations || whose == Whose::Everybody;
    if (theirs && is_stranger(link)) strangers_.insert(link);
  }
}

}  // namespace heddle::regulation
