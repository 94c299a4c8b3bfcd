#include "app/regulation.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <filesystem>
#include <utility>

#include "base/printable.h"
#include "routing/packet_life.h"

namespace heddle::app {
namespace {

/// How long links that are to come back are waited for when the daemon is stopped.
constexpr FabricClock::duration longest_stop = std::chrono::seconds{60};

regulate::RegulatorOptions regulator_options(const Config& config, const NodeNames& names,
                                             const journal::Calendar& calendar) {
  regulate::RegulatorOptions options;
  options.governor = governor_options(config);
  options.calendar = calendar;
  options.pins = config.regulation.pin;
  options.names = names;
  return options;
}

provision::LinkDriverOptions driver_options(const Config& config) {
  provision::LinkDriverOptions options;
  options.m_key = config.fabric.m_key;
  return options;
}

regulate::Regulator::Log log_and(std::function<void()> tell) {
  return [tell = std::move(tell)](const journal::Event& event) {
    spdlog::info("regulation: {}: {}{}{}", event.kind, event.links, event.links.empty() ? "" : ": ",
                 event.text);
    tell();
  };
}

}  // namespace

Result<std::unique_ptr<Regulation>> Regulation::open(const Around& around, const Config& config) {
  std::error_code ignored;  // the journal says what is wrong
  std::filesystem::create_directories(config.state.directory, ignored);
  const journal::Calendar calendar{
      std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now()),
      around.clock.now()};
  const auto file = std::filesystem::path(config.state.directory) / "journal.db";
  auto journal = journal::open_journal(file, calendar);
  if (!journal) return fail(journal.error());
  auto regulation =
      std::unique_ptr<Regulation>(new Regulation(around, config, *std::move(journal), calendar));
  if (config.opensm.plugin) {
    if (auto listening = regulation->listen_for_plugin(config, calendar); !listening) {
      return fail(listening.error());
    }
  }
  return regulation;
}

Regulation::Regulation(const Around& around, const Config& config, std::unique_ptr<journal::Journal> journal,
                       const journal::Calendar& calendar)
    : around_{around},
      on_stop_{config.regulation.on_stop},
      energy_detail_{config.metrics.energy},
      journal_{std::move(journal)},
      disk_{around.io, around.settle},
      scribe_{*journal_,
              {[this](std::function<void()> work, std::function<void()> then) {
                 disk_.run(std::move(work), std::move(then));
               },
               [this] { return around_.clock.now(); }}},
      alarm_{around.io, around.clock, [this](Instant now) { ring(now); }} {
  if (config.opensm.plugin) return;
  standalone_.emplace(regulator_options(config, around.names, calendar), config.sm.lmc > 0 ? 2U : 1U,
                      around.engine, around.seat, scribe_, config.sm.lmc > 0 ? around.migrator : nullptr,
                      log_and(around.logged), driver_options(config));
}

Result<void> Regulation::listen_for_plugin(const Config& config, const journal::Calendar& calendar) {
  auto server =
      opensm::PluginServer::listen(around_.io, config.opensm.socket,
                                   {[this](const opensm::PluginEvent& event) {
                                      if (event.kind == opensm::PluginEvent::Kind::Hello) {
                                        spdlog::info("OpenSM's plugin is here, OpenSM is {}", event.state);
                                      }
                                      beside_->on_plugin(event, around_.clock.now());
                                      around_.settle();
                                    },
                                    [this] {
                                      spdlog::warn("OpenSM's plugin is gone");
                                      beside_->on_plugin_gone(around_.clock.now());
                                      around_.settle();
                                    },
                                    [](const Error& error) { spdlog::warn("{}", error.message); }});
  if (!server) return fail("opensm.socket", server.error());
  plugin_ = *std::move(server);
  opensm::OpenSmActuatorOptions options;
  options.planes = config.opensm.lmc > 0 ? 2 : 1;
  options.reduction = config.opensm.reduction ? opensm::Reduction::Allowed : opensm::Reduction::Refused;
  options.driver = driver_options(config);
  // Unless an operator says otherwise, the plugin goes by what the switches are told.
  const auto packet_life = config.regulation.governor.packet_life;
  if (packet_life != routing::default_packet_life) {
    options.packet_life = std::chrono::duration_cast<std::chrono::microseconds>(packet_life);
  }
  beside_.emplace(regulator_options(config, around_.names, calendar), around_.engine, around_.seat, *plugin_,
                  around_.plans, scribe_, config.opensm.lmc > 0 ? around_.migrator : nullptr,
                  log_and(around_.logged), options);
  opensm_metrics_ = std::make_shared<metrics::OpenSmMetrics>();
  return {};
}

