#include "app/heddled.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "app/heddled_parts.h"
#include "authority/own/up_down_keeper.h"
#include "base/printable.h"
#include "routing/link_set.h"
#include "routing/minhop.h"

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

provision::ProvisionOptions provision_options(const Config& config) {
  provision::ProvisionOptions options;
  options.ports.m_key = config.fabric.m_key;
  options.ports.lmc = static_cast<std::uint8_t>(config.sm.lmc);
  options.sm_key = config.sm.sm_key;
  options.packet_life = config.regulation.governor.packet_life;
  options.verify_within = config.sweep.heavy_interval;
  if (config.sm.administrator) options.administrator = sa::AdministratorOptions{.sm_key = config.sm.sm_key};
  return options;
}

/// What the subnet manager routes with where nothing is regulated.
provision::Router router(const Config& config) {
  if (config.sm.engine == RoutingEngine::MinHop) {
    return [](const Fabric& fabric) -> Result<provision::Routes> {
      const auto graph = routing::SwitchGraph::make(fabric);
      if (!graph) return fail(graph.error());
      return routing::route_minhop(*graph, routing::LinkSet::all(fabric));
    };
  }
  return [keeper = std::make_shared<provision::UpDownKeeper>()](const Fabric& fabric) {
    auto tables = keeper->route(fabric);
    if (const auto cut = keeper->unconnected(); tables && cut > 0) {
      spdlog::warn("routing: {} pairs of switches have no up*/down* path", cut);
    }
    return tables;
  };
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
                  .guest_smps_per_second = static_cast<std::uint32_t>(config_.sweep.smps_per_second)},
                 [this](const discovery::SweepReport& report) { on_sweep(report); }},
      plans_{config_.state.directory + "/plan.json"},
      master_{engine_, backend_->transport(), config_.fabric.m_key,
              [this](Instant now) { discovery_.full(now); }},
      sampler_{engine_, sampler_options(config_),
               [this](const std::shared_ptr<const load::Sample>& sample) { on_sample(sample); }},
      queues_{engine_},
      qos_{io,
           clock_,
           engine_,
           plans_,
           {config_.state.directory, config_.fabric.m_key, config_.qos.verify_interval},
           [this](const Node& node) { return shown_->of(node); },
           [this] { return why_not_to_write(); },
           [this] {
             if (regulation_) regulation_->plan_written();
           }},
      engine_alarm_{io, clock_,
                    [this](Instant now) {
                      engine_.on_timer(now);
                      settle();
                    }},
      sampler_alarm_{io, clock_,
                     [this](Instant now) {
                       sampler_.on_timer(now);
                       settle();
                     }},
      queues_alarm_{io, clock_,
                    [this](Instant now) {
                      queues_.on_timer(now);
                      settle();
                    }},
      discovery_alarm_{io, clock_,
                       [this](Instant now) {
                         discovery_.on_timer(now);
                         settle();
                       }},
      manager_alarm_{io, clock_,
                     [this](Instant now) {
                       manager_->on_timer(now);
                       settle();
                     }},
      light_alarm_{io, clock_,
                   [this](Instant now) {
                     if (backend_->check()) discovery_.full(now);
                     discovery_.light(now);
                     if (!is_master()) master_.look(now);
                     problem_metrics_->set(problems());
                     light_alarm_.set(now + config_.sweep.light_interval);
                     settle();
                   }},
      heavy_alarm_{io, clock_,
                   [this](Instant now) {
                     discovery_.full(now);
                     heavy_alarm_.set(now + config_.sweep.heavy_interval);
                     settle();
                   }},
      page_alarm_{io, clock_,
                  [this](Instant) {
                    if (sampler_.latest()) page_.publish(sampler_.latest());
                  }},
      notifier_{io},
      metrics_{[this](const Node& node) { return names_.of(node); }},
      page_{*this, [this](std::function<void()> then) { asio::post(io_, std::move(then)); }},
      doors_{io} {
  backend_->transport().receive_with([this](const mad::Packet& packet, Instant at) {
    engine_.on_packet(packet, at, clock_.now());
    settle();
  });
  engine_.unsolicited_to([this](const mad::Packet& packet, Instant at) { on_unsolicited(packet, at); });
  metrics_.add(master_metrics_);
  metrics_.add(problem_metrics_);
  metrics_.add(qos_.metrics().part());
  engine_.wake_with([this](Instant when) { engine_alarm_.set_no_later(when); });
}

