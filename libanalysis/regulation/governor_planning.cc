// What regulation wants: stages 1 and 2 of the loop.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "regulation/evaluation.h"
#include "regulation/governor_impl.h"
#include "regulation/trunk_policy.h"

namespace heddle::regulation {

using routing::LinkSet;

void Governor::Impl::handle(const LoadsMeasured& event) {
  if (event.sample == nullptr) return;
  measured_since_ = std::exchange(sample_began_, event.sample->began);
  if (!network || mode == Mode::Off || is_stopping_) return;
  latest_ = measured_loads(*network, *event.sample);
  note_rates();
  const bool steady = is_steady();
  // What the links carry while traffic moves says nothing about the tables that it moves to.
  if (!steady && !hosts_send_more()) return;
  judged_sent_ = sent_by_all(*latest_);
  if (steady) window_.add(now_, *latest_);
  bring_what_is_needed();
  prove_choice();
  if (window_.empty()) return;
  if (planned_at_ && now_ - *planned_at_ < options.plan_every) return;
  planned_at_ = now_;
  choose();
}

SelectionProblem Governor::Impl::problem(const LinkSet& available, const MeasuredLoads& loads,
                                         const Traffic* traffic) const {
  SelectionProblem problem;
  problem.network = network.get();
  problem.power = &options.power;
  problem.exempt = exempt_;
  problem.available = &available;
  problem.current = &confirmed;
  problem.loads = &loads;
  problem.modes = modes_;
  problem.expected = expected_;
  problem.unavoidable = unavoidable_shares_;
  problem.ceilings = unavoidable_.ceilings();
  problem.wakes = wakes_;
  problem.traffic = traffic;
  return problem;
}

/// Fast back: whatever rising load needs, in one step; and nothing leaves while it rises.
void Governor::Impl::bring_what_is_needed() {
  modes_.clear();
  for (const LinkRecord& link : records) modes_.push_back(link.mode);
  unavoidable_.judge(sent_by_all(*latest_));
  unavoidable_shares_ = unavoidable_.shares();
  bring_for_rates();
  const LinkSet can_be = available();
  const SelectionProblem now = problem(can_be, *latest_, nullptr);
  const std::vector<LinkDecision> needed = needed_links(now, options.select, options.waiting, reach());
  if (!needed.empty()) learn_from_a_wrong_choice();
  for (const LinkDecision& decision : needed) {
    const LinkState state = at(decision.link).state;
    if (state == LinkState::Draining || state == LinkState::Leaving) {
      call_off_for_load(decision.reason);
    } else {
      want(decision.link, decision.reason);
      call_off_for_load(decision.reason);
    }
  }
  for (const Trunk& trunk : network->trunks()) {
    const BothWays most = tolerated(now, trunk, options.select);
    for (const LinkIndex link : trunk.links) {
      if (!confirmed.contains(link)) continue;
      for (const auto& [hop, limit] :
           {std::pair{network->up_hop(link), most.up}, std::pair{network->down_hop(link), most.down}}) {
        const double use = latest_->hop[hop] / current_capacity(now, link);
        if (std::isnan(use) || use <= limit) continue;
        const std::string why =
            fmt::format("{} is at {:.0f} %, above {:.0f} %", name(link), 100 * use, 100 * limit);
        call_off_for_load(why);
        want(link, why);
      }
    }
  }
}

/// Where the last choice is why trunks are too full, the links beside these undo it. Other traffic may need
/// any.
Reach Governor::Impl::reach() const {
  const double sent = sent_by_all(*latest_);
  const bool as_then =
      sent <= (1 + other_load) * trust_.sent_when_wrong && trust_.sent_when_wrong <= (1 + other_load) * sent;
  return trust_.is_proving || as_then ? Reach::Beside : Reach::Anywhere;
}

void Governor::Impl::learn_from_a_wrong_choice() {
  if (!is_steady()) return;
  if (std::exchange(trust_.is_proving, false)) {
    trust_.proved = 0;
    trust_.sent_when_wrong = sent_by_all(*latest_);
  }
  if (trust_.sent_then <= 0 || options.select.policy == SelectPolicy::Trunk) return;
  const double sent = sent_by_all(*latest_);
  const double then = trust_.sent_then;
  trust_.sent_then = 0;
  if (sent > (1 + other_load) * then) {
    trust_.distrust = 0;
    return;
  }
  if (trust_.distrust < 5) ++trust_.distrust;
  trust_.hold_until = now_ + options.quiet * (1U << trust_.distrust);
}

/// The loads of the other plane, when it was in use, tell what those of this one do not.
void Governor::Impl::estimate(const MeasuredLoads& loads) {
  EstimateOptions how;
  how.plane = plane;
  if (traffic_) how.prior = &traffic_->matrix;
  const std::optional<governing::Seen>& other = seen_[1 - plane % 2];
  if (other && by_planes() && is_fitted(*network))
    how.before = Observation{&other->loads, &network->tables(other->active, 1 - plane), 1 - plane};
  traffic_ = estimate_traffic(*network, loads, network->tables(confirmed, plane), how);
  seen_[plane % 2] = governing::Seen{confirmed, loads};
}

/// Slow off: by the busiest loads of a whole window.
void Governor::Impl::choose() {
  const LinkSet can_be = available();
  if (is_for_any()) follow_rates(can_be);
  choice_waits_ = any_search_ != nullptr;
  if (choice_waits_) return;
  const MeasuredLoads loads = window_.peak();
  learn_what_is_unavoidable(loads, can_be);
  unavoidable_shares_ = unavoidable_.shares();
  estimate(loads);
  SelectionProblem now = problem(can_be, loads, &*traffic_);
  auto selection = select_now(now);
  if (const auto why = parted(); why && selection) selection = fail(ErrorCode::Refused, *why);
  if (!selection) {
    if (!plan || plan->note != selection.error().message)
      report(ReportKind::CalledOff, {}, "nothing is turned off: " + selection.error().message);
    plan = Plan{};
    plan->at = now_;
    plan->note = selection.error().message;
    return;
  }
  unavoidable_.predicted(selection->ceilings, sent_by_all(loads));
  now.ceilings = unavoidable_.ceilings();
  Plan next;
  next.at = now_;
  for (const LinkDecision& decision : selection->decisions) {
    const LinkRef ref = at(decision.link).ref;
    if (decision.turn == Turn::Off || decision.turn == Turn::Reduce) next.off.push_back(ref);
    if (decision.turn == Turn::On || decision.turn == Turn::Widen) next.on.push_back(ref);
  }
  next.decisions = selection->decisions;
  next.busiest = Ratio{selection->busiest};
  next.watts_then = selection->watts;
  next.watts_least = selection->least_watts;
  next.note = selection->note;
  next.held = selection->held;
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    if (network->trunk_of(LinkIndex{i}) != Network::no_trunk)
      next.watts_now += options.power.link(network->fabric(), LinkIndex{i}, records[i].mode);
  }
  plan = std::move(next);
  if (mode == Mode::Advise) return advise(*selection);
  const bool is_due = window_.full(now_) || (any_ && any_->is_due);
  if (stage != Stage::Idle || !opening_.empty() || !is_master_ || !is_due) return;
  if (look_) return;  // into queues, for the choice before
  carry_out({any_ ? ChosenFor::Any : ChosenFor::Present,
             options.select.policy,
             can_be,
             loads,
             *std::move(selection),
             {}});
}