void Regulation::surveyed(const Survey& survey, PortNum own) {
  if (!beside_ || survey.local == no_node) return;
  // As the sweep found it: the transport's own view may be from before OpenSM was there.
  const mad::PortInfo& port = survey.port({survey.local, own}).info;
  beside_->surveyed(survey, {port.lid, port.master_sm_lid}, around_.clock.now());
}

std::shared_ptr<const Survey> Regulation::complete(std::shared_ptr<const Survey> survey) {
  if (standalone_) return standalone_->complete(std::move(survey));
  if (const auto links = beside_->recover(*survey, around_.clock.now()); links > 0) {
    spdlog::warn("the journal is a fresh one; that {} links are off is known from {}", links,
                 around_.plans.path());
  }
  return beside_->complete(std::move(survey));
}

void Regulation::plan_written() {
  if (plugin_) plugin_->tell(opensm::PluginCommand::NewPlan);
}

void Regulation::ring(Instant now) {
  standalone_ ? standalone_->on_timer(now) : beside_->on_timer(now);
  around_.settle();
}

void Regulation::settle() {
  if (beside_) opensm_metrics_->set({beside_->actuator().ready(), around_.plans.trouble().empty()});
  auto next = standalone_ ? standalone_->next_deadline() : beside_->next_deadline();
  if (stopped_) {
    const Instant now = around_.clock.now();
    if (regulator().idle() || *stop_by_ <= now) {
      regulator().save(now);
      std::exchange(stopped_, nullptr)();
      return;
    }
    if (!next || *stop_by_ < *next) next = stop_by_;
  }
  alarm_.set(next);
}

void Regulation::on_sample(std::shared_ptr<const load::Sample> sample) {
  regulator().on_sample(std::move(sample), around_.clock.now());
  publish();
}

void Regulation::publish() {
  const regulation::Governor& governor = regulator().governor();
  if (!governor.reference()) return;
  const regulate::Regulator::Transitions& transitions = regulator().transitions();
  metrics::RegulationFigures figures;
  figures.mode = to_string(governor.mode());
  figures.spent = regulator().energy().total().spent;
  figures.saved = regulator().energy().total().saved;
  figures.power = regulator().energy().power();
  figures.saving = regulator().energy().saving();
  figures.turned_off = transitions.off;
  figures.turned_on = transitions.on;
  figures.reduced = transitions.reduced;
  figures.failed = transitions.failed;
  for (const auto& link : governor.links()) {
    const NodeIndex node = governor.reference()->find_node(link.link.a.node);
    const int state = !link.mode.on() ? 0 : link.mode == link.full ? 2 : 1;
    figures.links.push_back(
        {link.link.a, printable(governor.reference()->node(node).description), state, {}});
    if (energy_detail_ == EnergyDetail::Link) {
      figures.links.back().energy = regulator().energy().link(link.link);
    }
  }
  if (energy_detail_ != EnergyDetail::Total) {
    for (const Node& node : governor.reference()->nodes()) {
      if (node.type != NodeType::Switch) continue;
      figures.switches.push_back(
          {node.guid, printable(node.description), regulator().energy().node(node.guid)});
    }
  }
  metrics_->publish(std::move(figures));
}

Problems Regulation::problems() const {
  Problems problems = regulator().problems();
  if (!beside_) return problems;
  for (auto& problem : beside_->problems()) problems.push_back(std::move(problem));
  return problems;
}

bool Regulation::stop(std::function<void()> done) {
  const Instant now = around_.clock.now();
  if (on_stop_ == OnStop::Leave) {
    regulator().save(now);
    return false;
  }
  regulator().stop(now);
  if (regulator().idle()) return false;
  stopped_ = std::move(done);
  stop_by_ = now + longest_stop;
  settle();
  return true;
}

}  // namespace heddle::app
