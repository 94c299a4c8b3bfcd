// What is done of a choice: which of its links leave, in what part of it, and whether others come back for
// that; with hysteresis, least times and break-even.

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "regulation/crowding.h"
#include "regulation/governor_impl.h"

namespace heddle::regulation {

using routing::LinkSet;

namespace {

/// Another choice of links is worth its transitions only if it draws no more than this part of what there is
/// without it.
constexpr double worth_a_swap = 0.97;

bool brings(const Selection& selection) {
  return std::ranges::any_of(selection.decisions,
                             [](const LinkDecision& decision) { return decision.turn == Turn::On; });
}

}  // namespace

/// While predictions are not trusted, the trunk rule goes on, which hardly needs any.
void Governor::Impl::carry_out(Choice choice) {
  if (choice.chosen_for == ChosenFor::Any) {
    take_of(std::move(choice));
    return;
  }
  if (holds_back()) {
    if (auto fewer = without_bringing(choice, SelectPolicy::Trunk)) take_of(*std::move(fewer));
    return;
  }
  if (!brings(choice.selection)) {
    take_of(std::move(choice));
    return;
  }
  const bool must = choice.policy == SelectPolicy::Trunk || is_crowded(choice);
  if (must || !takes_instead(choice)) bring_of(choice);
}

bool Governor::Impl::holds_back() const { return trust_.hold_until && now_ < *trust_.hold_until; }

/// Looks for a choice among the links that are on, and takes what leaves by that, unless an exchange saves
/// more. False: an exchange is due.
bool Governor::Impl::takes_instead(const Choice& choice) {
  const Watts then = choice.selection.watts;
  const bool pays = then <= worth_a_swap * plan->watts_now;
  auto fewer = without_bringing(choice, choice.policy);
  if (!fewer) return !pays || !may_swap(choice.loads);
  if (pays && then <= worth_a_swap * fewer->selection.watts && may_swap(choice.loads)) return false;
  const Took took = take_of(*std::move(fewer));
  return took != Took::NoneFits || !pays || !may_swap(choice.loads);
}

/// What leaves of the links that are on if none comes back.
std::optional<Governor::Impl::Choice> Governor::Impl::without_bringing(const Choice& choice,
                                                                       SelectPolicy policy) {
  const SelectionProblem now = problem(confirmed, choice.loads, &*traffic_);
  auto selection = select_links(now, select_options(policy));
  if (!selection) return std::nullopt;
  return Choice{ChosenFor::Present, policy, confirmed, choice.loads, *std::move(selection), {}};
}

void Governor::Impl::bring_of(const Choice& choice) {
  for (const LinkDecision& decision : choice.selection.decisions) {
    const LinkRecord& link = at(decision.link);
    if (decision.turn == Turn::On && now_ - link.off_since >= options.least_off)
      want(decision.link, decision.reason);
  }
}

Governor::Impl::Took Governor::Impl::take_of(Choice choice) {
  if (takes_from_) return Took::NoneMay;
  Took took = Took::NoneMay;
  for (const Kind kind : {Kind::Closing, Kind::Mode}) {
    std::vector<Take> takes = allowed_takes(choice.selection, kind);
    if (takes.empty()) continue;
    took = Took::NoneFits;
    choice.takes = what_fits(choice, std::move(takes));
    if (choice.takes.empty()) continue;
    look_then_begin(std::move(choice));
    return Took::Some;
  }
  return took;
}

/// Part of a selection may load links more than all of it: halves of what does not fit are tried by
/// themselves, as many links as may leave at a time.
std::vector<Governor::Impl::Take> Governor::Impl::what_fits(const Choice& choice, std::vector<Take> takes) {
  if (choice.chosen_for == ChosenFor::Any) return what_any_traffic_spares(choice, std::move(takes));
  const SelectionProblem now = problem(choice.available, choice.loads, &*traffic_);
  const SelectOptions select = select_options(choice.policy);
  Crowding crowding{now, select, on_links()};
  crowding.allow(choice.selection);
  LinkSet rest = confirmed;
  std::vector<Take> fitting;
  unsigned trials = crowding.trials();
  const std::function<void(std::span<const Take>)> add = [&](std::span<const Take> more) {
    if (more.empty() || trials == 0) return;
    --trials;
    LinkSet fewer = rest;
    for (const Take& take : more) fewer.erase(take.link);
    if (rules_hold(fewer) && !crowding.at(fewer)) {
      rest = std::move(fewer);
      fitting.insert(fitting.end(), more.begin(), more.end());
    } else if (more.size() > 1) {
      add(more.first(more.size() / 2));
      add(more.subspan(more.size() / 2));
    }
  };
  const std::size_t most = most_at_a_time();
  for (std::span<const Take> left = takes; !left.empty() && fitting.size() < most;) {
    const std::size_t next = std::min(left.size(), most - fitting.size());
    add(left.first(next));
    left = left.subspan(next);
  }
  return fitting;
}

bool Governor::Impl::is_crowded(const Choice& choice) {
  const SelectionProblem now = problem(choice.available, choice.loads, &*traffic_);
  const SelectOptions select = select_options(choice.policy);
  return Crowding{now, select, on_links()}.at(confirmed);
}

void Governor::Impl::begin_chosen(const Choice& choice, std::vector<Take> takes) {
  expected_ = choice.selection.predicted;
  const bool is_estimate = choice.chosen_for == ChosenFor::Present;
  // What one pattern of the sample brings to a link another may bring to any other.
  if (!is_estimate) std::ranges::fill(expected_, choice.selection.busiest);
  if (any_) any_->is_due = false;
  if (is_estimate && choice.policy == SelectPolicy::General) trust_.sent_then = sent_by_all(choice.loads);
  trust_.is_proving = is_estimate;
  trust_.sent_when_wrong = 0;
  begin(std::move(takes));
}

void Governor::Impl::prove_choice() {
  constexpr int part_of_quiet = 10;
  constexpr unsigned most_doublings = 16;
  if (!trust_.is_proving || stage != Stage::Idle || !window_.covers(now_, options.quiet / part_of_quiet))
    return;
  trust_.is_proving = false;
  trust_.sent_then = 0;
  trust_.proved = std::min(trust_.proved + 1, most_doublings);
}

/// Every exchange changes the tables, and with them what the loads tell of the traffic: the next estimate may
/// prefer the links of the last one again. So, while the hosts send the same, each waits twice as long as the
/// one before.
bool Governor::Impl::may_swap(const MeasuredLoads& loads) {
  constexpr unsigned most_doublings = 10;
  const double sent = sent_by_all(loads);
  const bool same = sent <= (1 + other_load) * swaps_.sent && swaps_.sent <= (1 + other_load) * sent;
  if (same && swaps_.none_until && now_ < *swaps_.none_until) return false;
  swaps_.count = same ? std::min(swaps_.count + 1, most_doublings) : 0;
  swaps_.sent = sent;
  swaps_.none_until = now_ + std::max(options.quiet, options.plan_every) * (1U << swaps_.count);
  return true;
}

}  // namespace heddle::regulation
