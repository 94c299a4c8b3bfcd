// Links for whatever the hosts could send to one another at their rates: chosen when the rates change, and
// kept from pattern to pattern of traffic.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "regulation/governor_impl.h"
#include "regulation/holding.h"

namespace heddle::regulation {

using governing::SearchFor;
using routing::LinkSet;

namespace {

/// What hosts of a switch send or get more before that is other traffic: a share of what their links carry,
/// above what single hosts' rates vary by.
constexpr double rise_of_switch = 0.01;
constexpr double quiet_times = 6;

void raise_rates(std::vector<double>& rates, const std::vector<double>& by) {
  for (std::size_t t = 0; t < rates.size() && t < by.size(); ++t) {
    if (std::isnan(rates[t]) || by[t] > rates[t]) rates[t] = by[t];
  }
}

}  // namespace

bool Governor::Impl::is_for_any() const {
  return options.chosen_for == ChosenFor::Any && options.select.policy == SelectPolicy::General;
}

void Governor::Impl::forget_any() {
  rates_.clear();
  received_.clear();
  received_samples_ = 0;
  any_.reset();
  any_search_.reset();
  choice_waits_ = false;
}

/// Hosts' own links say the same whatever tables are in force. What each gets is taken as a mean over six
/// quiet times: what is hot for minutes only is in the sample of patterns anyway, wherever it is.
void Governor::Impl::note_rates() {
  if (!is_for_any()) return;
  rates_.add(now_, {{}, {}, latest_->sent, {}});
  const std::vector<double>& received = latest_->received;
  double part = 1.0 / ++received_samples_;
  if (received_.size() == received.size())
    part = std::max(part, seconds(now_ - received_at_) / (quiet_times * seconds(options.quiet)));
  else
    received_.assign(received.size(), 0);
  part = std::min(part, 1.0);
  for (std::size_t t = 0; t < received.size(); ++t)
    received_[t] += part * ((std::isnan(received[t]) ? 0 : received[t]) - received_[t]);
  received_at_ = now_;
}

MeasuredLoads Governor::Impl::host_rates() const {
  MeasuredLoads rates = rates_.peak();
  rates.received = received_;
  return rates;
}

/// All hosts, or those of a switch. What they receive says who sends to whom, and that may change anyway.
bool Governor::Impl::send_more(const MeasuredLoads& rates, const MeasuredLoads& than) const {
  const auto& graph = network->graph();
  if (sent_by_all(rates) > (1 + other_load) * sent_by_all(than)) return true;
  return std::ranges::any_of(network->host_switches(), [&](routing::SwitchIndex s) {
    double now = 0;
    double before = 0;
    double all = 0;
    for (const std::uint32_t t : graph.targets_at(s)) {
      const routing::Target& target = graph.targets()[t];
      if (target.kind != routing::TargetKind::Host) continue;
      now += std::isnan(rates.sent[t]) ? 0 : rates.sent[t];
      before += std::isnan(than.sent[t]) ? 0 : than.sent[t];
      const Port& port = network->fabric().port(target.port);
      all += data_rate(port.width, port.speed).value();
    }
    return now > (1 + other_load) * before + rise_of_switch * all;
  });
}

/// A search for less is given up when that is not what they send any more.
void Governor::Impl::bring_for_rates() {
  if (!is_for_any()) return;
  if (any_search_ && send_more(*latest_, any_search_->rates())) any_search_.reset();
  if (any_search_ || !any_ || !send_more(*latest_, any_->search->rates())) return;
  MeasuredLoads rates = host_rates();
  raise_rates(rates.sent, any_->search->rates().sent);
  choose_for_any(SearchFor::More, std::move(rates));
}

/// Less only once all of a quiet time was so.
void Governor::Impl::follow_rates(const LinkSet& available) {
  if (any_search_ || rates_.empty()) return;
  MeasuredLoads rates = host_rates();
  if (!any_) return choose_for_any(SearchFor::More, std::move(rates));
  // What it was chosen for counts until all of a quiet time says less.
  if (!is_set_for(available)) return choose_for_any(SearchFor::Same, any_->search->rates());
  if (!rates_.full(now_) || now_ < any_->fewer_from) return;
  if ((1 + other_load) * sent_by_all(rates) < sent_by_all(any_->search->rates()))
    return choose_fewer(std::move(rates), resting());
  const LinkSet rests = resting();
  if (!rests.contains(any_->search->resting())) choose_fewer(any_->search->rates(), rests);
}

/// What is on, and came back too short a while ago to leave.
LinkSet Governor::Impl::resting() const {
  LinkSet links = coming_links();
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    if (has_rested(LinkIndex{i})) links.erase(LinkIndex{i});
  }
  return links;
}

bool Governor::Impl::is_set_for(const LinkSet& available) const {
  return any_->search->is_for(available, exempt_, select_options(SelectPolicy::General));
}

void Governor::Impl::search(SearchFor what, MeasuredLoads rates) {
  any_search_ = std::make_unique<AnySearch>(problem(available(), *latest_, nullptr),
                                            select_options(SelectPolicy::General), std::move(rates));
  search_begins_ = true;
  search_for_ = what;
}

/// On, or on its way, and not about to go by an operator's order.
LinkSet Governor::Impl::coming_links() const {
  return links_where([this](const LinkRecord& link) {
    return may_be_on(link) && (is_on(link) || link.wanted || link.state == LinkState::Opening);
  });
}

/// Among what is on alone, with what may not leave yet: nothing comes back for it. Precondition: there is a
/// set.
void Governor::Impl::choose_fewer(MeasuredLoads rates, const LinkSet& resting) {
  any_->fewer_from = now_ + options.quiet;
  search(SearchFor::Less, std::move(rates));
  any_search_->let_rest(resting);
}

