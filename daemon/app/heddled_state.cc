// What the daemon tells of itself: to the command line, to the page, to /metrics.

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "app/heddled_parts.h"
#include "mad/sm_state.h"
#include "version/version.h"

namespace heddle::app {

namespace {

/// How long a port's transmit queue is watched: long against a packet, short against what anybody waits for.
constexpr FabricClock::duration queue_sampling = std::chrono::microseconds{100};

}  // namespace

std::string Heddled::Parts::why_no_regulation() const {
  if (regulation_) return {};
  return "no link is regulated, and none advised on: " + authority_->why_not_regulated();
}

control::SubnetManagerState Heddled::Parts::subnet_manager_state() const {
  control::SubnetManagerState state;
  state.moves = master_.moves();
  if (authority_->may_write()) {
    const transport::LocalPort local = backend_->transport().local();
    state.role = "master";
    state.master_lid = local.lid;
    state.master_guid = local.guid;
    state.priority = authority_->priority();
    state.state = mad::to_string(mad::SmInfo::State::Master);
    state.answers = true;
    if (authority_->is_configuring()) state.stage = "configuring";
  } else if (!authority_->looks_for_master()) {
    state.role = "none";
    if (authority_->is_configuring()) state.stage = "configuring";
  } else {
    const discovery::SmSight seen = master_.sight().value_or(discovery::SmSight{});
    state.role = seen.lid == no_lid && !authority_->yields() ? "none" : "observer";
    state.master_lid = seen.lid;
    state.answers = seen.answers;
    if (seen.info) {
      state.master_guid = seen.info->guid;
      state.priority = seen.info->priority;
      state.state = mad::to_string(seen.info->state);
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
    const auto coded = authority_->may_write() ? mad::SmInfo::State::Master : master_.sight()->info->state;
    figures.master = {.guid = to_string(*state.master_guid),
                      .node = state.master,
                      .priority = state.priority.value_or(0),
                      .state = static_cast<std::uint8_t>(coded)};
  }
  master_metrics_->set(std::move(figures));
}

/// After each sweep of the counters. What the regulation turned off or reduced is no fault.
void Heddled::Parts::judge_health(const load::Sample& sample) {
  std::set<LinkRef> willed;
  if (regulation_) {
    const regulation::Memory& memory = std::as_const(*regulation_).regulator().governor().memory();
    for (const auto& [link, record] : memory.off) willed.insert(link);
    for (const auto& [change, intent] : memory.open) {
      for (const regulation::OffRecord& record : intent.off) willed.insert(record.link);
      willed.insert(intent.on.begin(), intent.on.end());
    }
  }
  health_.will(std::move(willed));
  health_.on_sample(sample);
  if (health_.report()) health_metrics_->set(*health_.report(), health_.bit_errors());
}

/// Who orders links off that are bad, in the journal and in events.
static constexpr std::string_view isolator = "health";

/// Once for each report. Its orders are wishes like an operator's: the governor has them in its journal, and
/// refuses what would cut hosts off.
void Heddled::Parts::isolate() {
  if (!regulation_ || !survey_ || health_.report() == isolated_by_) return;
  isolated_by_ = health_.report();
  health::Isolation::Wishes wishes;
  for (const auto& [link, wish] : std::as_const(*regulation_).regulator().governor().memory().overrides) {
    wishes.all.insert(link);
    if (wish.wish == regulation::Wish::Off && wish.by == isolator) ++wishes.ours;
  }
  const Instant now = clock_.now();
  to_isolate_ = isolation_.decide(*isolated_by_, *survey_->fabric, wishes, now);
  if (config_.isolation.mode != health::Isolate::Enforce || authority_->yields()) return;
  for (const health::IsolationOrder& order : to_isolate_) {
    isolation_.given(order, now);
    regulation_->regulator().set_override(
        order.link, {regulation::Wish::Off, order.reason, std::string(isolator), order.until},
        regulation::Force::No, now, [this, order](const Result<std::string>& done) {
          if (done) return;
          isolation_.refused(order, clock_.now());
          spdlog::warn("a bad link stays ({}): {}", order.reason, done.error().message);
        });
  }
}

/// By orders of this daemon, or of one before it.
std::vector<health::IsolationOrder> Heddled::Parts::isolated() const {
  std::vector<health::IsolationOrder> links;
  if (!regulation_) return links;
  for (const auto& [link, wish] : std::as_const(*regulation_).regulator().governor().memory().overrides) {
    if (wish.wish == regulation::Wish::Off && wish.by == isolator && wish.until) {
      links.push_back({link, *wish.until, wish.reason});
    }
  }
  std::ranges::sort(links, {}, &health::IsolationOrder::link);
  return links;
}

control::DaemonState Heddled::Parts::state() const {
  control::DaemonState state;
  state.version = version();
  state.backend = backend_->kind();
  state.source = backend_->source();
  state.uptime = clock_.now() - started_;
  if (survey_) state.fabric = survey_->fabric;
  state.planes = planes_;
  state.subnet_manager = subnet_manager_state();
  state.no_regulation = why_no_regulation();
  state.light_round = discovery_.light_round();
  state.full_round = discovery_.full_round();
  state.sample = sampler_.latest();
  state.history = &sampler_.history();
  state.sets = sampler_.sets();
  state.name = [shown = shown_](const Node& node) { return shown->of(node); };
  state.problems = problems();
  for (auto& each : notices_.states())
    state.notify.push_back({each.name, each.what, each.queued, each.sent, each.dropped, each.trouble});
  state.health = health_.report();
  state.isolate = config_.isolation.mode;
  state.to_isolate = to_isolate_;
  state.isolated = isolated();
  state.bit_errors = health_.bit_errors();
  state.now = clock_.now();
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
  return on_event([&] {
    return queues_.look(*survey_->fabric, sampler_.agents(), ports, queue_sampling, clock_.now(),
                        std::move(done));
  });
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
