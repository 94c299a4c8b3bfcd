#include "discovery/discovery.h"

#include <algorithm>
#include <utility>

#include "discovery/assemble.h"

namespace heddle::discovery {
namespace {

/// Notices of IBA 14.2.5.1.
constexpr std::uint16_t link_state_changed = 128;
constexpr std::uint16_t capability_changed = 144;
constexpr std::uint16_t system_image_changed = 145;

bool same(const SurveyPort& x, const SurveyPort& y) {
  return x.known == y.known && x.info.state == y.info.state && x.info.physical == y.info.physical &&
         x.info.lid == y.info.lid && x.speed == y.speed &&
         x.info.link_width_active == y.info.link_width_active;
}

/// Of two surveys of the same nodes: those that are not the same in both.
void add_differing(const Survey& before, const Survey& after, std::set<NodeGuid>& nodes) {
  for (const SurveyNode& node : after.nodes) {
    const NodeIndex index = before.fabric->find_node(node.guid());
    if (index == no_node ||
        !std::equal(node.ports.begin(), node.ports.end(), before.node(index).ports.begin(),
                    before.node(index).ports.end(), same)) {
      nodes.insert(node.guid());
    }
  }
}

}  // namespace

std::string_view to_string(SweepKind kind) {
  switch (kind) {
    case SweepKind::Full:
      return "full";
    case SweepKind::Partial:
      return "partial";
    case SweepKind::Light:
      return "light";
  }
  return "unknown";
}

Discovery::Discovery(transport::TransactionEngine& engine, const SweepOptions& options, Done done)
    : done_{std::move(done)},
      change_bits_{options.change_bits},
      pace_{options.guest_smps_per_second},
      sweep_{engine, options, pace_, found_,
             [this](Collected what, Instant now) { collected(std::move(what), now); }},
      light_{engine, options.m_key, pace_,
             [this](Suspicion what, Instant now) { suspected(std::move(what), now); }},
      background_{engine, options, pace_, background_problems_, [this](Collected what, Instant now) {
                    background_found_ = std::move(what);
                    interrupt_light();
                    next(now);
                  }} {
  background_.set_manner(Manner::Guest);
  background_.stand_behind_others();
}

void Discovery::set_manner(Manner manner, Instant now) {
  if (std::exchange(manner_, manner) == manner) return;
  sweep_.set_manner(manner);
  if (manner == Manner::Owner) drop_background();
  next(now);
}

void Discovery::on_timer(Instant now) {
  // In the order in which they may take turns.
  sweep_.on_timer(now);
  light_.on_timer(now);
  background_.on_timer(now);
  if (wants_full_ && in_background()) next(now);
}

std::optional<Instant> Discovery::next_deadline() const {
  auto first = light_.next_deadline();
  for (const auto& other : {sweep_.next_deadline(), background_.next_deadline()}) {
    if (other && (!first || *other < *first)) first = other;
  }
  const bool rests = wants_full_ && !held_ && in_background() && !background_.running() && !background_found_;
  if (rests && !catching_up_ && (!first || rests_until_ < *first)) first = rests_until_;
  return first;
}

void Discovery::full(Instant now) {
  wants_full_ = true;
  is_doubt_ = false;
  rests_until_ = now;
  futile_ = 0;
  if (!in_background()) interrupt_light();
  next(now);
}

void Discovery::light(Instant now) {
  wants_light_ = true;
  next(now);
}

void Discovery::rediscover(std::span<const NodeGuid> nodes, Instant now) {
  suspects_.insert(nodes.begin(), nodes.end());
  interrupt_light();
  next(now);
}

/// One at a pace may take minutes, and what somebody asks for does not wait for it.
void Discovery::interrupt_light() {
  if (!busy_ || kind_ != SweepKind::Light) return;
  const auto so_far = light_.interrupt();
  if (!so_far) return;
  busy_ = false;
  overtaken_ = false;
  wants_light_ = true;
  suspects_.insert(so_far->nodes.begin(), so_far->nodes.end());
  if (so_far->lost && !std::exchange(wants_full_, true)) is_doubt_ = true;
}

void Discovery::on_notice(const mad::Notice& notice, Instant now) {
  if (!notice.generic || !survey_) return;
  if (notice.trap != link_state_changed && notice.trap != capability_changed &&
      notice.trap != system_image_changed) {
    return;
  }
  const PortIndex port = survey_->fabric->find_port(notice.data_lid());
  if (port == no_port) {
    light(now);  // a LID that this survey does not know
    return;
  }
  const NodeGuid node = survey_->fabric->node(survey_->fabric->port(port).node).guid;
  rediscover({&node, 1}, now);
}

void Discovery::adopt(std::shared_ptr<const Survey> survey) {
  if (survey_ && (background_.running() || background_found_ || catching_up_)) {
    add_differing(*survey_, *survey, touched_);
  }
  epoch_ = std::max(epoch_, survey->fabric->epoch());
  survey_ = std::move(survey);
  overtaken_ = busy_;
}

void Discovery::take_routes(const Survey& from) {
  auto changed = std::make_shared<Survey>(*survey_);
  heddle::take_routes(from, *changed);
  epoch_ = std::max(epoch_, from.fabric->epoch());
  survey_ = std::move(changed);
  overtaken_ = busy_;
}

void Discovery::release(Instant now) {
  held_ = false;
  next(now);
}

void Discovery::next(Instant now) {
  if (held_) return;
  if (wants_full_ && in_background() && now >= rests_until_) start_background(now);
  if (busy_) return;
  if (background_found_) {
    finish_background(now);
  } else if ((wants_full_ && !in_background()) || ((wants_light_ || !suspects_.empty()) && !survey_)) {
    start(SweepKind::Full, now);
  } else if (!suspects_.empty()) {
    start(SweepKind::Partial, now);
  } else if (wants_light_) {
    start(SweepKind::Light, now);
  }
}

void Discovery::start(SweepKind kind, Instant now) {
  busy_ = true;
  kind_ = kind;
  whole_ = kind != SweepKind::Partial;
  begun_ = now;
  before_ = survey_;
  switch (kind) {
    case SweepKind::Full:
      start_full(now);
      break;
    case SweepKind::Partial: {
      std::vector<NodeGuid> nodes(suspects_.begin(), suspects_.end());
      suspects_.clear();
      start_partial(std::move(nodes), now);
      break;
    }
    case SweepKind::Light:
      wants_light_ = false;
      light_.start(survey_, change_bits_ == ChangeBits::Clear ? LookAt::ChangeBits : LookAt::EveryPort,
                   full_is_awaited() ? OwnPort::Leave : OwnPort::Look, now);
      break;
  }
}

void Discovery::start_full(Instant now) {
  if (in_background()) {
    // What is known stays until more is. A node that says another thing each time is left to the next round
    // that somebody asks for.
    if (++futile_ < most_futile) {
      is_doubt_ = is_doubt_ || !wants_full_;
      wants_full_ = true;
    } else {
      suspects_.clear();
    }
    report(std::nullopt, now);
    return;
  }
  kind_ = SweepKind::Full;
  wants_full_ = false;
  is_doubt_ = false;
  wants_light_ = false;
  suspects_.clear();
  whole_ = true;
  sweep_.start_full(now);
}

void Discovery::start_partial(std::vector<NodeGuid> nodes, Instant now) {
  kind_ = SweepKind::Partial;
  asked_ = std::move(nodes);
  std::sort(asked_.begin(), asked_.end());
  asked_.erase(std::unique(asked_.begin(), asked_.end()), asked_.end());
  if (background_.running() || background_found_) touched_.insert(asked_.begin(), asked_.end());
  sweep_.start_partial(*survey_, asked_, now);
}

void Discovery::suspected(Suspicion suspicion, Instant now) {
  overtaken_ = false;
  whole_ = suspicion.whole;
  // What could not be asked is not asked at once again: the engine takes nothing, or is stopped.
  if (suspicion.failure) {
    report(suspicion.failure, now);
    return;
  }
  if (!suspicion.whole) wants_light_ = true;
  if (suspicion.lost || owes_full_) {
    // Nobody has heeded what came while the local node did not answer.
    start_full(now);
  } else if (!suspicion.nodes.empty()) {
    start_partial(std::move(suspicion.nodes), now);
  } else {
    report(std::nullopt, now);
  }
}

void Discovery::start_background(Instant now) {
  if (background_.running() || background_found_ || catching_up_) return;
  wants_full_ = false;
  background_is_doubt_ = std::exchange(is_doubt_, false);
  touched_.clear();
  // A partial sweep under way may see what this one is too early for.
  if (busy_ && kind_ == SweepKind::Partial) touched_.insert(asked_.begin(), asked_.end());
  background_began_ = now;
  background_.set_change_bits(change_bits_);
  background_.start_full(now);
}

void Discovery::drop_background() {
  if (!background_.running() && !background_found_) return;
  background_.abandon();
  background_found_.reset();
  wants_full_ = true;
}

void Discovery::finish_background(Instant now) {
  Collected what = *std::exchange(background_found_, std::nullopt);
  busy_ = true;
  kind_ = SweepKind::Full;
  whole_ = true;
  begun_ = background_began_;
  before_ = survey_;
  full_round_ = now - background_began_;
  if (background_is_doubt_) rests_until_ = now + std::clamp(*full_round_, least_rest, most_rest);
  owes_full_ = what.failure.has_value();
  problems_ = background_problems_.take();
  if (what.failure) return report(std::move(what.failure), now);
  found_ = {};
  const auto survey = assemble(std::move(what.nodes), what.local, ++epoch_, begun_, found_);
  for (auto& problem : found_.take()) problems_.push_back(std::move(problem));
  if (touched_.empty()) {
    futile_ = 0;
    survey_ = survey;
    return report(std::nullopt, now);
  }
  catching_up_ = survey;
  overtaken_ = false;
  const std::set<NodeGuid> again = std::exchange(touched_, {});
  asked_.assign(again.begin(), again.end());
  sweep_.start_partial(*catching_up_, asked_, now);
}

void Discovery::caught_up(Collected what, Instant now) {
  const auto survey = std::exchange(catching_up_, nullptr);
  if (what.failure) {
    // Something has gone meanwhile: to be found out in the ordinary way, from what was found.
    survey_ = survey;
    if (futile_ < most_futile) suspects_.insert(asked_.begin(), asked_.end());
  } else {
    futile_ = 0;
    survey_ = assemble(std::move(what.nodes), what.local, ++epoch_, begun_, found_);
    problems_ = found_.take();
  }
  // Somebody wrote to the fabric during that.
  if (std::exchange(overtaken_, false)) suspects_.insert(touched_.begin(), touched_.end());
  touched_.clear();
  report(std::nullopt, now);
}

void Discovery::collected(Collected what, Instant now) {
  if (catching_up_) return caught_up(std::move(what), now);
  const bool overtaken = std::exchange(overtaken_, false);
  if (kind_ == SweepKind::Partial && what.failure) {
    // The other end of a lost cable, whose trap came later, may know why.
    const std::size_t known = asked_.size();
    suspects_.insert(asked_.begin(), asked_.end());
    if (suspects_.size() > known && !wants_full_) {
      start_partial({suspects_.begin(), suspects_.end()}, now);
      suspects_.clear();
    } else {
      start_full(now);
    }
    return;
  }
  if (kind_ == SweepKind::Partial && overtaken) {
    start_partial(std::exchange(asked_, {}), now);
    return;
  }
  if (!what.failure) {
    futile_ = 0;
    survey_ = assemble(std::move(what.nodes), what.local, ++epoch_, begun_, found_);
    if (kind_ == SweepKind::Full && manner_ == Manner::Guest) full_round_ = now - begun_;
  }
  if (kind_ == SweepKind::Full) owes_full_ = what.failure.has_value();
  problems_ = found_.take();
  report(std::move(what.failure), now);
}

void Discovery::report(std::optional<Error> failure, Instant now) {
  SweepReport report;
  report.kind = kind_;
  report.survey = survey_;
  report.before = std::exchange(before_, nullptr);
  report.problems = problems_;
  report.failure = std::move(failure);
  report.whole = whole_;
  report.begun = begun_;
  report.ended = now;
  busy_ = false;
  done_(report);
  next(now);
}

}  // namespace heddle::discovery
