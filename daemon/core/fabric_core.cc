#include "core/fabric_core.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/printable.h"

namespace heddle::core {
namespace {

/// How long a port's transmit queue is watched: long against a packet, short against what anybody waits for.
constexpr FabricClock::duration queue_sampling = std::chrono::microseconds{100};

std::vector<health::Duplicate> found_twice(const std::vector<discovery::Problem>& problems) {
  std::vector<health::Duplicate> found;
  for (const discovery::Problem& problem : problems) {
    if (problem.kind == discovery::ProblemKind::DuplicateGuid) {
      found.push_back({health::Rule::DuplicateGuid, problem.where, printable(problem.text)});
    } else if (problem.kind == discovery::ProblemKind::LidConflict) {
      found.push_back({health::Rule::DuplicateLid, problem.where, printable(problem.text)});
    }
  }
  return found;
}

CoreOptions with_settings(CoreOptions options) {
  options.sampler.interval = options.settings.sampling;
  options.sampler.sets = options.settings.sets;
  options.regulation.governor.mode = options.settings.mode;
  return options;
}

}  // namespace

FabricCore::FabricCore(Around around, const CoreOptions& options)
    : outside_{around.outside},
      desk_{around.desk.run, [this] { return now_; }},
      options_{with_settings(options)},
      settings_{options.settings},
      engine_{around.transport, options.engine},
      discovery_{engine_,
                 {.m_key = options.m_key,
                  .guest_smps_per_second = options.guest_smps_per_second,
                  .on_inactive = [this](const PortRef& port) { authority_->on_inactive(port); },
                  .on_active = [this](const PortRef& port) { authority_->on_active(port); }},
                 [this](const discovery::SweepReport& report) { on_sweep(report); }},
      agents_{options.agents ? std::make_unique<regulate::HostAgents>(engine_, *options.agents) : nullptr},
      master_{engine_, around.transport, options.m_key, [this](Instant at) { discovery_.full(at); },
              [this](Severity severity, const std::string& text) { say(severity, text); }},
      sampler_{engine_, options_.sampler,
               [this](const std::shared_ptr<const load::Sample>& sample) { on_sample(sample); }},
      health_{options.health},
      isolation_{options.isolation},
      queues_{engine_},
      phy_{engine_,
           {.interval = options.health.window / health::window_steps},
           [this](const health::PhyRound& round) { health_.on_round(round); }},
      details_{engine_,
               {.interval = options.health.window / health::window_steps},
               [this] { return health_.unexplained(); },
               [this](const health::DetailRound& round) { health_.on_details(round); }},
      firmware_{
          engine_,
          {},
          [this](const std::shared_ptr<const health::Firmwares>& known) { health_.on_firmware(known); }},
      tables_{engine_,
              {.m_key = options.m_key, .guest_smps_per_second = options.guest_smps_per_second},
              [this] { return discovery_.pace(); },
              [this](const std::shared_ptr<const discovery::TablesRead>& read) { on_tables(read); }},
      qos_{{.engine = engine_,
            .plans = around.plans,
            .desk = desk_,
            .store = around.qos,
            .name_of = [this](const Node& node) { return shown_->of(node); },
            .why_not = [this] { return authority_->why_not(); },
            .why_no_qos = [this] { return authority_->why_no_qos(); },
            .plan_written = [this] { authority_->on_plan_written(); },
            .pace = [this] { return discovery_.pace(); },
            .say = [this](Severity severity, const std::string& text) { say(severity, text); },
            .told = [this] { outside_.on_qos(); }},
           options.m_key,
           options.settings.verify_qos},
      shown_{std::make_shared<const ShownNames>(options_.names)} {
  engine_.unsolicited_to([this](const mad::Packet& packet, Instant at) {
    if (const auto notice = authority_->on_unsolicited(packet, at)) discovery_.on_notice(*notice, at);
  });
  engine_.unmatched_to(
      [this](const mad::Packet& packet, Instant at) { authority_->on_unmatched(packet, at); });
}

void FabricCore::regulate_with(journal::Journal& journal) {
  regulation_ =
      std::make_unique<Regulation>(options_.regulation, options_.on_stop, journal, desk_, *authority_,
                                   [this](const journal::Event& event) { log(event); });
  regulation_->regulator().look_at_queues_with(
      [this](const std::vector<PortRef>& ports, regulate::Regulator::QueuesLooked looked) {
        return look_for_regulation(ports, std::move(looked));
      });
}

Result<void> FabricCore::look_for_regulation(const std::vector<PortRef>& ports,
                                             regulate::Regulator::QueuesLooked looked) {
  std::vector<PortIndex> found;
  for (const PortRef& port : ports) {
    const PortIndex index = survey_ ? survey_->fabric->find_port(port) : no_port;
    if (index != no_port) found.push_back(index);
  }
  return look_at_queues(found, [this, looked = std::move(looked)](
                                   const std::vector<sampling::QueueLook>& looks) { looked(looks, now_); });
}

void FabricCore::take_over(std::unique_ptr<authority::Authority> authority, journal::Journal* journal) {
  authority_ = std::move(authority);
  options_.regulation.governor.mode = settings_.mode;
  if (journal != nullptr) regulate_with(*journal);
  // Of the one before the ports may still say that a subnet manager is there; it writes nothing any more.
  (void)authority_->take_subnet();
  take_manner();
  // Beside a subnet manager sweeps take their time, and links are waited for.
  if (survey_ && !authority_->owns_fabric()) {
    authority_->on_found(survey_, now_);
  } else {
    tell_all_ = true;
  }
  discovery_.full(now_);
}

void FabricCore::on(const Event& event, Instant now) {
  if (ended_) return;
  before_ = std::exchange(now_, now);
  ++entered_;
  std::visit([this](const auto& what) { enter(what); }, event);
  if (entered_ == 1) take_movement();
  if (--entered_ == 0) settle();
}

void FabricCore::enter(const Began& /*began*/) {
  take_manner();
  discovery_.full(now_);
  light_at_ = now_ + settings_.light_sweep;
  heavy_at_ = now_ + settings_.heavy_sweep;
  full_ended_ = now_;
}

void FabricCore::enter(const TimersDue& /*due*/) {
  on_parts();
  on_sweeps_due();
}

void FabricCore::enter(const TookLong& /*event*/) { engine_.sent_by(before_, now_); }

void FabricCore::on_parts() {
  const auto due = [this](const auto& part) {
    const auto at = part.next_deadline();
    return at && *at <= now_;
  };
  if (due(engine_)) engine_.on_timer(now_);
  if (due(discovery_)) discovery_.on_timer(now_);
  if (due(*authority_)) authority_->on_timer(now_);
  if (agents_ && due(*agents_)) agents_->on_timer(now_);
  if (regulation_) regulation_->on_timer(now_);
  if (due(sampler_)) sampler_.on_timer(now_);
  if (due(queues_)) queues_.on_timer(now_);
  if (sampler_.latest() && due(phy_)) phy_.on_timer(now_, sampler_.fabric(), sampler_.agents());
  if (sampler_.latest() && due(details_)) details_.on_timer(now_, sampler_.fabric(), sampler_.agents());
  if (due(firmware_)) firmware_.on_timer(now_);
  if (due(tables_)) tables_.on_timer(now_);
  if (due(qos_)) qos_.on_timer(now_);
}

void FabricCore::on_sweeps_due() {
  if (light_at_ && *light_at_ <= now_) {
    light_at_ = now_ + settings_.light_sweep;
    discovery_.light(now_);
    if (authority_->looks_for_master()) master_.look(now_);
  }
  if (heavy_at_ && *heavy_at_ <= now_) {
    heavy_at_ = now_ + settings_.heavy_sweep;
    discovery_.full(now_);
  }
}

std::optional<Instant> FabricCore::next_deadline() const {
  if (ended_) return std::nullopt;
  std::optional<Instant> first = engine_.next_deadline();
  const auto sooner = [&first](std::optional<Instant> at) {
    if (at && (!first || *at < *first)) first = at;
  };
  sooner(discovery_.next_deadline());
  sooner(authority_->next_deadline());
  if (agents_) sooner(agents_->next_deadline());
  if (regulation_) sooner(regulation_->next_deadline());
  sooner(sampler_.next_deadline());
  sooner(queues_.next_deadline());
  if (sampler_.latest()) sooner(phy_.next_deadline());
  if (sampler_.latest()) sooner(details_.next_deadline());
  sooner(firmware_.next_deadline());
  sooner(tables_.next_deadline());
  sooner(qos_.next_deadline());
  sooner(light_at_);
  sooner(heavy_at_);
  return first;
}

void FabricCore::enter(const Reloaded& reloaded) {
  const auto mode = std::exchange(settings_, reloaded.settings).mode;
  qos_.set_verify_interval(settings_.verify_qos);
  if (settings_.mode != mode && regulation_) {
    regulation_->regulator().set_mode(settings_.mode, "the configuration", now_,
                                      [](const Result<std::string>&) {});
  }
  sampler_.set_interval(settings_.sampling, now_);
  sampler_.set_sets(settings_.sets);
  if (light_at_) light_at_ = std::min(*light_at_, now_ + settings_.light_sweep);
  if (heavy_at_) heavy_at_ = std::min(*heavy_at_, now_ + settings_.heavy_sweep);
}

void FabricCore::enter(const StopAsked& asked) {
  if (std::exchange(stopping_, asked.changes)) return;
  if (regulation_) regulation_->stop(asked.changes, now_);
}

/// Planes are used while all hosts can move, as far as is known.
void FabricCore::take_movement() {
  if (agents_ && regulation_ && !stopping_) regulation_->regulator().set_movement(agents_->movement(), now_);
}

/// Whether it may end, after each event. What was being configured is not left half done where everything
/// begins anew.
void FabricCore::settle() {
  if (!stopping_ || ended_) return;
  if (regulation_ && !regulation_->has_stopped(now_)) return;
  if (*stopping_ == Changes::End && authority_->is_configuring()) return;
  stopping_.reset();
  if (regulation_) regulation_->rest(now_);
  outside_.on_rest();
}

void FabricCore::end() {
  if (std::exchange(ended_, true)) return;
  qos_.stop();
  engine_.stop(now_);
}

/// Whoever owns a fabric asks as fast as it can.
void FabricCore::take_manner() {
  using discovery::Manner;
  discovery_.set_manner(authority_->owns_fabric() ? Manner::Owner : Manner::Guest, now_);
}

void FabricCore::on_sweep(const discovery::SweepReport& report) {
  if (ended_) return;
  if (report.kind == discovery::SweepKind::Full) full_ended_ = now_;
  if (report.failure) {
    say(Severity::Error, "discovery: " + report.failure->message);
    found_wrong_ = {report.failure->message};
    return;
  }
  if (report.whole && regulation_) regulation_->regulator().count_look();
  if (report.kind != discovery::SweepKind::Light) {
    found_wrong_.clear();
    found_twice_ = found_twice(report.problems);
    for (const auto& problem : report.problems) {
      found_wrong_.push_back(fmt::format("{}: {}", to_string(problem.kind), problem.text));
      say(Severity::Warning, found_wrong_.back());
    }
  }
  if (!std::exchange(tell_all_, false) && report.survey == report.before) return;
  const Fabric& fabric = *report.survey->fabric;
  say(Severity::Info,
      fmt::format("{} sweep in {:.1f} ms: {} switches, {} channel adapters, {} links", to_string(report.kind),
                  seconds(report.ended - report.begun) * 1e3, fabric.switch_count(),
                  fabric.channel_adapter_count(), fabric.links().size()));
  qos_.found(*report.survey);
  authority_->on_found(report.survey, report.ended);
}

Result<std::string> FabricCore::take_subnet(const std::string& by) {
  if (authority_->may_write()) return "this daemon is the subnet manager already";
  if (auto taken = authority_->take_subnet(); !taken) return fail(taken.error());
  say(Severity::Warning,
      fmt::format("{} orders this daemon to manage the fabric, past ports that say IsSM and do not answer",
                  by.empty() ? "an operator" : printable(by)));
  begin_anew(now_);
  return "standing for subnet manager; 'heddle status' says what became of it";
}

Result<void> FabricCore::look_at_queues(const std::vector<PortIndex>& ports,
                                        sampling::QueueProbe::Done done) {
  const auto& sample = sampler_.latest();
  // The sampler knows the agents of the fabric that it works on, which may not be the newest one yet.
  if (!survey_ || !sample || sample->fabric != survey_->fabric) {
    return fail(ErrorCode::Unreachable, "this fabric has not been sampled yet; ask again in a moment");
  }
  return queues_.look(*survey_->fabric, sampler_.agents(), ports, queue_sampling, now_, std::move(done));
}

void FabricCore::adopt(std::shared_ptr<const Survey> survey) {
  discovery_.adopt(survey);
  use(std::move(survey));
}

void FabricCore::take_routes(std::shared_ptr<const Survey> survey) {
  discovery_.survey() == usable_ ? discovery_.adopt(survey) : discovery_.take_routes(*survey);
  use(std::move(survey));
}

void FabricCore::look_at(const std::vector<NodeGuid>& nodes, Instant now) {
  discovery_.rediscover(nodes, now);
}

void FabricCore::use(std::shared_ptr<const Survey> survey) {
  usable_ = survey;
  show(std::move(survey));
}

void FabricCore::release(Instant now) {
  take_manner();
  discovery_.release(now);
}

void FabricCore::begin_anew(Instant now) {
  take_manner();
  tell_all_ = true;
  discovery_.full(now);
}

void FabricCore::set_change_bits(authority::ChangeBits bits) {
  discovery_.set_change_bits(bits == authority::ChangeBits::Clear ? discovery::ChangeBits::Clear
                                                                  : discovery::ChangeBits::Leave);
}

/// What everybody works with from here on.
void FabricCore::show(std::shared_ptr<const Survey> survey) {
  survey_ = std::move(survey);
  shown_ = std::make_shared<const ShownNames>(options_.names, *survey_->fabric);
  if (!regulation_) lost_.look(survey_->fabric, shown_);
  planes_ = std::make_shared<const Planes>(*survey_->fabric);
  qos_.use(survey_);
  if (agents_ && authority_->actuator() != nullptr) agents_->use(*survey_->fabric, now_);
  tables_.use(survey_, now_);
  firmware_.use(survey_->fabric, now_);
  health_.on_survey(survey_, found_twice_, now_);
  most_switches_ = std::max(most_switches_, survey_->fabric->switch_count());
  sampler_.use(survey_->fabric);
  if (authority_->looks_for_master() && !master_.sight()) master_.look(now_);
  outside_.on_survey();
}

void FabricCore::on_sample(const std::shared_ptr<const load::Sample>& sample) {
  sampling_watch_.saw(*sample, sampler_.statistics().late_sweeps);
  judge_health(*sample);
  look_at_downed();
  if (regulation_) regulation_->regulator().on_sample(sample, now_);
  isolate();
  look_at_cables();
  outside_.on_sample(sample);
  say(Severity::Debug, fmt::format("sweep {} in {:.1f} ms, {} ports failed", sample->number,
                                   seconds(sample->ended - sample->began) * 1e3, sample->failures.size()));
}

void FabricCore::log(const journal::Event& event) {
  say(Severity::Info, fmt::format("regulation: {}: {}{}{}", event.kind, event.links,
                                  event.links.empty() ? "" : ": ", event.text));
  outside_.on_logged(event);
}

bool FabricCore::quiet() const {
  return !discovery_.busy() && !authority_->is_configuring() && engine_.pending() == 0 &&
         (!regulation_ || (regulation_->regulator().idle() && regulation_->scribe().waiting() == 0));
}

}  // namespace heddle::core
