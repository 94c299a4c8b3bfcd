#include "app/regulation.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <filesystem>
#include <utility>

#include "base/printable.h"

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
  options.tariff = config.tariff;
  options.measured = config.power.measured;
  options.names = names;
  return options;
}

regulate::Regulator::Log log_and(std::function<void(const journal::Event&)> tell) {
  return [tell = std::move(tell)](const journal::Event& event) {
    spdlog::info("regulation: {}: {}{}{}", event.kind, event.links, event.links.empty() ? "" : ": ",
                 event.text);
    tell(event);
  };
}

std::filesystem::path file_of_journal(const Config& config) {
  return std::filesystem::path(config.state.directory) / "journal.db";
}

journal::Calendar calendar_of(const transport::Clock& clock) {
  return {std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now()),
          clock.now()};
}

}  // namespace

std::vector<PortRef> Regulation::ports_left_off(const Config& config, const transport::Clock& clock) {
  const auto file = file_of_journal(config);
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return {};
  const auto journal = journal::open_journal(file, calendar_of(clock));
  std::vector<PortRef> ports;
  if (!journal) return ports;
  for (const auto& [link, off] : (*journal)->memory().off) {
    if (!off.mode.on()) ports.push_back(off.port);
  }
  return ports;
}

Result<std::unique_ptr<Regulation>> Regulation::open(const Around& around, const Config& config) {
  std::error_code ignored;  // the journal says what is wrong
  std::filesystem::create_directories(config.state.directory, ignored);
  const journal::Calendar calendar = calendar_of(around.clock);
  auto journal = journal::open_journal(file_of_journal(config), calendar);
  if (!journal) return fail(journal.error());
  return std::unique_ptr<Regulation>(new Regulation(around, config, *std::move(journal), calendar));
}

Regulation::Regulation(const Around& around, const Config& config, std::unique_ptr<journal::Journal> journal,
                       const journal::Calendar& calendar)
    : around_{around},
      on_stop_{config.regulation.on_stop},
      energy_detail_{config.metrics.energy},
      journal_{std::move(journal)},
      scribe_{*journal_, desk_at(around.disk, around.clock)},
      regulator_{regulator_options(config, around.names, calendar), scribe_, *around.authority.actuator(),
                 log_and(around.logged)},
      alarm_{around.io, around.clock,
             [this](Instant now) { around_.enter([&] { regulator_.on_timer(now); }); }} {
  // What cannot be read is a problem that the regulator knows of.
  const auto& ranks = scribe_.ranks();
  around_.authority.regulate_with(regulator_, ranks ? *ranks : std::vector<journal::Rank>{});
}

Regulation::~Regulation() { around_.disk.finish(); }

void Regulation::settle() {
  auto next = regulator_.next_deadline();
  if (stopped_) {
    const Instant now = around_.clock.now();
    if (has_stopped() || *stop_by_ <= now) {
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

bool Regulation::has_stopped() const {
  return on_stop_ == OnStop::Leave ? regulator().at_rest() : regulator().idle();
}

bool Regulation::stop(Changes changes, std::function<void()> done) {
  using Links = regulation::Stopping::Links;
  const Instant now = around_.clock.now();
  const Links links = on_stop_ == OnStop::Leave ? Links::Stay : Links::ComeBack;
  if (links == Links::Stay && changes == Changes::GoOn) {
    regulator().save(now);
    return false;
  }
  regulator().stop(links, now);
  if (has_stopped()) return false;
  stopped_ = std::move(done);
  stop_by_ = now + longest_stop;
  return true;
}

}  // namespace heddle::app
