#include "app/heddled.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "app/config_reload.h"
#include "app/heddled_parts.h"
#include "app/notify_config.h"
#include "base/printable.h"

namespace heddle::app {

namespace asio = boost::asio;

namespace {

/// From a change that regulation made to when viewers are told: those that come together are told together.
constexpr FabricClock::duration page_delay = std::chrono::milliseconds{100};

/// A resolver that is slower than this at the start is not waited for: then only the short name is known.
constexpr std::chrono::milliseconds resolver_patience{1000};

transport::EngineOptions engine_options(const Config& config) {
  transport::EngineOptions options;
  options.window = static_cast<std::uint32_t>(config.sampling.window);
  options.per_agent = static_cast<std::uint32_t>(config.sampling.per_agent);
  options.timeout = config.sampling.timeout;
  options.attempts = static_cast<std::uint32_t>(config.sampling.retries) + 1;
  return options;
}

std::vector<load::NamedSet> named_sets(const Config& config) {
  std::vector<load::NamedSet> sets;
  for (const auto& set : config.sets) sets.push_back({set.name, set.nodes});
  return sets;
}

sampling::SamplerOptions sampler_options(const Config& config) {
  sampling::SamplerOptions options;
  options.interval = config.sampling.interval;
  options.history = config.sampling.history;
  options.sets = named_sets(config);
  // The simulated fabric has one tick everywhere, whatever device a description names.
  if (config.fabric.backend == BackendKind::Umad) options.ticks = load::documented_ticks();
  return options;
}

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

}  // namespace

Heddled::Parts::Parts(boost::asio::io_context& io, ConfigSource source, Config config,
                      std::unique_ptr<Backend> backend, NodeNames names)
    : io_{io},
      source_{std::move(source)},
      config_{std::move(config)},
      backend_{std::move(backend)},
      names_{std::move(names)},
      shown_{std::make_shared<const ShownNames>(names_)},
      clock_{backend_->clock()},
      started_{clock_.now()},
      engine_{backend_->transport(), engine_options(config_)},
      discovery_{engine_,
                 {.m_key = config_.fabric.m_key,
                  .guest_smps_per_second = static_cast<std::uint32_t>(config_.sweep.smps_per_second),
                  .on_inactive =
                      [this](const PortRef& port) {
                        if (authority_ != nullptr) authority_->on_inactive(port);
                      }},
                 [this](const discovery::SweepReport& report) { on_sweep(report); }},
      disk_{io, entering([] {})},
      notices_{{.io = io,
                .desk = desk_at(disk_, clock_),
                .file = config_.state.directory + "/notices.db",
                .most = config_.notify.queue,
                .teller = {name_of_host(), config_.metrics.fabric}}},
      plans_{config_.state.directory + "/plan.json", desk_at(disk_, clock_)},
      master_{engine_, backend_->transport(), config_.fabric.m_key,
              [this](Instant now) { discovery_.full(now); }},
      sampler_{engine_, sampler_options(config_),
               [this](const std::shared_ptr<const load::Sample>& sample) { on_sample(sample); }},
      health_{config_.health},
      isolation_{config_.isolation},
      queues_{engine_},
      phy_{engine_,
           {.interval = config_.health.window / health::window_steps},
           [this](const health::PhyRound& round) { health_.on_round(round); }},
      qos_{{.io = io,
            .clock = clock_,
            .engine = engine_,
            .plans = plans_,
            .desk = desk_at(disk_, clock_),
            .name_of = [this](const Node& node) { return shown_->of(node); },
            .why_not = [this] { return authority_->why_not(); },
            .why_no_qos = [this] { return authority_->why_no_qos(); },
            .plan_written = [this] { authority_->on_plan_written(); },
            .pace = [this] { return discovery_.pace(); }},
           {config_.state.directory, config_.fabric.m_key, config_.qos.verify_interval}},
      engine_alarm_{io, clock_, entering([this](Instant now) { engine_.on_timer(now); })},
      sampler_alarm_{io, clock_, entering([this](Instant now) { sampler_.on_timer(now); })},
      queues_alarm_{io, clock_, entering([this](Instant now) { queues_.on_timer(now); })},
      phy_alarm_{io, clock_, entering([this](Instant now) {
                   if (sampler_.fabric()) phy_.on_timer(now, sampler_.fabric(), sampler_.agents());
                 })},
      discovery_alarm_{io, clock_, entering([this](Instant now) { discovery_.on_timer(now); })},
      authority_alarm_{io, clock_, entering([this](Instant now) { authority_->on_timer(now); })},
      light_alarm_{io, clock_, entering([this](Instant now) {
                     if (backend_->check()) discovery_.full(now);
                     discovery_.light(now);
                     if (authority_->looks_for_master()) master_.look(now);
                     tell_problems();
                     light_alarm_.set(now + config_.sweep.light_interval);
                   })},
      heavy_alarm_{io, clock_, entering([this](Instant now) {
                     discovery_.full(now);
                     heavy_alarm_.set(now + config_.sweep.heavy_interval);
                   })},
      page_alarm_{io, clock_,
                  [this](Instant) {
                    if (sampler_.latest()) page_.publish(sampler_.latest());
                  }},
      notifier_{io},
      metrics_{[this](const Node& node) { return names_.of(node); },
               {config_.metrics.selection, config_.metrics.fabric}},
      page_{*this, [this](std::function<void()> then) { asio::post(io_, std::move(then)); }},
      doors_{io} {
  backend_->transport().receive_with(entering(
      [this](const mad::Packet& packet, Instant at) { engine_.on_packet(packet, at, clock_.now()); }));
  engine_.unsolicited_to([this](const mad::Packet& packet, Instant at) { on_unsolicited(packet, at); });
  metrics_.add(master_metrics_);
  metrics_.add(problem_metrics_);
  metrics_.add(notify_metrics_);
  metrics_.add(health_metrics_);
  metrics_.add(qos_.metrics().part());
  engine_.wake_with([this](Instant when) { engine_alarm_.set_no_later(when); });
}

/// The parts that can fail to open.
Result<void> Heddled::Parts::open() {
  const auto destinations = destinations_of(config_);
  if (!destinations) return fail(destinations.error());
  if (auto used = notices_.use(*destinations); !used) return used;
  auto in_force = open_authority({.io = io_,
                                  .backend = *backend_,
                                  .engine = engine_,
                                  .seat = *this,
                                  .plans = plans_,
                                  .enter = [this](const std::function<void()>& what) { on_event(what); }},
                                 config_);
  if (!in_force) return fail(in_force.error());
  in_force_ = *std::move(in_force);
  authority_ = in_force_.authority.get();
  if (authority_->actuator() == nullptr) {
    ports_left_off_ = Regulation::ports_left_off(config_, clock_);
    return {};
  }
  auto regulation = Regulation::open({.io = io_,
                                      .clock = clock_,
                                      .authority = *authority_,
                                      .disk = disk_,
                                      .names = names_,
                                      .enter = [this](const std::function<void()>& what) { on_event(what); },
                                      .logged =
                                          [this](const journal::Event& event) {
                                            notices_.tell(event.at, event.kind, event.links, event.text);
                                            doors_.answers().outdate();
                                            page_alarm_.set_no_later(clock_.now() + page_delay);
                                          }},
                                     config_);
  if (!regulation) return fail(regulation.error());
  regulation_ = *std::move(regulation);
  metrics_.add(regulation_->metrics());
  if (in_force_.opensm_metrics) metrics_.add(in_force_.opensm_metrics);
  return {};
}

Result<void> Heddled::Parts::listen() {
  doors_.handle_with(page_.handler(control::api_handler(*this)));
  const auto& control = config_.control;
  auto opened = doors_.serve([&](asio::io_context& io, control::Handler handler) {
    return control::serve_unix(io, {control.socket, control.group, control.others_may_read},
                               std::move(handler));
  });
  if (!opened || config_.metrics.listen.empty()) return opened;
  auto secrets = read_secrets(config_);
  if (!secrets) return fail(secrets.error());
  guard_->set(*std::move(secrets));
  auto names = control::names_of_this_host(resolver_patience);
  names.insert(names.end(), control.hosts.begin(), control.hosts.end());
  opened = doors_.serve([&](asio::io_context& io, control::Handler handler) {
    return control::serve_tcp(
        io, {config_.metrics.listen, std::make_shared<const control::HostNames>(names), guard_},
        std::move(handler));
  });
  if (!opened) return fail("metrics.listen", opened.error());
  return {};
}

void Heddled::Parts::begin() {
  doors_.open();
  notifier_.ready();
  spdlog::info("managing {} ({})", backend_->source(), backend_->kind());
  on_event([this] {
    const Instant now = clock_.now();
    take_manner(now);
    discovery_.full(now);
    light_alarm_.set(now + config_.sweep.light_interval);
    heavy_alarm_.set(now + config_.sweep.heavy_interval);
  });
}

/// Sets the alarms for what the state machines wait for. Called by on_event() alone.
void Heddled::Parts::settle() {
  if (stopping_) return;
  sampler_alarm_.set(sampler_.next_deadline());
  queues_alarm_.set(queues_.next_deadline());
  phy_alarm_.set(sampler_.latest() ? phy_.next_deadline() : std::nullopt);
  discovery_alarm_.set(discovery_.next_deadline());
  authority_alarm_.set(authority_->next_deadline());
  qos_.settle();
  if (regulation_) regulation_->settle();
  if (regulation_rests_ && !authority_->is_configuring()) return finish();
  if (in_force_.opensm_metrics) {
    in_force_.opensm_metrics->set({authority_->is_ready(), plans_.trouble().empty()});
  }
}

void Heddled::Parts::on_unsolicited(const mad::Packet& packet, Instant at) {
  if (const auto notice = authority_->on_unsolicited(packet, at)) discovery_.on_notice(*notice, at);
}

void Heddled::Parts::on_sweep(const discovery::SweepReport& report) {
  if (stopping_) return;
  if (report.failure) {
    spdlog::error("discovery: {}", report.failure->message);
    found_wrong_ = {report.failure->message};
    return;
  }
  if (report.kind != discovery::SweepKind::Light) {
    found_wrong_.clear();
    found_twice_ = found_twice(report.problems);
    for (const auto& problem : report.problems) {
      found_wrong_.push_back(fmt::format("{}: {}", to_string(problem.kind), problem.text));
      spdlog::warn("{}", found_wrong_.back());
    }
  }
  if (report.survey == report.before) return;
  const Fabric& fabric = *report.survey->fabric;
  spdlog::info("{} sweep in {:.1f} ms: {} switches, {} channel adapters, {} links", to_string(report.kind),
               seconds(report.ended - report.begun) * 1e3, fabric.switch_count(),
               fabric.channel_adapter_count(), fabric.links().size());
  qos_.found(*report.survey);
  authority_->on_found(report.survey, report.ended);
}

Result<std::string> Heddled::Parts::take_subnet(const std::string& by) {
  if (authority_->may_write()) return "this daemon is the subnet manager already";
  if (auto taken = authority_->take_subnet(); !taken) return fail(taken.error());
  spdlog::warn("{} orders this daemon to manage the fabric, past ports that say IsSM and do not answer",
               by.empty() ? "an operator" : printable(by));
  on_event([this] {
    take_manner(clock_.now());
    discovery_.full(clock_.now());
  });
  return "standing for subnet manager; 'heddle status' says what became of it";
}

/// What everybody works with from here on.
void Heddled::Parts::show(std::shared_ptr<const Survey> survey) {
  survey_ = std::move(survey);
  shown_ = std::make_shared<const ShownNames>(names_, *survey_->fabric);
  planes_ = std::make_shared<const Planes>(*survey_->fabric);
  doors_.answers().outdate();
  qos_.use(survey_);
  health_.on_survey(survey_, found_twice_, clock_.now());
  const Fabric& fabric = *survey_->fabric;
  most_switches_ = std::max(most_switches_, fabric.switch_count());
  sampler_.use(survey_->fabric);
  if (authority_->looks_for_master() && !master_.sight()) master_.look(clock_.now());
  notifier_.status(fmt::format("{} switches, {} channel adapters, {} links", fabric.switch_count(),
                               fabric.channel_adapter_count(), fabric.links().size()));
}

void Heddled::Parts::on_sample(const std::shared_ptr<const load::Sample>& sample) {
  tell_metrics_of_the_master();
  sampling_watch_.saw(*sample, sampler_.statistics().late_sweeps);
  tell_problems();
  judge_health(*sample);
  metrics_.publish(sample, sampler_.statistics(), engine_);
  doors_.answers().sampled();
  page_.publish(sample);
  if (regulation_) regulation_->on_sample(sample);
  isolate();
  spdlog::debug("sweep {} in {:.1f} ms, {} ports failed", sample->number,
                seconds(sample->ended - sample->began) * 1e3, sample->failures.size());
}

void Heddled::Parts::reload() {
  if (stop_asked_) return;
  notifier_.reloading();
  auto fresh = source_.load();
  if (!fresh) {
    spdlog::error("reload: {}; the configuration stays as it was", fresh.error().message);
    reload_wrong_ =
        fmt::format("the configuration could not be read again: {}; the one from before is in force",
                    fresh.error().message);
  } else {
    reload_wrong_.reset();
    if (const auto keys = changed(config_, *fresh, Effect::ByStart); !keys.empty()) {
      return start_anew(keys);
    }
    if (const auto waiting = changed(config_, *fresh, Effect::AtStart); !waiting.empty()) {
      reload_wrong_ =
          fmt::format("of the configuration file, what was changed of {} takes effect at the next start",
                      fmt::join(waiting, ", "));
      spdlog::warn("reload: {}", *reload_wrong_);
    }
    // The files may have changed although their names have not.
    config_.metrics.tokens_file = fresh->metrics.tokens_file;
    config_.metrics.tls = fresh->metrics.tls;
    if (auto secrets = read_secrets(config_)) {
      guard_->set(*std::move(secrets));
    } else {
      spdlog::error("reload: {}; what was read before goes on", secrets.error().message);
    }
    reload_destinations(*fresh);
    config_.sweep.light_interval = fresh->sweep.light_interval;
    config_.sweep.heavy_interval = fresh->sweep.heavy_interval;
    config_.sampling.interval = fresh->sampling.interval;
    config_.qos = fresh->qos;
    qos_.set_verify_interval(config_.qos.verify_interval);
    config_.sets = fresh->sets;
    const auto mode = fresh->regulation.governor.mode;
    if (std::exchange(config_.regulation.governor.mode, mode) != mode && regulation_) {
      regulation_->set_mode(mode);
    }
    config_.log = fresh->log;
    spdlog::set_level(spdlog::level::from_str(config_.log.level));
    const Instant now = clock_.now();
    sampler_.set_interval(config_.sampling.interval, now);
    sampler_.set_sets(named_sets(config_));
    light_alarm_.set_no_later(now + config_.sweep.light_interval);
    heavy_alarm_.set_no_later(now + config_.sweep.heavy_interval);
    spdlog::info("configuration read again");
  }
  notifier_.ready();
}

/// Their files are read again, too.
void Heddled::Parts::reload_destinations(const Config& fresh) {
  const auto destinations = destinations_of(fresh);
  auto used = destinations ? notices_.use(*destinations) : fail(destinations.error());
  if (used) {
    config_.notify_entries = fresh.notify_entries;
  } else {
    spdlog::error("reload: {}; notices go where they went before", used.error().message);
    reload_wrong_ = used.error().message + "; notices go where they went before";
  }
}

/// As whoever ends and is started again, but that nobody may take up what is under way: it is ended first.
void Heddled::Parts::start_anew(const std::vector<std::string>& keys) {
  spdlog::warn("reload: {} changed: this daemon ends in order and starts anew", fmt::join(keys, ", "));
  stop_asked_ = starts_anew_ = true;
  if (!regulation_ || !regulation_->stop(Regulation::Changes::End, [this] { regulation_rests_ = true; })) {
    regulation_rests_ = true;
  }
}

void Heddled::Parts::stop() {
  if (std::exchange(starts_anew_, false)) return notifier_.stopping();  // it is ending
  if (!std::exchange(stop_asked_, true)) {
    notifier_.stopping();
    if (regulation_ && regulation_->stop(Regulation::Changes::GoOn, [this] { finish(); })) {
      spdlog::info("bringing links back before ending; a second signal ends at once");
      return;
    }
  }
  finish();
}

void Heddled::Parts::finish() {
  if (std::exchange(stopping_, true)) return;
  spdlog::info("ending");
  doors_.close();
  notices_.stop();
  qos_.stop();
  engine_.stop(clock_.now());
  for (Alarm* alarm : {&engine_alarm_, &sampler_alarm_, &queues_alarm_, &phy_alarm_, &discovery_alarm_,
                       &authority_alarm_, &light_alarm_, &heavy_alarm_})
    alarm->set(std::nullopt);
  backend_->stop();
  io_.stop();
}

Result<std::unique_ptr<Heddled>> Heddled::start(boost::asio::io_context& io, const ConfigSource& source) {
  auto config = source.load();
  if (!config) return fail(config.error());
  spdlog::set_level(spdlog::level::from_str(config->log.level));
  NodeNames names;
  if (!config->fabric.node_names.empty()) {
    auto loaded = NodeNames::load(config->fabric.node_names);
    if (!loaded) return fail(loaded.error());
    names = std::move(*loaded);
  }
  auto backend = open_backend(io, *config);
  if (!backend) return fail(backend.error());
  auto parts = std::make_unique<Parts>(io, source, std::move(*config), std::move(*backend), std::move(names));
  if (auto opened = parts->open(); !opened) return fail(opened.error());
  if (auto listening = parts->listen(); !listening) return fail(listening.error());
  parts->begin();
  return std::unique_ptr<Heddled>(new Heddled(std::move(parts)));
}

Heddled::Heddled(std::unique_ptr<Parts> parts) : parts_{std::move(parts)} {}
Heddled::~Heddled() = default;
void Heddled::reload() {
  parts_->on_event([this] { parts_->reload(); });
}
bool Heddled::starts_anew() const { return parts_->starts_anew(); }
void Heddled::stop() {
  parts_->on_event([this] { parts_->stop(); });
}

}  // namespace heddle::app
