#include "app/heddled.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <optional>
#include <utility>

#include "app/alarm.h"
#include "app/backend.h"
#include "app/qos_service.h"
#include "app/regulation.h"
#include "app/service_notifier.h"
#include "app/sm_observer.h"
#include "control/api.h"
#include "discovery/discovery.h"
#include "fabric/node_names.h"
#include "metrics/metrics.h"
#include "metrics/subnet_manager_families.h"
#include "provision/subnet_manager.h"
#include "provision/up_down_keeper.h"
#include "routing/link_set.h"
#include "routing/minhop.h"
#include "sampling/queue_probe.h"
#include "sampling/sampler.h"
#include "transport/transactions.h"
#include "web/page.h"

namespace heddle::app {

namespace asio = boost::asio;

namespace {

/// How long a port's transmit queue is watched: long against a packet, short against what anybody waits for.
constexpr FabricClock::duration queue_sampling = std::chrono::microseconds{100};

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

/// The parts in the order in which they depend on each other; they go away in the opposite one.
class Heddled::Parts final : public control::Daemon, private regulate::FabricSeat {
 public:
  Parts(boost::asio::io_context& io, ConfigSource source, Config config, std::unique_ptr<Backend> backend,
        NodeNames names);

  Result<void> open();
  Result<void> listen();
  void begin();
  void reload();
  void stop();

  [[nodiscard]] control::DaemonState state() const override;
  [[nodiscard]] control::Pieces metrics() override;
  Result<void> look_at_queues(const std::vector<PortIndex>& ports, sampling::QueueProbe::Done done) override;
  control::QosControl* qos() override { return &qos_; }
  [[nodiscard]] const regulate::Regulator* regulator() const override {
    return regulation_ ? &std::as_const(*regulation_).regulator() : nullptr;
  }
  [[nodiscard]] Instant now() const override { return clock_.now(); }
  void command(const Command& command) override {
    command(regulation_->regulator(), clock_.now());
    settle();
  }

 private:
  // What the regulation needs of the fabric.
  [[nodiscard]] std::shared_ptr<const Survey> survey() const override { return survey_; }
  void adopt(std::shared_ptr<const Survey> survey) override {
    discovery_.adopt(survey);
    use(std::move(survey));
  }
  void look_at(const std::vector<NodeGuid>& nodes, Instant now) override {
    discovery_.rediscover(nodes, now);
  }

  void finish();
  void on_unsolicited(const mad::Packet& packet, Instant at);
  void on_sweep(const discovery::SweepReport& report);
  void on_configured(const provision::ProvisionReport& report);
  void use(std::shared_ptr<const Survey> survey);
  [[nodiscard]] std::string why_not_to_write() const;
  void on_sample(const std::shared_ptr<const load::Sample>& sample);
  void settle();
  void tell_metrics_of_the_master();
  [[nodiscard]] bool is_master() const { return manager_ && manager_->is_master(); }
  [[nodiscard]] control::SubnetManagerState subnet_manager_state() const;

  boost::asio::io_context& io_;
  ConfigSource source_;
  Config config_;
  std::unique_ptr<Backend> backend_;
  NodeNames names_;
  const transport::Clock& clock_;
  Instant started_;

  transport::TransactionEngine engine_;
  discovery::Discovery discovery_;
  std::unique_ptr<Regulation> regulation_;           ///< none where this can never be the subnet manager
  std::optional<provision::SubnetManager> manager_;  ///< none when the configuration says never
  SmObserver master_;
  bool yields_ = false;  ///< another one was master: from then on this one only watches
  sampling::Sampler sampler_;
  sampling::QueueProbe queues_;
  QosService qos_;
  Alarm engine_alarm_;
  Alarm sampler_alarm_;
  Alarm queues_alarm_;
  Alarm light_alarm_;
  Alarm heavy_alarm_;
  ServiceNotifier notifier_;

