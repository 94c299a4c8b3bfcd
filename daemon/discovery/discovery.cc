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
      sweep_{engine, options, found_,
             [this](Collected what, Instant now) { collected(std::move(what), now); }},
      light_{engine, options.m_key, options.observer_smps_per_second,
             [this](Suspicion what, Instant now) { suspected(std::move(what), now); }} {}

void Discovery::full(Instant now) {
  wants_full_ = true;
  interrupt_light();
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
  wants_full_ = wants_full_ || so_far->lost;
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
  epoch_ = survey->fabric->epoch();
  survey_ = std::move(survey);
  overtaken_ = busy_;
}

void Discovery::release(Instant now) {
  held_ = false;
  next(now);
}

void Discovery::next(Instant now) {
  if (busy_ || held_) return;
  if (wants_full_ || ((wants_light_ || !suspects_.empty()) && !survey_)) {
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
      light_.start(survey_, change_bits_ == ChangeBits::Clear ? LookAt::ChangeBits : LookAt::EveryPort, now);
      break;
  }
}

void Discovery::start_full(Instant now) {
  kind_ = SweepKind::Full;
  wants_full_ = false;
  wants_light_ = false;
  suspects_.clear();
  sweep_.start_full(now);
}

void Discovery::start_partial(std::vector<NodeGuid> nodes, Instant now) {
  kind_ = SweepKind::Partial;
  asked_ = std::move(nodes);
  std::sort(asked_.begin(), asked_.end());
  asked_.erase(std::unique(asked_.begin(), asked_.end()), asked_.end());
  sweep_.start_partial(*survey_, asked_, now);
}

void Discovery::suspected(Suspicion suspicion, Instant now) {
  overtaken_ = false;
  if (!suspicion.whole) wants_light_ = true;
  if (suspicion.failure) {
    report(suspicion.failure, now);
  } else if (suspicion.lost) {
    start_full(now);
  } else if (!suspicion.nodes.empty()) {
    start_partial(std::move(suspicion.nodes), now);
  } else {
    report(std::nullopt, now);
  }
}

void Discovery::collected(Collected what, Instant now) {
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
    survey_ = assemble(std::move(what.nodes), what.local, ++epoch_, found_);
  }
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
  report.begun = begun_;
  report.ended = now;
  busy_ = false;
  done_(report);
  next(now);
}

}  // namespace heddle::discovery