SelectOptions Governor::Impl::select_options(SelectPolicy policy) const {
  SelectOptions select = options.select;
  select.policy = policy;
  if (policy == SelectPolicy::General)
    select.margin = Ratio{std::min(0.6, select.margin.value() + 0.1 * trust_.distrust)};
  select.plane = plane;
  if (options.movement == Movement::Planes) {
    select.plane = (plane + 1) % 2;
    select.next_plane = plane;
  }
  return select;
}

void Governor::Impl::advise(const Selection& selection) {
  std::vector<LinkRef> links;
  for (const LinkDecision& decision : selection.decisions) links.push_back(at(decision.link).ref);
  std::sort(links.begin(), links.end());
  if (links == advised_) return;
  advised_ = links;
  if (links.empty()) return report(ReportKind::Advice, {}, "every link is as it should be");
  const LinkDecision& first = selection.decisions.front();
  report(ReportKind::Advice, std::move(links),
         fmt::format("{:.1f} W in place of {:.1f} W of the links between switches; {}: {}{}",
                     plan->watts_then.value(), plan->watts_now.value(), name(first.link), first.reason,
                     selection.decisions.size() > 1
                         ? fmt::format("; and {} more", selection.decisions.size() - 1)
                         : ""));
}

}  // namespace heddle::regulation
