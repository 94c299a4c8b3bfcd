// What the daemon tells of itself: to the command line, to the page, to /metrics.

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "app/heddled_parts.h"
#include "fabric/rates.h"
#include "mad/sm_state.h"
#include "version/version.h"

namespace heddle::app {

std::optional<control::HostAgentsShown> Heddled::Parts::host_agents() const {
  constexpr std::size_t most_named = 8;
  const regulate::HostAgents* agents = core_.host_agents();
  const regulate::Regulator* regulator = core_.regulator();
  if (agents == nullptr || regulator == nullptr) return std::nullopt;
  const auto figures = agents->figures();
  const auto& sample = core_.sampler().latest();
  return control::HostAgentsShown{
      .hosts = figures.hosts,
      .agents = figures.agents,
      .able = figures.able,
      .connections = figures.connections,
      .in_plane = {figures.in_plane.begin(), figures.in_plane.end()},
      .armed = figures.armed,
      .failed = figures.failed,
      .unable = figures.unable,
      .others = figures.others,
      .moves = figures.moves,
      .failed_moves = figures.failed_moves,
      .trouble = figures.trouble,
      .by_planes = regulator->governor().movement() == regulation::Movement::Planes,
      .immovable = sample ? agents->immovable_share(*sample) : std::nullopt,
      .immovable_hosts = agents->immovable(most_named)};
}

std::string Heddled::Parts::why_no_regulation() const {
  if (core_.regulator() != nullptr) return {};
  return "no link is regulated, and none advised on: " + core_.authority().why_not_regulated();
}

control::SubnetManagerState Heddled::Parts::subnet_manager_state() const {
  control::SubnetManagerState state;
  state.moves = core_.master().moves();
  if (core_.authority().may_write()) {
    const transport::LocalPort local = backend_->transport().local();
    state.role = "master";
    state.master_lid = local.lid;
    state.master_guid = local.guid;
    state.priority = core_.authority().priority();
    state.state = mad::to_string(mad::SmInfo::State::Master);
    state.answers = true;
    if (core_.authority().is_configuring()) state.stage = "configuring";
  } else if (!core_.authority().looks_for_master()) {
    state.role = "none";
    if (core_.authority().is_configuring()) state.stage = "configuring";
  } else {
    const discovery::SmSight seen = core_.master().sight().value_or(discovery::SmSight{});
    state.role = seen.lid == no_lid && !core_.authority().yields() ? "none" : "observer";
    state.master_lid = seen.lid;
    state.answers = seen.answers;
    if (seen.info) {
      state.master_guid = seen.info->guid;
      state.priority = seen.info->priority;
      state.state = mad::to_string(seen.info->state);
    }
  }
  if (const auto& survey = core_.seen()) {
    const PortIndex port = survey->fabric->find_port(state.master_lid);
    if (port != no_port) state.master = names_.of(survey->fabric->node(survey->fabric->port(port).node));
  }
  return state;
}

void Heddled::Parts::tell_metrics_of_the_master() {
  const control::SubnetManagerState state = subnet_manager_state();
  metrics::SubnetManagerFigures figures{
      .role = state.role, .master = std::nullopt, .answers = state.answers, .moves = state.moves};
  if (state.master_guid) {
    const auto coded =
        core_.authority().may_write() ? mad::SmInfo::State::Master : core_.master().sight()->info->state;
    figures.master = {.guid = to_string(*state.master_guid),
                      .node = state.master,
                      .priority = state.priority.value_or(0),
                      .state = static_cast<std::uint8_t>(coded)};
  }
  master_metrics_->set(std::move(figures));
}

/// What stands in the journal because somebody ordered it.
void Heddled::Parts::show_orders(const regulation::Memory& memory, control::DaemonState& state) const {
  constexpr std::size_t most = 20;
  state.wish_count = memory.overrides.size();
  for (const auto& [link, order] : memory.overrides) {
    if (state.wishes.size() == most) break;
    control::WishShown shown{link, std::string(to_string(order.wish)), order.by, order.reason, std::nullopt};
    if (order.until) shown.left = *order.until - clock_.now();
    state.wishes.push_back(std::move(shown));
  }
  if (memory.baseline) state.baseline = control::BaselineShown{*memory.baseline, core_.cabling()};
}

control::DaemonState Heddled::Parts::state() const {
  control::DaemonState state;
  state.version = version();
  state.backend = backend_->kind();
  state.source = backend_->source();
  state.uptime = clock_.now() - started_;
  if (core_.seen()) state.fabric = core_.seen()->fabric;
  state.met = core_.discovery().met();
  state.planes = core_.planes();
  state.subnet_manager = subnet_manager_state();
  state.no_regulation = why_no_regulation();
  state.light_round = core_.discovery().light_round();
  state.full_round = core_.discovery().full_round();
  state.sample = core_.sampler().latest();
  state.history = &core_.sampler().history();
  state.sets = core_.sampler().sets();
  state.name = [shown = core_.shown()](const Node& node) { return shown->of(node); };
  state.problems = problems();
  state.jobs = jobs_.state();
  state.shared_state = shared_state();
  if (const auto* regulator = core_.regulator()) {
    state.drains = regulator->drains();
    show_orders(regulator->governor().memory(), state);
  }
  for (auto& each : notices_.states())
    state.notify.push_back({each.name, each.what, each.queued, each.sent, each.dropped, each.trouble});
  state.health = core_.health().report();
  state.isolate = config_.isolation.mode;
  state.to_isolate = core_.to_isolate();
  state.isolated = core_.isolated();
  state.bit_errors = core_.health().bit_errors();
  state.tables = core_.tables();
  state.now = clock_.now();
  state.sampling.sweeps = core_.sampler().statistics().sweeps;
  state.sampling.overruns = core_.sampler().statistics().late_sweeps;
  state.sampling.interval = config_.sampling.interval;
  if (state.sample) state.sampling.last_sweep = state.sample->ended - state.sample->began;
  state.transactions = core_.engine().statistics();
  return state;
}

control::TwinParts Heddled::Parts::twin() const {
  control::TwinParts parts;
  if (core_.seen()) parts.fabric = parts.seen = core_.seen()->fabric;
  parts.tables = core_.tables();
  parts.sample = core_.sampler().latest();
  parts.now = clock_.now();
  parts.names = names_;
  const regulate::Regulator* regulator = core_.regulator();
  if (!parts.fabric || regulator == nullptr || !regulator->governor().reference()) return parts;
  parts.fabric = at_rates_of(*parts.seen, regulator->governor().reference());
  parts.ranks = regulator->governor().ranks();
  parts.turns = regulator->known().turns;
  parts.managers = regulator->known().managers;
  parts.planes = regulator->planes();
  parts.plane = regulator->governor().plane();
  parts.next_plane = regulator->next_plane();
  parts.power = std::make_shared<const power::PowerModel>(regulator->power());
  parts.thresholds = regulator->thresholds();
  for (const auto& link : regulator->governor().links()) {
    const bool is_kept = link.exempt != regulation::Exempt::No && link.exempt != regulation::Exempt::HostLink;
    if (is_kept) parts.kept.push_back(link.link);
  }
  return parts;
}

Result<control::Daemon::Scrape> Heddled::Parts::metrics(const std::map<std::string, std::string>& query,
                                                        bool open_metrics) {
  auto selection = metrics::narrowed(metrics_.selection(), query);
  if (!selection) return fail(selection.error());
  if (open_metrics) selection->format = metrics::Format::OpenMetrics;
  using Kind = Scrape::Kind;
  const Kind kind = !selection->collected.empty() ? Kind::Chosen
                    : selection->shards > 1       ? Kind::Shard
                                                  : Kind::Whole;
  Scrape scrape{selection->key(), std::string{content_type(selection->format)}, kind, {}};
  scrape.make = [this, selection = *std::move(selection)](control::BodyWriter& out) -> Result<void> {
    metrics::Exposition text = metrics_.scrape(selection);
    std::string part;
    for (bool more = true; more; part.clear()) {
      more = text.next(part);
      out.write(part);
    }
    return {};
  };
  return scrape;
}

}  // namespace heddle::app