/// The parts that can fail to open.
Result<void> Heddled::Parts::open() {
  if (config_.fabric.read_only) return {};
  if (!may_manage_subnet(config_) && !config_.opensm.plugin) return {};
  if (config_.opensm.plugin || config_.sm.engine == RoutingEngine::UpDown) {
    auto regulation = Regulation::open({.io = io_,
                                        .clock = clock_,
                                        .engine = engine_,
                                        .seat = *this,
                                        .plans = plans_,
                                        .migrator = backend_->migrator(),
                                        .names = names_,
                                        .settle = [this] { settle(); },
                                        .logged =
                                            [this] {
                                              doors_.answers().outdate();
                                              page_alarm_.set_no_later(clock_.now() + page_delay);
                                            }},
                                       config_);
    if (!regulation) return fail(regulation.error());
    regulation_ = *std::move(regulation);
    metrics_.add(regulation_->metrics());
    if (regulation_->opensm_metrics()) metrics_.add(regulation_->opensm_metrics());
  }
  if (config_.opensm.plugin) return {};  // OpenSM is the subnet manager
  manager_.emplace(engine_, backend_->transport(), provision_options(config_),
                   regulation_ ? regulation_->router() : router(config_),
                   [this](const provision::ProvisionReport& report) { on_configured(report); });
  if (regulation_) regulation_->use(*manager_);
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
  const Instant now = clock_.now();
  discovery_.set_manner(manager_ ? discovery::Manner::Owner : discovery::Manner::Guest, now);
  discovery_.full(now);
  light_alarm_.set(now + config_.sweep.light_interval);
  heavy_alarm_.set(now + config_.sweep.heavy_interval);
  settle();
}

/// After every event: what the state machines wait for has changed.
void Heddled::Parts::settle() {
  if (stopping_) return;
  sampler_alarm_.set(sampler_.next_deadline());
  queues_alarm_.set(queues_.next_deadline());
  discovery_alarm_.set(discovery_.next_deadline());
  if (regulation_) regulation_->settle();
  if (manager_ && !regulation_) manager_alarm_.set(manager_->next_deadline());
}

void Heddled::Parts::on_unsolicited(const mad::Packet& packet, Instant at) {
  if (!manager_) return;
  if (const auto notice = manager_->on_unsolicited(packet, at)) discovery_.on_notice(*notice, at);
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
  if (manager_ && !yields_) {
    discovery_.hold();
    manager_->configure(regulation_ ? regulation_->complete(report.survey) : report.survey, report.ended);
  } else if (config_.opensm.plugin && regulation_) {
    use(regulation_->complete(report.survey));
    regulation_->surveyed(*survey_, backend_->transport().local().port);
    settle();
  } else {
    use(report.survey);
  }
}

void Heddled::Parts::on_configured(const provision::ProvisionReport& report) {
  could_not_do_.clear();
  if (report.failure) {
    spdlog::warn("subnet manager: {}", report.failure->message);
    yields_ = report.failure->code == ErrorCode::Refused;
    if (!yields_) could_not_do_.push_back(report.failure->message);
  } else {
    spdlog::info("configured in {:.1f} ms: {} ports set, {} table blocks written, {} ports raised",
                 seconds(report.ended - report.begun) * 1e3, report.ports_set, report.blocks_written,
                 report.links_raised);
    if (report.multicast_groups > 0) {
      spdlog::info("{} multicast groups have members", report.multicast_groups);
    }
  }
  for (const auto& trouble : report.troubles) {
    if (!yields_) could_not_do_.push_back(trouble.text);
    spdlog::warn("subnet manager: {}", trouble.text);
  }
  if (!report.failure) discovery_.adopt(report.survey);
  if (manager_->is_master()) discovery_.set_change_bits(discovery::ChangeBits::Clear);
  if (yields_) discovery_.set_change_bits(discovery::ChangeBits::Leave);
  if (report.survey) use(report.survey);
  if (regulation_) regulation_->configured(report, backend_->transport().local().lid);
  discovery_.set_manner(yields_ ? discovery::Manner::Guest : discovery::Manner::Owner, report.ended);
  discovery_.release(report.ended);
}

