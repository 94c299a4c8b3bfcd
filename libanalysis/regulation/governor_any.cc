// Links for whatever the hosts could send to one another at their rates: chosen when the rates change, and
// kept from pattern to pattern of traffic.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "regulation/any_links.h"
#include "regulation/governor_impl.h"

namespace heddle::regulation {

using routing::LinkSet;

namespace {

/// What hosts of a switch send or get more before that is other traffic: a share of what their links carry,
/// above what single hosts' rates vary by.
constexpr double rise_of_switch = 0.01;

void raise_rates(std::vector<double>& rates, const std::vector<double>& by) {
  for (std::size_t t = 0; t < rates.size() && t < by.size(); ++t) {
    if (std::isnan(rates[t]) || by[t] > rates[t]) rates[t] = by[t];
  }
}

}  // namespace

bool Governor::Impl::is_for_any() const {
  return options.chosen_for == ChosenFor::Any && options.select.policy == SelectPolicy::General;
}

/// Hosts' own links say the same whatever tables are in force.
void Governor::Impl::note_rates() {
  if (is_for_any()) rates_.add(now_, {{}, {}, latest_->sent, latest_->received});
}

/// All hosts, or those of a switch.
bool Governor::Impl::send_more(const MeasuredLoads& rates, const MeasuredLoads& than) const {
  const auto& graph = network->graph();
  if (sent_by_all(rates) > (1 + other_load) * sent_by_all(than)) return true;
  const auto rises = [&](routing::SwitchIndex s, std::vector<double> MeasuredLoads::*side) {
    double now = 0;
    double before = 0;
    double all = 0;
    for (const std::uint32_t t : graph.targets_at(s)) {
      const routing::Target& target = graph.targets()[t];
      if (target.kind != routing::TargetKind::Host) continue;
      now += std::isnan((rates.*side)[t]) ? 0 : (rates.*side)[t];
      before += std::isnan((than.*side)[t]) ? 0 : (than.*side)[t];
      const Port& port = network->fabric().port(target.port);
      all += data_rate(port.width, port.speed).value();
    }
    return now > (1 + other_load) * before + rise_of_switch * all;
  };
  return std::ranges::any_of(network->host_switches(), [&](routing::SwitchIndex s) {
    return rises(s, &MeasuredLoads::sent) || rises(s, &MeasuredLoads::received);
  });
}

void Governor::Impl::bring_for_rates() {
  if (!is_for_any() || !any_ || !send_more(*latest_, any_->rates)) return;
  MeasuredLoads rates = rates_.peak();
  raise_rates(rates.sent, any_->rates.sent);
  raise_rates(rates.received, any_->rates.received);
  choose_for_any(available(), rates);
}

/// Less only once all of a quiet time was so.
void Governor::Impl::follow_rates(const LinkSet& available) {
  if (!is_for_any() || rates_.empty()) return;
  const MeasuredLoads rates = rates_.peak();
  const bool is_other = !any_ || any_->available != available || any_->exempt != exempt_;
  const bool is_less =
      any_ && rates_.full(now_) && (1 + other_load) * sent_by_all(rates) < sent_by_all(any_->rates);
  if (is_other || is_less) choose_for_any(available, rates);
}

/// What is on, or part of it, as long as that bears it: links are not exchanged for others that would do as
/// well.
void Governor::Impl::choose_for_any(const LinkSet& available, const MeasuredLoads& rates) {
  const SelectOptions select = select_options(SelectPolicy::General);
  LinkSet coming = links_where([this](const LinkRecord& link) {
    return is_on(link) || link.wanted || link.state == LinkState::Opening;
  });
  const SelectionProblem of_all = problem(available, *latest_, nullptr);
  const SelectionProblem of_coming = problem(coming, *latest_, nullptr);
  AnyLinks fewer{of_coming, select, rates, available};
  AnyLinks any{of_all, select, rates, available};
  std::optional<LinkSet> active;
  if (any_ && rules_hold(any_->active) && any_->available == available && any_->exempt == exempt_ &&
      sent_by_all(rates) * (1 + other_load) >= sent_by_all(any_->rates) && any.bears(any_->active))
    active = any_->active;
  if (!active && rules_hold(coming) && any.bears(coming)) active = fewer.choose();
  if (!active) active = any.choose();
  if (!active) return any_.reset();
  std::vector<double> loads = any.most(*active);
  any_ = AnySet{rates, *std::move(active), std::move(loads), available, exempt_};
  bring_for_any();
}

void Governor::Impl::bring_for_any() {
  const std::string why =
      fmt::format("hosts send {:.0f} Gbit/s, and could send that to others", sent_by_all(any_->rates) / 1e9);
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    const LinkRecord& link = records[i];
    if (!any_->active.contains(LinkIndex{i})) continue;
    if (link.state == LinkState::Draining || link.state == LinkState::Leaving) call_off_for_load(why);
    want(LinkIndex{i}, why);
  }
}

Selection Governor::Impl::for_any(const SelectionProblem& now, Selection present) {
  if (!is_for_any() || !any_) return present;
  Selection selection = selection_of(now, select_options(SelectPolicy::General), any_->active, any_->loads);
  selection.least_watts = present.least_watts;
  selection.ceilings = std::move(present.ceilings);
  return selection;
}

/// Part of what leaves may crowd others more than all of it.
std::vector<Governor::Impl::Take> Governor::Impl::what_any_traffic_spares(const Choice& choice,
                                                                          std::vector<Take> takes) {
  if (!any_) return {};
  constexpr unsigned most_trials = 16;
  const SelectionProblem now = problem(choice.available, choice.loads, nullptr);
  const SelectOptions select = select_options(choice.policy);
  AnyLinks any{now, select, any_->rates, choice.available};
  LinkSet rest = confirmed;
  std::vector<Take> fitting;
  unsigned trials = most_trials;
  const std::function<void(std::span<const Take>)> add = [&](std::span<const Take> more) {
    if (more.empty() || trials == 0) return;
    --trials;
    LinkSet fewer = rest;
    for (const Take& take : more) fewer.erase(take.link);
    if (rules_hold(fewer) && any.bears(fewer)) {
      rest = std::move(fewer);
      fitting.insert(fitting.end(), more.begin(), more.end());
    } else if (more.size() > 1) {
      add(more.first(more.size() / 2));
      add(more.subspan(more.size() / 2));
    }
  };
  const std::size_t most = options.most_closing == 0 ? takes.size() : options.most_closing;
  add(std::span(takes).first(std::min(most, takes.size())));
  return fitting;
}

}  // namespace heddle::regulation