  metrics::Metrics metrics_;
  std::shared_ptr<metrics::SubnetManagerMetrics> master_metrics_ =
      std::make_shared<metrics::SubnetManagerMetrics>();
  asio::thread_pool scrapers_{1};  ///< makes the text of /metrics
  web::Page page_;

  std::shared_ptr<const Survey> survey_;   ///< as it was found, or as it was configured after that
  std::vector<std::string> found_wrong_;   ///< by the last sweep
  std::vector<std::string> could_not_do_;  ///< of the last configuration
  bool stop_asked_ = false;
  bool stopping_ = false;
  std::unique_ptr<control::HttpServer> control_;
  std::unique_ptr<control::HttpServer> tcp_;
};

Heddled::Parts::Parts(boost::asio::io_context& io, ConfigSource source, Config config,
                      std::unique_ptr<Backend> backend, NodeNames names)
    : io_{io},
      source_{std::move(source)},
      config_{std::move(config)},
      backend_{std::move(backend)},
      names_{std::move(names)},
      clock_{backend_->clock()},
      started_{clock_.now()},
      engine_{backend_->transport(), engine_options(config_)},
      discovery_{engine_,
                 {.m_key = config_.fabric.m_key},
                 [this](const discovery::SweepReport& report) { on_sweep(report); }},
      master_{engine_, backend_->transport(), config_.fabric.m_key,
              [this](Instant now) { discovery_.full(now); }},
      sampler_{engine_, sampler_options(config_),
               [this](const std::shared_ptr<const load::Sample>& sample) { on_sample(sample); }},
      queues_{engine_},
      qos_{io,
           clock_,
           engine_,
           {config_.state.directory, config_.fabric.m_key, config_.qos.verify_interval},
           [this](const Node& node) { return names_.of(node); },
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
      light_alarm_{io, clock_,
                   [this](Instant now) {
                     if (backend_->check()) discovery_.full(now);
                     discovery_.light(now);
                     if (!is_master()) master_.look(now);
                     light_alarm_.set(now + config_.sweep.light_interval);
                     settle();
                   }},
      heavy_alarm_{io, clock_,
                   [this](Instant now) {
                     discovery_.full(now);
                     heavy_alarm_.set(now + config_.sweep.heavy_interval);
                     settle();
                   }},
      notifier_{io},
      metrics_{[this](const Node& node) { return names_.of(node); }},
      page_{*this, [this](std::function<void()> then) { asio::post(io_, std::move(then)); }} {
  backend_->transport().receive_with([this](const mad::Packet& packet, Instant at) {
    engine_.on_packet(packet, at, clock_.now());
    settle();
  });
  engine_.unsolicited_to([this](const mad::Packet& packet, Instant at) { on_unsolicited(packet, at); });
  metrics_.add(master_metrics_);
  metrics_.add(qos_.metrics().part());
  engine_.wake_with([this](Instant when) { engine_alarm_.set_no_later(when); });
}

/// The parts that can fail to open.
Result<void> Heddled::Parts::open() {
  if (config_.fabric.read_only) return {};
  if (config_.sm.mode != SmMode::Auto && !config_.opensm.plugin) return {};
  if (config_.opensm.plugin || config_.sm.engine == RoutingEngine::UpDown) {
    auto regulation = Regulation::open({.io = io_,
                                        .clock = clock_,
                                        .engine = engine_,
                                        .seat = *this,
                                        .migrator = backend_->migrator(),
                                        .names = names_,
                                        .settle = [this] { settle(); }},
                                       config_);
    if (!regulation) return fail(regulation.error());
    regulation_ = *std::move(regulation);
    metrics_.add(regulation_->metrics());
  }
  if (config_.opensm.plugin) return {};  // OpenSM is the subnet manager
  manager_.emplace(engine_, backend_->transport(), provision_options(config_),
                   regulation_ ? regulation_->router() : router(config_),
                   [this](const provision::ProvisionReport& report) { on_configured(report); });
  if (regulation_) regulation_->use(*manager_);
  return {};
}

Result<void> Heddled::Parts::listen() {
  const auto handler = page_.handler(control::api_handler(*this));
  auto control = control::serve_unix(
      io_, {config_.control.socket, config_.control.group, config_.control.others_may_read}, handler);
  if (!control) return fail(control.error());
  control_ = std::move(*control);
  if (config_.metrics.listen.empty()) return {};
  auto tcp = control::serve_tcp(io_, config_.metrics.listen, handler);
  if (!tcp) return fail("metrics.listen", tcp.error());
  tcp_ = std::move(*tcp);
  return {};
}

void Heddled::Parts::begin() {
  notifier_.ready();
  spdlog::info("managing {} ({})", backend_->source(), backend_->kind());
  const Instant now = clock_.now();
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
  if (regulation_) regulation_->settle();
}

void Heddled::Parts::on_unsolicited(const mad::Packet& packet, Instant at) {
  if (!manager_) return;
  if (const auto notice = manager_->on_unsolicited(packet)) discovery_.on_notice(*notice, at);
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
      spdlog::info("{} multicast groups of an earlier subnet manager are kept", report.multicast_groups);
    }
  }
  for (const auto& trouble : report.troubles) {
    could_not_do_.push_back(trouble.text);
    spdlog::warn("subnet manager: {}", trouble.text);
  }
  if (!report.failure) discovery_.adopt(report.survey);
  if (manager_->is_master()) discovery_.set_change_bits(discovery::ChangeBits::Clear);
  if (yields_) discovery_.set_change_bits(discovery::ChangeBits::Leave);
  if (report.survey) use(report.survey);
  if (regulation_) regulation_->configured(report, backend_->transport().local().lid);
  discovery_.release(report.ended);
}

/// What everybody works with from here on.
void Heddled::Parts::use(std::shared_ptr<const Survey> survey) {
  survey_ = std::move(survey);
  qos_.use(survey_);
  const Fabric& fabric = *survey_->fabric;
  sampler_.use(survey_->fabric);
  if (!is_master() && !master_.sight()) master_.look(clock_.now());
  notifier_.status(fmt::format("{} switches, {} channel adapters, {} links", fabric.switch_count(),
                               fabric.channel_adapter_count(), fabric.links().size()));
  settle();
}

void Heddled::Parts::on_sample(const std::shared_ptr<const load::Sample>& sample) {
  tell_metrics_of_the_master();
  metrics_.publish(sample, sampler_.statistics(), engine_);
  page_.publish(sample);
  if (regulation_) regulation_->on_sample(sample);
  spdlog::debug("sweep {} in {:.1f} ms, {} ports failed", sample->number,
                seconds(sample->ended - sample->began) * 1e3, sample->failures.size());
}

std::string Heddled::Parts::why_not_to_write() const {
  if (config_.fabric.read_only) return "fabric.read_only is set";
  if (config_.opensm.plugin) return "OpenSM is the subnet manager (opensm.plugin is set)";
  if (!manager_) return "this daemon is no subnet manager (sm.mode is off)";
  if (manager_->is_master()) return {};
  return yields_ ? "another subnet manager is master" : "this daemon is not the subnet manager yet";
}

control::SubnetManagerState Heddled::Parts::subnet_manager_state() const {
  control::SubnetManagerState state;
  state.moves = master_.moves();
  if (is_master()) {
    const transport::LocalPort local = backend_->transport().local();
    state.role = "master";
    state.master_lid = local.lid;
    state.master_guid = local.guid;
    state.priority = provision_options(config_).priority;
    state.state = provision::to_string(mad::SmInfo::State::Master);
    state.answers = true;
    if (manager_->busy()) state.stage = "configuring";
  } else {
    const discovery::SmSight seen = master_.sight().value_or(discovery::SmSight{});
    state.role = seen.lid == no_lid && !yields_ ? "none" : "observer";
    state.master_lid = seen.lid;
    state.answers = seen.answers;
    if (seen.info) {
      state.master_guid = seen.info->guid;
      state.priority = seen.info->priority;
      state.state = provision::to_string(seen.info->state);
    }
  }
  if (survey_) {
    const PortIndex port = survey_->fabric->find_port(state.master_lid);
    if (port != no_port) state.master = names_.of(survey_->fabric->node(survey_->fabric->port(port).node));
  }
  return state;
}

void Heddled::Parts::tell_metrics_of_the_master() {
  const control::SubnetManagerState state = subnet_manager_state();
  metrics::SubnetManagerFigures figures{
      .role = state.role, .master = std::nullopt, .answers = state.answers, .moves = state.moves};
  if (state.master_guid) {
    const auto coded = is_master() ? mad::SmInfo::State::Master : master_.sight()->info->state;
    figures.master = {.guid = to_string(*state.master_guid),
                      .node = state.master,
                      .priority = state.priority.value_or(0),
                      .state = static_cast<std::uint8_t>(coded)};
  }
  master_metrics_->set(std::move(figures));
}

control::DaemonState Heddled::Parts::state() const {
  control::DaemonState state;
  state.version = HEDDLE_VERSION;
  state.backend = backend_->kind();
  state.source = backend_->source();
  state.uptime = clock_.now() - started_;
  if (survey_) state.fabric = survey_->fabric;
  state.subnet_manager = subnet_manager_state();
  state.sample = sampler_.latest();
  state.history = &sampler_.history();
  state.sets = sampler_.sets();
  state.name = [this](const Node& node) { return names_.of(node); };
  state.problems = found_wrong_;
  state.problems.insert(state.problems.end(), could_not_do_.begin(), could_not_do_.end());
  for (auto& problem : qos_.problems()) state.problems.push_back(std::move(problem));
  for (auto& warning : sampler_.warnings()) state.problems.push_back(std::move(warning));
  if (regulation_) {
    for (auto& problem : regulation_->regulator().problems()) state.problems.push_back(std::move(problem));
  }
  state.sampling.sweeps = sampler_.statistics().sweeps;
  state.sampling.overruns = sampler_.statistics().late_sweeps;
  state.sampling.interval = config_.sampling.interval;
  if (state.sample) state.sampling.last_sweep = state.sample->ended - state.sample->began;
  state.transactions = engine_.statistics();
  return state;
}

Result<void> Heddled::Parts::look_at_queues(const std::vector<PortIndex>& ports,
                                            sampling::QueueProbe::Done done) {
  const auto sample = sampler_.latest();
  // The sampler knows the agents of the fabric that it works on, which may not be the newest one yet.
  if (!survey_ || !sample || sample->fabric != survey_->fabric) {
    return fail(ErrorCode::Unreachable, "this fabric has not been sampled yet; ask again in a moment");
  }
  auto begun =
      queues_.look(*survey_->fabric, sampler_.agents(), ports, queue_sampling, clock_.now(), std::move(done));
  settle();
  return begun;
}

control::Pieces Heddled::Parts::metrics() {
  auto text = std::make_shared<metrics::Exposition>(metrics_.scrape());
  return [this, text](control::NextPiece next) {
    // Held as work on io_: the answer comes from the other thread.
    asio::post(scrapers_, [this, text, next = std::move(next)]() mutable {
      std::string piece;
      text->next(piece, 256U << 10U);
      asio::post(io_, [next = std::move(next), made = std::make_shared<const std::string>(std::move(piece))] {
        next(made);
      });
    });
  };
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
                          fresh->fabric.time_scale != config_.fabric.time_scale);
    fixed("control.socket", fresh->control.socket != config_.control.socket);
    fixed("metrics.listen", fresh->metrics.listen != config_.metrics.listen);
    fixed("state.directory", fresh->state.directory != config_.state.directory);
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
  control_.reset();
  tcp_.reset();
  qos_.stop();
  engine_.stop(clock_.now());
  for (Alarm* alarm : {&engine_alarm_, &sampler_alarm_, &queues_alarm_, &light_alarm_, &heavy_alarm_})
    alarm->set(std::nullopt);
  backend_->stop();
  scrapers_.stop();
  scrapers_.join();
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
