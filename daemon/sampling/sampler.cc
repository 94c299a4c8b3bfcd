#include "sampling/sampler.h"

#include <algorithm>

#include "sampling/readings.h"

namespace heddle::sampling {

using load::CounterMask;
using load::SampleFailure;
using transport::Completion;
using transport::Outcome;

namespace {

constexpr CounterMask resettable = load::traffic_counters | mask(load::Counter::XmitWait);
// A port that is down is read once in so many sweeps: hardly any of its counters can change.
constexpr std::uint32_t resting_sweeps = 16;
// Requests that wait in the engine, so that it always has one for an agent that is free.
constexpr std::size_t queued_at_most = 64;

}  // namespace

/// What a request was for, in the 64 bits that the engine carries along.
struct Sampler::Context {
  Kind kind;
  std::uint16_t generation;  ///< 12 bits
  CounterMask counters;      ///< 16 bits; of a reset
  std::uint32_t index;       ///< PortIndex, or AgentIndex for Capabilities

  [[nodiscard]] std::uint64_t packed() const {
    return (static_cast<std::uint64_t>(kind) << 60U) | (std::uint64_t{generation} << 48U) |
           (std::uint64_t{counters & 0xffffU} << 32U) | index;
  }
  static Context unpacked(std::uint64_t raw) {
    return {.kind = static_cast<Kind>(raw >> 60U),
            .generation = static_cast<std::uint16_t>(raw >> 48U & 0xfffU),
            .counters = static_cast<CounterMask>(raw >> 32U & 0xffffU),
            .index = static_cast<std::uint32_t>(raw)};
  }
};

Sampler::Sampler(transport::TransactionEngine& engine, SamplerOptions options, Publish publish)
    : engine_{engine},
      options_{std::move(options)},
      publish_{std::move(publish)},
      accumulator_{options_.ticks},
      history_{std::max<std::size_t>(options_.history, 1)},
      extended_{transport::perf_gmp(mad::Method::Get, mad::PmAttr::PortCountersExtended, 0, {})},
      basic_{transport::perf_gmp(mad::Method::Get, mad::PmAttr::PortCounters, 0, {})} {}

Sampler::~Sampler() = default;

void Sampler::use(std::shared_ptr<const Fabric> fabric) { wanted_ = std::move(fabric); }

void Sampler::set_interval(FabricClock::duration interval, Instant now) {
  options_.interval = interval;
  next_sweep_.reset();
  if (interval > FabricClock::duration::zero()) next_sweep_ = now;
}

std::vector<std::string> Sampler::warnings() const {
  return sets_ ? sets_->warnings() : std::vector<std::string>{};
}

void Sampler::adopt() {
  // Whether resets under way arrive will never be known here.
  for (std::uint32_t i = 0; i < traffic_.size(); ++i) {
    if (traffic_[i].resetting) accumulator_.suspect_reset(PortIndex{i}, resettable);
  }
  fabric_ = std::move(wanted_);
  generation_ = static_cast<std::uint16_t>((generation_ + 1U) & 0xfffU);
  agents_ = PmaAgents{*fabric_, agents_};
  sets_ = load::LocalitySets::find(*fabric_, options_.sets);
  accumulator_.rebase(fabric_, sets_);
  history_.rebase(fabric_);
  traffic_.assign(fabric_->ports().size(), {});
  poll_ports_.clear();
  next_poll_.reset();
}

Result<void> Sampler::begin_sweep(Instant now) {
  if (sweeping_) return heddle::fail(ErrorCode::Conflict, "a sweep is under way");
  if (wanted_) adopt();
  if (!fabric_) return heddle::fail(ErrorCode::NotFound, "no fabric has been discovered");
  sweeping_ = true;
  began_ = now;
  next_port_ = 0;
  released_.clear();
  agents_.begin_sweep();
  feed(now);
  finish_if_done(now);
  return {};
}

void Sampler::on_timer(Instant now) {
  if (options_.interval > FabricClock::duration::zero() && !sweeping_ && (fabric_ || wanted_) &&
      (!next_sweep_ || *next_sweep_ <= now)) {
    const auto behind = next_sweep_ ? now - *next_sweep_ : FabricClock::duration::zero();
    const bool late = behind > options_.interval / 2;
    // One for each sweep that would have begun by then: with those that did it makes up the time that passed.
    if (late)
      statistics_.late_sweeps +=
          static_cast<std::uint64_t>((behind + options_.interval / 2) / options_.interval);
    next_sweep_ = (next_sweep_ && !late ? *next_sweep_ : now) + options_.interval;
    static_cast<void>(begin_sweep(now));
  }
  if (next_poll_ && *next_poll_ <= now) poll(now);
}

std::optional<Instant> Sampler::next_deadline() const {
  std::optional<Instant> next = next_poll_;
  const bool waits = options_.interval > FabricClock::duration::zero() && !sweeping_ && (fabric_ || wanted_);
  if (waits) {
    const Instant due = next_sweep_.value_or(Instant{});
    if (!next || due < *next) next = due;
  }
  return next;
}

void Sampler::feed(Instant now) {
  // Other people's requests may fill the queue: one request of our own there brings us back here.
  while (engine_.queued() < queued_at_most || outstanding_ == 0) {
    if (!released_.empty()) {
      const PortIndex port = released_.back();
      released_.pop_back();
      read(port, now);
    } else if (next_port_ < agents_.ports().size()) {
      read(agents_.ports()[next_port_++], now);
    } else {
      return;
    }
  }
}

void Sampler::read(PortIndex port, Instant now) {
  const bool down = fabric_->port(port).state == PortState::Down;
  if (down && (port.raw() + statistics_.sweeps) % resting_sweeps != 0) {
    accumulator_.rest(port);
    return;
  }
  const AgentIndex index = agents_.of(port);
  const PmaAgent& agent = agents_[index];
  switch (agent.state) {
    case PmaAgent::State::Unknown:
    case PmaAgent::State::Asking:
      return wait_for_agent(index, port, now);
    case PmaAgent::State::Failed:
      return fail(port, SampleFailure::Reason::Timeout);
    case PmaAgent::State::Known:
      break;
  }
  if (traffic_[port.raw()].resetting) {
    traffic_[port.raw()].waiting = true;
    ++waiting_;
    return;
  }
  if (wanted_of_extended(agent.pma) != 0) ask_counters(Kind::Extended, port, now);
  if (wanted_of_basic(agent.pma) != 0) ask_counters(Kind::Basic, port, now);
}

void Sampler::wait_for_agent(AgentIndex agent, PortIndex port, Instant now) {
  if (agents_[agent].state == PmaAgent::State::Unknown && !ask_capabilities(agent, now)) {
    return fail(port, SampleFailure::Reason::NotSent);
  }
  traffic_[port.raw()].waiting = true;
  ++waiting_;
}

bool Sampler::submit(Kind kind, std::uint32_t index, CounterMask counters, const mad::Packet& packet,
                     const PmaAgent& agent, Instant now) {
  const Context context{.kind = kind, .generation = generation_, .counters = counters, .index = index};
  const auto patience = kind == Kind::Reset ? transport::Patience::Once : transport::Patience::Normal;
  return engine_
      .submit({.packet = packet, .agent = agent.key(), .patience = patience}, *this, context.packed(), now)
      .has_value();
}

bool Sampler::ask_capabilities(AgentIndex index, Instant now) {
  PmaAgent& agent = agents_[index];
  const auto packet = transport::perf_gmp(mad::Method::Get, mad::PmAttr::ClassPortInfo, 0, agent.address);
  if (!submit(Kind::Capabilities, index.raw(), 0, packet, agent, now)) return false;
  agent.state = PmaAgent::State::Asking;
  ++outstanding_;
  return true;
}

bool Sampler::ask_counters(Kind kind, PortIndex port, Instant now) {
  const PmaAgent& agent = agents_[agents_.of(port)];
  mad::Packet& packet = kind == Kind::Extended ? extended_ : basic_;
  packet.address.dlid = agent.address.dlid;
  packet.address.dqp = agent.address.qp;
  packet.address.sl = agent.address.sl;
  mad::select_port(fabric_->port(port).num, mad::gmp_data(packet.mad));
  if (!submit(kind, port.raw(), 0, packet, agent, now)) {
    if (kind != Kind::Poll) fail(port, SampleFailure::Reason::NotSent);
    return false;
  }
  if (kind == Kind::Poll) {
    ++traffic_[port.raw()].polls;
  } else {
    ++traffic_[port.raw()].reads;
    ++outstanding_;
  }
  return true;
}

void Sampler::on_completion(const Completion& completion) {
  const Context context = Context::unpacked(completion.context);
  if (context.generation != generation_) return;
  if (completion.outcome == Outcome::Stopped) return;
  switch (context.kind) {
    case Kind::Capabilities:
      --outstanding_;
      capabilities_came(AgentIndex{context.index}, completion);
      break;
    case Kind::Extended:
    case Kind::Basic:
      --outstanding_;
      counters_came(context.kind, PortIndex{context.index}, completion);
      break;
    case Kind::Poll:
      counters_came(context.kind, PortIndex{context.index}, completion);
      break;
    case Kind::Reset:
      reset_came(PortIndex{context.index}, context.counters, completion);
      break;
  }
  if (!sweeping_) return;
  feed(completion.at);
  finish_if_done(completion.at);
}

void Sampler::finish_if_done(Instant now) {
  const bool done =
      next_port_ == agents_.ports().size() && released_.empty() && outstanding_ == 0 && waiting_ == 0;
  if (!sweeping_ || !done) return;
  sweeping_ = false;
  ++statistics_.sweeps;
  latest_ = accumulator_.finish(began_, now);
  history_.append(*latest_);
  plan_polls(now);
  if (publish_) publish_(latest_);
}

void Sampler::plan_polls(Instant now) {
  poll_ports_.clear();
  auto least = FabricClock::duration::max();
  for (const PortIndex index : agents_.ports()) {
    const PmaAgent& agent = agents_[agents_.of(index)];
    if (agent.state != PmaAgent::State::Known || agent.pma.wide) continue;
    const Port& port = fabric_->port(index);
    if (port.state == PortState::Down) continue;
    // Four times before it is full: two to notice that it is half full, the others for what is lost or late.
    const auto period = load::time_to_saturate(data_rate(port.width, port.speed)) / 4;
    if (period >= options_.interval) continue;
    poll_ports_.push_back(index);
    least = std::min(least, period);
  }
  if (poll_ports_.empty() || options_.interval == FabricClock::duration::zero()) {
    next_poll_.reset();
  } else if (!next_poll_ || poll_period_ != least) {
    poll_period_ = least;
    next_poll_ = now + least;
  }
}

void Sampler::poll(Instant now) {
  next_poll_ = now + poll_period_;
  ++statistics_.polls;
  for (const PortIndex port : poll_ports_) {
    const Traffic& traffic = traffic_[port.raw()];
    if (traffic.reads + traffic.polls == 0 && !traffic.resetting) ask_counters(Kind::Poll, port, now);
  }
}

void Sampler::fail(PortIndex port, SampleFailure::Reason reason) {
  ++statistics_.failures;
  accumulator_.fail(port, reason);
}

}  // namespace heddle::sampling
