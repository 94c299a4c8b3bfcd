// What links take to come back: learnt from each time that nobody else had a hand in it.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "regulation/governor_impl.h"

namespace heddle::regulation {

void Governor::Impl::refresh_wakes() {
  if (network) wakes_ = expected_wakes(network->fabric(), memory.wakes, options.wake);
}

/// From the first order on: one that failed may only have been too impatient.
void Governor::Impl::clock_wake(LinkRecord& link) {
  if (link.ordered_on || !link.went_alone) return;
  const bool regulations = link.off.cause == Cause::Regulation && wish(link.ref) != Wish::Off;
  if (regulations && !dead(link) && !link.came_up && !troubles_.contains(link.ref)) link.ordered_on = now_;
}

void Governor::Impl::forget_clock(LinkRecord& link) {
  link.ordered_on.reset();
  link.went_alone = false;
}

std::optional<std::chrono::milliseconds> Governor::Impl::wake_of(LinkRecord& link) {
  const auto ordered = link.ordered_on;
  forget_clock(link);
  if (!ordered || dead(link) || troubles_.contains(link.ref)) return std::nullopt;
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(now_ - *ordered);
  return took <= longest_training ? std::optional{took} : std::nullopt;
}

/// It is on, as ordered.
void Governor::Impl::arrive(LinkRecord& link, WakeRecord& learnt) {
  if (const auto took = wake_of(link)) {
    const auto known = memory.wakes.find(link.ref);
    Wakes wakes = known == memory.wakes.end() ? Wakes{} : known->second;
    add_wake(wakes, *took);
    learnt.links.push_back({link.ref, std::move(wakes)});
  }
  count_transition(link);
  link.mode = link.full;
  link.in_vain = false;
  if (link.state == LinkState::Opening) move(link, dead(link) ? LinkState::Lost : LinkState::Ready);
}

void Governor::Impl::learn(WakeRecord learnt) {
  if (learnt.links.empty()) return;
  std::vector<LinkRef> slow;
  for (const WakeHistory& each : learnt.links) {
    if (takes_too_long(each.took) && !slow_.contains(each.link)) slow.push_back(each.link);
  }
  record(std::move(learnt));
  refresh_wakes();
  if (slow.empty()) return;
  refresh_exemptions();
  for (const LinkRef& link : slow) {
    report(ReportKind::Excluded, {link},
           fmt::format("{} is left on: it took {:.0f} s to come back, above {:.0f} s; `heddle link forget "
                       "\"{}\"` gives it another chance",
                       name(link), seconds(memory.wakes.at(link).back()), seconds(options.longest_wake),
                       name(link)));
  }
}

bool Governor::Impl::takes_too_long(const Wakes& wakes) const {
  return std::ranges::any_of(wakes, [this](auto took) { return took > options.longest_wake; });
}

/// With an end in sight or not: what the journal knows of it may be of another cable.
void Governor::Impl::handle(const ForgetLink& event) {
  const bool known = memory.wakes.contains(event.link);
  if (!known && !find(event.link)) {
    return refuse(event.command, ErrorCode::NotFound,
                  fmt::format("no link {} in the fabric, and nothing is known of it", name(event.link)));
  }
  if (const auto link = find(event.link)) {
    forget_clock(at(*link));
    at(*link).doubling = 0;
  }
  const std::string text = known ? fmt::format("{}: what it took to come back is forgotten ({} times)",
                                               name(event.link), memory.wakes.at(event.link).size())
                                 : fmt::format("{}: it has not been seen to come back", name(event.link));
  if (known) {
    record(WakeRecord{{{event.link, {}}}});
    report(ReportKind::Operator, {event.link}, fmt::format("{}, by {}", text, event.by));
    refresh_wakes();
    refresh_exemptions();
  }
  answer(event.command, text);
}

/// Some of what was ordered on has come, and others have not: these need not wait.
void Governor::Impl::handle(const LinksThere& event) {
  std::vector<LinkRef> on;
  WakeRecord learnt;
  for (const LinkRef& ref : event.links) {
    const auto link = find(ref);
    if (!link || at(*link).state != LinkState::Opening || !is_ordered_on(ref)) continue;
    arrive(at(*link), learnt);
    on.push_back(ref);
  }
  if (on.empty()) return;
  leave_to_later_changes(on);
  record(Outcome{next_change(), now_, {}, on, ""});
  report(ReportKind::Confirmed, std::move(on), "on");
  learn(std::move(learnt));
}

bool Governor::Impl::is_ordered_on(const LinkRef& link) const {
  return std::ranges::any_of(opening_, [&](const auto& each) {
    return std::ranges::find(each.second.links, link) != each.second.links.end();
  });
}

/// What is done to these from here on is no business of the orders that turned them on, of which there may be
/// several: where a switch was lost meanwhile.
void Governor::Impl::leave_to_later_changes(const std::vector<LinkRef>& on) {
  for (auto& [id, step] : opening_) {
    const auto left = std::erase_if(
        step.links, [&](const LinkRef& link) { return std::ranges::find(on, link) != on.end(); });
    if (left > 0) record(Intent{step.change, now_, {}, step.links});
  }
}

}  // namespace heddle::regulation