/// Links may come back for it.
void Governor::Impl::choose_for_any(SearchFor what, MeasuredLoads rates) {
  any_search_.reset();
  if (!rules_hold(available())) return any_.reset();
  search(what, std::move(rates));
}

/// Some of it at a time: whatever else happens is answered between.
void Governor::Impl::search_on() {
  if (mode == Mode::Off || is_stopping_) {
    any_search_.reset();
    choice_waits_ = false;
  }
  if (any_search_ && search_begins_) return begin_search();
  if (any_search_) {
    if (any_search_->links().step()) return;
    const std::optional<LinkSet> active = any_search_->links().chosen();
    if (active) return keep_for_any(*active);
    any_search_.reset();
    any_.reset();
    choice_waits_ = false;
    return;
  }
  if (!std::exchange(choice_waits_, false)) return;
  if (!window_.empty() && is_steady()) choose();
}

/// With links that have to stay since it was chosen, as those that took minutes to come back. With more links
/// it does for the same rates: they deal a few LIDs anew. Precondition: there is one.
std::optional<LinkSet> Governor::Impl::set_before_that_will_do() {
  const LinkSet all = available();
  if (any_->search->chose_from_less(all, exempt_)) return std::nullopt;
  LinkSet set = LinkSet::none(network->fabric());
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    const LinkIndex link{i};
    if (all.contains(link) && (any_->active.contains(link) || exempt_[i] != Exempt::No)) set.insert(link);
  }
  if (!rules_hold(set)) return std::nullopt;
  const bool is_more = search_for_ == SearchFor::Same && set.contains(any_->active);
  if (!is_more && !any_search_->links().bears(set)) return std::nullopt;
  return set;
}

/// The set before it may do. Else what is on, or part of it, if that bears it: links are not exchanged for
/// others that would do as well.
void Governor::Impl::begin_search() {
  search_begins_ = false;
  const bool is_for_less = search_for_ == SearchFor::Less;
  AnyLinks& links = any_search_->links();
  if (!is_for_less && any_) {
    if (auto set = set_before_that_will_do()) {
      any_search_->let_rest(any_->search->resting());
      return keep_for_any(*std::move(set));
    }
  }
  const LinkSet coming = coming_links();
  if (rules_hold(coming) && links.bears(coming)) {
    any_search_->look_among(coming);
  } else if (is_for_less) {
    if (!rules_hold(any_->active) || !links.bears(any_->active)) return any_search_.reset();
    any_search_->look_among(any_->active);
  }
}

void Governor::Impl::keep_for_any(LinkSet active) {
  AnyLinks::Outcome outcome = any_search_->links().outcome(active);
  const Instant fewer_from = any_ ? any_->fewer_from : now_;
  const bool is_due = search_for_ == SearchFor::Less;
  any_ = AnySet{std::move(any_search_), std::move(active), std::move(outcome), fewer_from, is_due};
  bring_for_any();
}

void Governor::Impl::bring_for_any() {
  const std::string why = fmt::format("hosts send {:.0f} Gbit/s, and could send that to others",
                                      sent_by_all(any_->search->rates()) / 1e9);
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    const LinkRecord& link = records[i];
    if (!any_->active.contains(LinkIndex{i})) continue;
    if (link.state == LinkState::Draining || link.state == LinkState::Leaving) call_off_for_load(why);
    want(LinkIndex{i}, why);
  }
}

Result<Selection> Governor::Impl::select_now(const SelectionProblem& now) {
  const SelectOptions select = select_options(options.select.policy);
  if (!any_) return select_links(now, select);
  Selection selection = selection_of(now, select, any_->active, any_->outcome.most);
  selection.held = any_->outcome.held;
  selection.note = "chosen for any traffic at the rates of the hosts";
  if (const std::string most = most_is_held(selection.held); !most.empty()) selection.note += "; " + most;
  return selection;
}

/// Part of what leaves may crowd others more than all of it. Where the rest stays for a while, a set with
/// that is looked for first; then halves are tried.
std::vector<Governor::Impl::Take> Governor::Impl::what_any_traffic_spares(const Choice& choice,
                                                                          std::vector<Take> takes) {
  if (!any_ || !is_set_for(choice.available)) return {};
  AnyLinks& any = any_->search->links();
  LinkSet rest = confirmed;
  std::vector<Take> fitting;
  unsigned trials = any.trials_of_parts();
  const auto without = [&](std::span<const Take> more) {
    LinkSet fewer = rest;
    for (const Take& take : more) fewer.erase(take.link);
    return fewer;
  };
  const auto fits = [&](std::span<const Take> more) {
    const LinkSet fewer = without(more);
    return rules_hold(fewer) && any.bears(fewer);
  };
  const std::function<void(std::span<const Take>)> add = [&](std::span<const Take> more) {
    if (more.empty() || trials == 0) return;
    --trials;
    if (fits(more)) {
      rest = without(more);
      fitting.insert(fitting.end(), more.begin(), more.end());
    } else if (more.size() > 1) {
      add(more.first(more.size() / 2));
      add(more.subspan(more.size() / 2));
    }
  };
  const std::size_t most = options.most_closing == 0 ? takes.size() : options.most_closing;
  LinkSet staying = links_where([this](const LinkRecord& link) { return may_be_on(link) && is_on(link); });
  staying.erase(any_->active);
  for (const Take& take : takes) staying.erase(take.link);
  if (takes.size() <= most && staying.count() > 0 && now_ >= any_->fewer_from && !fits(takes)) {
    choose_fewer(any_->search->rates(), staying);
    choice_waits_ = true;
    return {};
  }
  add(std::span(takes).first(std::min(most, takes.size())));
  return fitting;
}

}  // namespace heddle::regulation
