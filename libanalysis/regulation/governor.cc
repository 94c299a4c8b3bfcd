#include "regulation/governor.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fabric/unique_names.h"
#include "regulation/governor_impl.h"

namespace heddle::regulation {

using routing::LinkSet;

Governor::Governor(GovernorOptions options) : impl_{std::make_unique<Impl>(std::move(options))} {}
Governor::~Governor() = default;
Governor::Governor(Governor&&) noexcept = default;
Governor& Governor::operator=(Governor&&) noexcept = default;

std::vector<Action> Governor::on(const Event& event) { return impl_->on(event); }
std::optional<Instant> Governor::next_deadline() const { return impl_->next_deadline(); }
Mode Governor::mode() const { return impl_->mode; }
Stage Governor::stage() const { return impl_->stage; }
std::shared_ptr<const Fabric> Governor::reference() const {
  return impl_->network ? impl_->network->shared_fabric() : nullptr;
}
std::vector<std::pair<NodeGuid, std::uint16_t>> Governor::ranks() const { return impl_->kept_ranks; }
const LinkSet& Governor::active() const { return impl_->confirmed; }
unsigned Governor::plane() const { return impl_->plane; }
std::vector<LinkStatus> Governor::links() const { return impl_->links(); }
std::vector<power::LinkMode> Governor::modes() const {
  std::vector<power::LinkMode> modes;
  for (const auto& record : impl_->records) modes.push_back(record.mode);
  return modes;
}
std::vector<power::LinkMode> Governor::full_modes() const {
  std::vector<power::LinkMode> modes;
  for (const auto& record : impl_->records) modes.push_back(record.full);
  return modes;
}
std::vector<OffRecord> Governor::off_links() const { return impl_->off_links(); }
std::vector<LinkRef> Governor::withheld() const { return impl_->withheld(); }
std::vector<LinkRef> Governor::forced() const { return impl_->forced(); }
CutOff Governor::cut_off() const { return impl_->cut_off(); }
std::optional<std::string> Governor::parted() const { return impl_->parted(); }
LinkState Governor::state(LinkIndex link) const { return impl_->records[link.raw()].state; }
std::vector<LinkRef> Governor::links_in(LinkState state) const {
  std::vector<LinkRef> links;
  for (const auto& record : impl_->records) {
    if (record.state == state) links.push_back(record.ref);
  }
  return links;
}
std::vector<LinkRef> Governor::came_up() const {
  std::vector<LinkRef> links;
  for (const auto& record : impl_->records) {
    if (record.came_up) links.push_back(record.ref);
  }
  return links;
}
Movement Governor::movement() const { return impl_->options.movement; }
std::vector<LinkRef> Governor::not_back() const { return impl_->not_back(); }
const std::set<NodeGuid>& Governor::lost_switches() const { return impl_->lost_switches; }
std::string Governor::trouble() const { return impl_->trouble; }
std::vector<DrainStatus> Governor::drains() const { return impl_->drains(); }
std::vector<IdleSwitch> Governor::idle_switches() const { return impl_->idle_switches(); }
bool Governor::is_drained(NodeGuid node) const { return impl_->is_drained(node); }
bool Governor::is_drained(const LinkRef& link) const { return impl_->drain_of(link) != nullptr; }
const std::optional<Plan>& Governor::plan() const { return impl_->plan; }
const Memory& Governor::memory() const { return impl_->memory; }

Result<void> check(const GovernorOptions& options) {
  if (auto ok = check(options.select.thresholds); !ok) return ok;
  const auto wrong = [](std::string what) { return fail(ErrorCode::Invalid, std::move(what)); };
  if (options.movement == Movement::Planes && options.planes != 2)
    return wrong(fmt::format("planes {}: traffic moves between 2 LID planes", options.planes));
  if (options.movement == Movement::Staged && options.planes == 0)
    return wrong("planes 0: there is at least 1");
  using std::chrono::nanoseconds;
  for (const auto& [key, value] : {std::pair<const char*, nanoseconds>{"quiet", options.quiet},
                                   {"least_on", options.least_on},
                                   {"least_off", options.least_off},
                                   {"drain", options.drain},
                                   {"packet_life", options.packet_life},
                                   {"wake", options.wake},
                                   {"longest_wake", options.longest_wake}}) {
    if (value < nanoseconds{0}) return wrong(fmt::format("{}: a time below 0", key));
  }
  if (options.retry_after <= nanoseconds{0}) return wrong("retry_after: a time above 0");
  if (options.chosen_for == ChosenFor::Any && options.select.policy != SelectPolicy::General)
    return wrong("for: \"any\" is of the general policy: policy must be \"general\"");
  if (!(options.break_even >= 1)) return wrong("break_even: a number from 1 on");
  if (!(options.waiting.value() > 0)) return wrong("waiting: a share above 0");
  return {};
}

Governor::Impl::Impl(GovernorOptions given)
    : options{std::move(given)}, mode{options.mode}, window_{options.quiet}, rates_{options.quiet} {}

std::vector<Action> Governor::Impl::on(const Event& event) {
  now_ = std::max(now_, event.at);
  if (takes_from_ && *takes_from_ <= now_) takes_from_.reset();
  actions_.clear();
  const bool moved = traffic_moves();
  std::visit([this](const auto& what) { handle(what); }, event.what);
  if (network) {
    open_strangers();
    open_where_wanted();
    consider();
  }
  if (moved || traffic_moves()) moved_at_ = now_;
  due_ = earliest();
  return std::move(actions_);
}

std::optional<Instant> Governor::Impl::earliest() const {
  if (any_search_ || choice_waits_ || came_back_) return now_;
  std::optional<Instant> first = deadline_;
  const auto take = [&](std::optional<Instant> at) {
    if (at && (!first || *at < *first)) first = at;
  };
  for (const LinkRecord& link : records) take(link.retry_at);
  take(takes_from_);
  for (const auto& [link, override] : memory.overrides) take(override.until);
  for (const auto& [what, drain] : memory.drains) take(drain.until);
  return first;
}

void Governor::Impl::handle(const Tick&) {
  for (auto it = memory.overrides.begin(); it != memory.overrides.end();) {
    const auto [link, override] = *it++;
    if (!override.until || *override.until > now_) continue;
    record(OverrideRecord{link, {Wish::Auto, "expired", override.by, std::nullopt}});
    report(ReportKind::Operator, {link},
           fmt::format("{}: {} by {} has expired", name(link), to_string(override.wish), override.by));
    refresh_exemptions();
    if (override.wish != Wish::Off || wish(link) == Wish::Off) continue;
    if (const auto i = find(link)) want(*i, "the operator's time is over");
    if (is_stranger(link)) strangers_.insert(link);
  }
  end_overdue_drains();
  if (const auto who = std::exchange(came_back_, std::nullopt); who && network) keep_what_is_needed(*who);
  if (network) routing_tick();
  search_on();
}

void Governor::Impl::handle(const StepDone& event) {
  if (opening_.contains(event.step)) return opened(event.step, {}, "");
  if (step_ == event.step) step_done();
}

void Governor::Impl::handle(const StepFailed& event) {
  if (const auto it = opening_.find(event.step); it != opening_.end())
    return opened(event.step, event.links.empty() ? it->second.links : event.links, event.reason);
  if (look_ == event.step) return forget_look();  // the next choice asks again
  if (step_ == event.step && stage == Stage::Draining) return handle(QueuesSeen{event.step, {}});
  if (step_ == event.step) step_failed(event.reason, event.links);
}

void Governor::Impl::handle(const StepTimedOut& event) {
  if (look_ == event.step) return queues_seen({event.step, {}});
  handle(StepFailed{event.step, "no answer in time", {}});
}

void Governor::Impl::record(Record what) {
  regulation::apply(memory, what);
  actions_.emplace_back(std::move(what));
}

void Governor::Impl::report(ReportKind kind, std::vector<LinkRef> links, std::string reason) {
  actions_.emplace_back(Report{kind, std::move(links), std::move(reason)});
}

void Governor::Impl::answer(CommandId command, std::string text) {
  actions_.emplace_back(Answer{command, std::nullopt, std::move(text)});
}

void Governor::Impl::refuse(CommandId command, ErrorCode code, std::string reason) {
  actions_.emplace_back(Answer{command, Error{code, std::move(reason)}, ""});
}

ChangeId Governor::Impl::next_change() { return ChangeId{memory.last.raw() + 1}; }

std::optional<LinkIndex> Governor::Impl::find(const LinkRef& link) const {
  const auto it = by_ref_.find(link);
  return it == by_ref_.end() ? std::nullopt : std::optional{LinkIndex{it->second}};
}

const std::string& Governor::Impl::name(NodeIndex node) const {
  if (named_ != network->shared_fabric()) {
    named_ = network->shared_fabric();
    names_ = unique_names(*named_);
  }
  return names_[node.raw()];
}

std::string Governor::Impl::name(LinkIndex link) const {
  const Fabric& fabric = network->fabric();
  const auto end = [&](LinkEnd at) { return fmt::format("{}/{}", name(at.node), at.port.raw()); };
  return fmt::format("{} -- {}", end(fabric.link(link).a), end(fabric.link(link).b));
}

std::string Governor::Impl::name(const LinkRef& link) const {
  const auto i = find(link);
  return i ? name(*i) : fmt::format("{} -- {}", to_string(link.a), to_string(link.b));
}

void Governor::Impl::move(LinkRecord& link, LinkState state) {
  if (link.state == state) return;
  if (state != LinkState::Opening) link.came_up = false;
  link.state = state;
  link.since = now_;
  if (state == LinkState::Active) link.active_since = now_;
}

bool is_on(LinkState state) {
  switch (state) {
    case LinkState::Active:
    case LinkState::Leaving:
    case LinkState::Draining:
    case LinkState::Ready:
    case LinkState::Joining:
      return true;
    case LinkState::Closing:
    case LinkState::Off:
    case LinkState::Opening:
    case LinkState::Lost:
      return false;
  }
  return false;
}

bool Governor::Impl::is_on(const LinkRecord& link) const { return regulation::is_on(link.state); }

Wish Governor::Impl::wish(const LinkRef& link) const {
  if (drain_of(link) != nullptr) return Wish::Off;
  const auto it = memory.overrides.find(link);
  return it == memory.overrides.end() ? Wish::Auto : it->second.wish;
}

LinkSet Governor::Impl::on_links() const {
  return links_where([this](const LinkRecord& link) { return is_on(link); });
}

bool Governor::Impl::may_be_on(const LinkRecord& link) const {
  return link.state != LinkState::Lost && wish(link.ref) != Wish::Off && !dead(link);
}

LinkSet Governor::Impl::available() const {
  return links_where([this](const LinkRecord& link) { return may_be_on(link); });
}

bool Governor::Impl::rules_hold(const LinkSet& active) const { return !broken_rule(*network, active); }

void Governor::Impl::refresh_exemptions() {
  if (!network) return;
  excuse_drained({});
  const Overrides overrides(memory.overrides.begin(), memory.overrides.end());
  Troubles troubles = troubles_;
  slow_.clear();
  for (const auto& [link, took] : memory.wakes) {
    if (!takes_too_long(took)) continue;
    slow_.insert(link);
    troubles.emplace(link, Troubled{Trouble::SlowWake, {}});
  }
  exempt_ = exemptions(network->fabric(), options.policy, overrides, troubles);
}

std::vector<LinkStatus> Governor::Impl::links() const {
  std::vector<LinkStatus> result;
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    const LinkRecord& link = records[i];
    if (network->trunk_of(LinkIndex{i}) == Network::no_trunk && !memory.overrides.contains(link.ref))
      continue;
    const auto day_ago = now_ - std::chrono::hours{24};
    const auto recent = std::count_if(link.transitions.begin(), link.transitions.end(),
                                      [&](Instant at) { return at > day_ago; });
    result.push_back({link.ref, link.state, link.mode, link.full, exempt_[i], wish(link.ref), link.since,
                      static_cast<unsigned>(recent), link.reason, wakes_[i]});
  }
  return result;
}

std::vector<OffRecord> Governor::Impl::off_links() const {
  std::vector<OffRecord> result;
  for (const auto& [ref, off] : memory.off) result.push_back(off);
  for (const LinkRecord& link : records) {
    const bool goes = link.state == LinkState::Closing || link.state == LinkState::Opening;
    if (goes && !memory.off.contains(link.ref)) result.push_back(link.off);
  }
  return result;
}

std::vector<LinkRef> Governor::Impl::withheld() const {
  std::vector<LinkRef> result;
  for (const auto& [ref, off] : memory.off) {
    const auto link = find(ref);
    const bool comes_back =
        link && (records[link->raw()].wanted || records[link->raw()].state == LinkState::Opening);
    if (!off.mode.on() && wish(ref) == Wish::Off && !comes_back) result.push_back(ref);
  }
  return result;
}

std::vector<LinkRef> Governor::Impl::forced() const {
  std::vector<LinkRef> result;
  for (const LinkRecord& link : records) {
    if (wish(link.ref) == Wish::Off && off_order(link.ref).forced) result.push_back(link.ref);
  }
  return result;
}

}  // namespace heddle::regulation