Result<std::string> Heddled::Parts::take_subnet(const std::string& by) {
  if (!manager_) return fail(ErrorCode::Refused, why_not_to_write());
  if (is_master()) return "this daemon is the subnet manager already";
  spdlog::warn("{} orders this daemon to manage the fabric, past ports that say IsSM and do not answer",
               by.empty() ? "an operator" : printable(by));
  manager_->pass_over_silent_sms();
  yields_ = false;
  const Instant now = clock_.now();
  discovery_.set_manner(discovery::Manner::Owner, now);
  discovery_.full(now);
  settle();
  return "standing for subnet manager; 'heddle status' says what became of it";
}

/// What everybody works with from here on.
void Heddled::Parts::use(std::shared_ptr<const Survey> survey) {
  survey_ = std::move(survey);
  shown_ = std::make_shared<const ShownNames>(names_, *survey_->fabric);
  planes_ = std::make_shared<const Planes>(*survey_->fabric);
  doors_.answers().outdate();
  qos_.use(survey_);
  const Fabric& fabric = *survey_->fabric;
  most_switches_ = std::max(most_switches_, fabric.switch_count());
  sampler_.use(survey_->fabric);
  if (!is_master() && !master_.sight()) master_.look(clock_.now());
  notifier_.status(fmt::format("{} switches, {} channel adapters, {} links", fabric.switch_count(),
                               fabric.channel_adapter_count(), fabric.links().size()));
  settle();
}

void Heddled::Parts::on_sample(const std::shared_ptr<const load::Sample>& sample) {
  tell_metrics_of_the_master();
  sampling_watch_.saw(*sample, sampler_.statistics().late_sweeps);
  problem_metrics_->set(problems());
  metrics_.publish(sample, sampler_.statistics(), engine_);
  doors_.answers().outdate();
  page_.publish(sample);
  if (regulation_) regulation_->on_sample(sample);
  spdlog::debug("sweep {} in {:.1f} ms, {} ports failed", sample->number,
                seconds(sample->ended - sample->began) * 1e3, sample->failures.size());
}

void Heddled::Parts::reload() {
  notifier_.reloading();
  auto fresh = source_.load();
  if (!fresh) {
    spdlog::error("reload: {}; the configuration stays as it was", fresh.error().message);
  } else {
    const auto fixed = [](const char* key, bool changed) {
      if (changed) spdlog::warn("reload: {} takes effect at the next start", key);
    };
    fixed("[fabric]", fresh->fabric.backend != config_.fabric.backend ||
                          fresh->fabric.file != config_.fabric.file ||
                          fresh->fabric.generate != config_.fabric.generate ||
                          fresh->fabric.scenario != config_.fabric.scenario ||
                          fresh->fabric.serve != config_.fabric.serve ||
                          fresh->fabric.time_scale != config_.fabric.time_scale ||
                          fresh->fabric.training_delay != config_.fabric.training_delay);
    fixed("metrics.energy", fresh->metrics.energy != config_.metrics.energy);
    fixed("regulation.pin", fresh->regulation.pin != config_.regulation.pin);
    fixed("control.socket", fresh->control.socket != config_.control.socket);
    fixed("metrics.listen", fresh->metrics.listen != config_.metrics.listen);
    // The files may have changed although their names have not.
    config_.metrics.tokens_file = fresh->metrics.tokens_file;
    config_.metrics.tls = fresh->metrics.tls;
    if (auto secrets = read_secrets(config_)) {
      guard_->set(*std::move(secrets));
    } else {
      spdlog::error("reload: {}; what was read before goes on", secrets.error().message);
    }
    fixed("control.hosts", fresh->control.hosts != config_.control.hosts);
    fixed("state.directory", fresh->state.directory != config_.state.directory);
    fixed("sweep.smps_per_second", fresh->sweep.smps_per_second != config_.sweep.smps_per_second);
    config_.sweep = fresh->sweep;
    config_.sampling.interval = fresh->sampling.interval;
    config_.qos = fresh->qos;
    qos_.set_verify_interval(config_.qos.verify_interval);
    config_.sets = fresh->sets;
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
  settle();
}

void Heddled::Parts::stop() {
  if (!std::exchange(stop_asked_, true)) {
    notifier_.stopping();
    if (regulation_ && regulation_->stop([this] { finish(); })) {
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
  qos_.stop();
  engine_.stop(clock_.now());
  for (Alarm* alarm : {&engine_alarm_, &sampler_alarm_, &queues_alarm_, &discovery_alarm_, &manager_alarm_,
                       &light_alarm_, &heavy_alarm_})
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
void Heddled::reload() { parts_->reload(); }
void Heddled::stop() { parts_->stop(); }

}  // namespace heddle::app
