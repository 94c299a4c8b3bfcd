#include "app/heddled.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <utility>

#include "app/agents_key.h"
#include "app/core_options.h"
#include "app/figures.h"
#include "app/heddled_parts.h"
#include "app/notify_config.h"
#include "app/recorded_run.h"
#include "app/state_files.h"

namespace heddle::app {

namespace asio = boost::asio;

namespace {

/// From a change that regulation made to when viewers are told: those that come together are told together.
constexpr FabricClock::duration page_delay = std::chrono::milliseconds{100};

/// An event that takes as long is told of (core::TookLong): answers are waited for as long at least.
constexpr FabricClock::duration long_event = std::chrono::milliseconds{1};

/// A resolver that is slower than this at the start is not waited for: then only the short name is known.
constexpr std::chrono::milliseconds resolver_patience{1000};

}  // namespace

Heddled::Parts::Parts(boost::asio::io_context& io, ConfigSource source, Config config,
                      std::unique_ptr<Backend> backend, NodeNames names,
                      std::unique_ptr<RecordingFile> recording, const std::optional<apm::Key>& agents_key)
    : io_{io},
      source_{std::move(source)},
      config_{std::move(config)},
      backend_{std::move(backend)},
      names_{std::move(names)},
      clock_{backend_->clock()},
      started_{clock_.now()},
      calendar_{calendar_of(clock_)},
      sealed_{agents_key ? std::make_unique<transport::SealedTransport>(backend_->transport(), *agents_key,
                                                                        microseconds_of_day)
                         : nullptr},
      recording_{std::move(recording)},
      recorder_{recording_
                    ? std::make_unique<record::Recorder>(
                          outermost(), [this](std::string_view bytes) { return recording_->take(bytes); },
                          config_.record.most)
                    : nullptr},
      fenced_{shares_state(config_) ? std::make_unique<transport::FencedTransport>(
                                          outermost(), [this] { return shared_ && shared_->may_write(); })
                                    : nullptr},
      disk_{io},
      notices_{{.io = io,
                .desk = desk_at(
                    disk_, [this] { return clock_.now(); }, [](const auto& then) { then(); }),
                .file = config_.state.directory + "/notices.db",
                .most = config_.notify.queue,
                .teller = {name_of_host(), config_.metrics.fabric}}},
      plans_{config_.state.directory + "/plan.json", desk(), plan_file()},
      core_{{.transport = way_in(), .plans = plans_, .desk = desk(), .qos = qos_file(), .outside = *this},
            core_options(config_, names_, calendar_)},
      alarm_{io, clock_, [this](Instant now) { on_alarm(now); }},
      notifier_{io},
      metrics_{[this](const Node& node) { return names_.of(node); },
               {config_.metrics.selection, config_.metrics.fabric}},
      jobs_{io, clock_, config_.jobs.source,
            std::chrono::duration_cast<std::chrono::milliseconds>(config_.jobs.interval)},
      page_{*this, [this](std::function<void()> then) { asio::post(io_, std::move(then)); }},
      doors_{io} {
  outermost().receive_with([this](const mad::Packet& packet, Instant at) { on(core::Arrived{packet, at}); });
  metrics_.add(master_metrics_);
  metrics_.add(problem_metrics_);
  metrics_.add(notify_metrics_);
  metrics_.add(health_metrics_);
  metrics_.add(jobs_.metrics());
  metrics_.add(qos_metrics_.part());
}

/// The parts that can fail to open.
Result<void> Heddled::Parts::open() {
  const auto destinations = destinations_of(config_);
  if (!destinations) return fail(destinations.error());
  if (auto used = notices_.use(*destinations); !used) return used;
  if (recorder_) recorded_hosts_ = recorder_->between(backend_->migrator());
  if (shares_state(config_)) return follow();
  auto in_force = open_authority(around_authority(), config_);
  if (!in_force) return fail(in_force.error());
  in_force_ = *std::move(in_force);
  const bool regulates = in_force_.authority->actuator() != nullptr;
  core_.use(std::move(in_force_.authority));
  if (auto taken = regulates ? take_journal() : Result<void>{}; !taken) return taken;
  if (!regulates) core_.know_left_off(left_off_ = ports_left_off(config_, calendar_));
  if (recorder_) {
    if (auto begun = begin_recording(); !begun) return begun;
  }
  if (regulates) {
    core_.regulate_with(*journal_);
    regulate();
  }
  return {};
}

AroundAuthority Heddled::Parts::around_authority() {
  return {.io = io_,
          .transport = way_in(),
          .migrator = recorded_hosts_ ? recorded_hosts_.get() : backend_->migrator(),
          .core = core_,
          .plans = plans_,
          .entering = [this](core::Source from) { return entering(from); },
          .hearing =
              [this](const std::function<void()>& then, std::string_view words) {
                on(core::CameBack{then, core::Source::Plugin, words});
              },
          .recorder = recorder_.get()};
}

/// What is told of a regulation once there is one.
void Heddled::Parts::regulate() {
  metrics_.add(regulation_metrics_);
  if (in_force_.opensm_metrics) metrics_.add(in_force_.opensm_metrics);
}

Result<void> Heddled::Parts::take_journal() {
  auto journal = open_journal(config_, calendar_);
  if (!journal) return fail(journal.error());
  journal_ = recorder_ ? recorder_->between(*std::move(journal)) : *std::move(journal);
  return {};
}

/// With all that is known before the first event.
Result<void> Heddled::Parts::begin_recording() {
  auto opening = opening_of(source_, config_, *recorder_);
  if (!opening) return fail(opening.error());
  opening->calendar = calendar_;
  opening->left_off = left_off_;
  opening->hosts = recorded_hosts_ != nullptr;
  opening->segments = backend_->transport().segments();
  if (journal_) {
    auto image = journal_->image();
    if (!image) return fail(image.error());
    opening->journal = *std::move(image);
  }
  recorder_->open(*opening);
  return {};
}

Heddled::Parts::~Parts() {
  if (recorder_) recorder_->end("the daemon ended");
}

Desk Heddled::Parts::desk() {
  Desk desk = desk_at(
      disk_, [this] { return core_.now(); }, entering(core::Source::Disk));
  return recorder_ ? recorder_->between(std::move(desk)) : desk;
}

Result<void> Heddled::Parts::listen() {
  // Whatever is asked for is an event.
  doors_.handle_with([this, answer = page_.handler(control::api_handler(*this))](
                         const control::Request& request, const control::Respond& respond) {
    const std::function<std::string()> words = [&] { return to_bytes(request); };
    on(core::Asked{[&] { answer(request, respond); }, &words});
  });
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
  check_at_ = clock_.now() + config_.sweep.light_interval;
  jobs_.begin();
  if (shared_) shared_->begin();
  if (recorder_) recorder_->made(clock_.now());
  on(core::Began{});
}

void Heddled::Parts::on(const core::Event& event) {
  if (lost_place()) return;
  feed(event, clock_.now());
  settle();
}

void Heddled::Parts::feed(const core::Event& event, Instant now) {
  enter(event, now);
  const Instant after = clock_.now();
  if (after - now >= long_event) enter(core::TookLong{}, after);
}

void Heddled::Parts::enter(const core::Event& event, Instant now) {
  if (!recorder_) return core_.on(event, now);
  recorder_->begin(event, now);
  core_.on(event, now);
  recorder_->finish();
}

void Heddled::Parts::on_alarm(Instant now) {
  if (lost_place()) return;
  const bool checks = check_at_ && *check_at_ <= now;
  if (checks) {
    check_at_ = now + config_.sweep.light_interval;
    if (backend_->check()) feed(core::WayMoved{}, now);
  }
  feed(core::TimersDue{}, now);
  if (checks && !stopping_) tell_problems();
  if (page_at_ && *page_at_ <= now) {
    page_at_.reset();
    if (core_.sampler().latest()) page_.publish(core_.sampler().latest());
  }
  settle();
}

/// Sets the alarm for what comes first. It may ring for what has come to nothing by then; that costs nothing.
void Heddled::Parts::settle() {
  if (stopping_) return;
  for (const auto& at : {core_.next_deadline(), check_at_, page_at_}) {
    if (at) alarm_.set_no_later(*at);
  }
  if (shared_) shared_->set_fit(is_fit(in_force_, core_));
  if (in_force_.opensm_metrics) {
    in_force_.opensm_metrics->set({core_.authority().is_ready(), plans_.trouble().empty()});
  }
}

void Heddled::Parts::say(core::Severity severity, const std::string& text) {
  if (recorder_) recorder_->said(severity, text);
  constexpr std::array levels{spdlog::level::debug, spdlog::level::info, spdlog::level::warn,
                              spdlog::level::err};
  spdlog::log(levels.at(static_cast<std::size_t>(severity)), "{}", text);
}

void Heddled::Parts::on_survey() {
  doors_.answers().outdate();
  const Fabric& fabric = *core_.seen()->fabric;
  notifier_.status(fmt::format("{} switches, {} channel adapters, {} links", fabric.switch_count(),
                               fabric.channel_adapter_count(), fabric.links().size()));
}

void Heddled::Parts::on_sample(const std::shared_ptr<const load::Sample>& sample) {
  tell_metrics_of_the_master();
  tell_problems();
  const health::Judge& health = core_.health();
  if (health.report()) health_metrics_->set(*health.report(), health.bit_errors());
  const auto cables = core_.cabling();
  health_metrics_->set_cables(cables && cables->trouble.empty() ? &cables->check : nullptr);
  metrics_.publish(sample, core_.sampler().statistics(), core_.engine());
  doors_.answers().sampled();
  page_.publish(sample);
  jobs_.on_sample(sample);
  if (const auto* regulation = core_.regulation_control(); regulation != nullptr && regulation->reference())
    publish(*regulation);
}

void Heddled::Parts::publish(const core::RegulationControl& regulation) {
  const EnergyDetail detail = config_.metrics.energy;
  const auto energy = detail == EnergyDetail::Total ? power::EnergyRecord{} : regulation.energy();
  regulation_metrics_->publish(regulation_figures(regulation.state(), energy, regulation.drains(), detail));
}

void Heddled::Parts::on_logged(const journal::Event& event) {
  if (recorder_) recorder_->logged(event);
  notices_.tell(event.at, event.kind, event.links, event.text);
  doors_.answers().outdate();
  page_at_ = std::min(page_at_.value_or(Instant::max()), core_.now() + page_delay);
}

void Heddled::Parts::on_qos() { qos_metrics_.set(qos_figures(core_.qos().state(), core_.now())); }

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
  const auto agents_key = key_of_agents(*config);
  if (!agents_key) return fail(agents_key.error());
  auto backend = open_backend(io, *config);
  if (!backend) return fail(backend.error());
  std::unique_ptr<RecordingFile> recording;
  if (!source.record.empty()) {
    if (!can_be_recorded(*config)) {
      return fail(
          ErrorCode::Unsupported,
          "--record: what daemons that take turns keep together in etcd is not recorded; record this daemon "
          "alone");
    }
    auto created = RecordingFile::create(source.record);
    if (!created) return fail(created.error());
    recording = *std::move(created);
  }
  auto parts = std::make_unique<Parts>(io, source, std::move(*config), std::move(*backend), std::move(names),
                                       std::move(recording), *agents_key);
  if (auto opened = parts->open(); !opened) return fail(opened.error());
  if (auto listening = parts->listen(); !listening) return fail(listening.error());
  parts->begin();
  return std::unique_ptr<Heddled>(new Heddled(std::move(parts)));
}

Heddled::Heddled(std::unique_ptr<Parts> parts) : parts_{std::move(parts)} {}
Heddled::~Heddled() = default;
void Heddled::reload() { parts_->reload(); }
bool Heddled::starts_anew() const { return parts_->starts_anew(); }
void Heddled::stop() { parts_->stop(); }

}  // namespace heddle::app
