#include "sampling/phy_reader.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "mad/phy_counters.h"

namespace heddle::sampling {
namespace {

template <class Numbers>
std::uint64_t sum_of(const Numbers& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0});
}

/// 32-bit counters that stick at their largest value.
template <class Numbers>
bool is_full(const Numbers& numbers) {
  return std::ranges::any_of(numbers, [](std::uint32_t each) { return each == 0xffffffffU; });
}

health::PhyReading reading_of(const mad::LaneSpeedsCounters& answer) {
  return {.layout = mad::FecLayout::Lanes,
          .corrected = sum_of(answer.corrected_blocks),
          .uncorrectable = sum_of(answer.uncorrectable_blocks),
          .corrected_full = is_full(answer.corrected_blocks),
          .uncorrectable_full = is_full(answer.uncorrectable_blocks)};
}

health::PhyReading reading_of(const mad::RsFecSpeedsCounters& answer) {
  return {.layout = mad::FecLayout::RsFec,
          .corrected = answer.port_corrected_symbols,
          .uncorrectable = answer.port_uncorrectable_blocks,
          .corrected_full = answer.port_corrected_symbols == 0xffffffffU,
          .uncorrectable_full = answer.port_uncorrectable_blocks == 0xffffffffU};
}

/// Of its own: who does not know this attribute may be silent, and answers for its counters all the same.
transport::AgentKey key_of(Lid lid) { return transport::AgentKey{0xffff'ffff'5d00'0000ULL | lid.raw()}; }

}  // namespace

PhyReader::PhyReader(transport::TransactionEngine& engine, PhyReaderOptions options, Done done)
    : engine_{engine}, options_{options}, done_{std::move(done)}, holders_{options.silence} {}

void PhyReader::choose(const PmaAgents& agents, Instant now) {
  targets_.clear();
  later_.clear();
  holders_.forget(now);
  for (const PortIndex port : agents.ports()) {
    const Port& of = round_.fabric->port(port);
    if (of.state != PortState::Active || of.link == no_link || of.speed < LinkSpeed::Fdr) continue;
    const PmaAgent& agent = agents[agents.of(port)];
    if (agent.state != PmaAgent::State::Known || !holders_.may_ask(agent.home)) continue;
    const Target target{port, agent.home, agent.address, agent.pma.capability_mask};
    if (holders_.has(agent.home) || !later_.contains(agent.home)) targets_.push_back(target);
    if (holders_.has(agent.home)) continue;
    const auto [it, is_first] = later_.try_emplace(agent.home);
    if (!is_first) it->second.push_back(target);
  }
}

std::optional<Instant> PhyReader::next_deadline() const {
  return reading_ ? std::nullopt : std::optional{next_round_};
}

void PhyReader::on_timer(Instant now, const std::shared_ptr<const Fabric>& fabric, const PmaAgents& agents) {
  if (fabric != round_.fabric) reading_ = false;
  if (reading_ || next_round_ > now) return;
  next_round_ = now + options_.interval;
  reading_ = true;
  ++generation_;
  next_ = 0;
  outstanding_ = 0;
  round_.fabric = fabric;
  round_.ports.clear();
  choose(agents, now);
  feed(now);
  finish_if_done(now);
}

void PhyReader::feed(Instant now) {
  while (outstanding_ < options_.outstanding && next_ < targets_.size()) {
    const Target& target = targets_[next_];
    const std::uint64_t context = std::uint64_t{generation_} << 32U | next_;
    ++next_;
    mad::Packet packet = transport::perf_gmp(mad::Method::Get, mad::port_extended_speeds, 0, target.address);
    mad::select_port(round_.fabric->port(target.port).num, mad::gmp_data(packet.mad));
    if (engine_.submit(
            {.packet = packet, .agent = key_of(target.address.dlid), .patience = transport::Patience::Normal},
            *this, context, now))
      ++outstanding_;
  }
}

void PhyReader::on_completion(const transport::Completion& completion) {
  if (completion.outcome == transport::Outcome::Stopped || !reading_) return;
  if (completion.context >> 32U != generation_) return;
  --outstanding_;
  const Target target = targets_[completion.context & 0xffffffffU];
  if (completion.outcome == transport::Outcome::Answered) {
    take(target, completion);
    answered(target.agent);
  } else {
    holders_.unanswered(target.agent, completion);
  }
  feed(completion.at);
  finish_if_done(completion.at);
}

void PhyReader::answered(const PortRef& agent) {
  if (!holders_.answered(agent)) return;
  const auto rest = later_.extract(agent);
  if (!rest.empty()) targets_.insert(targets_.end(), rest.mapped().begin(), rest.mapped().end());
}

void PhyReader::take(const Target& target, const transport::Completion& completion) {
  const auto data = mad::gmp_data(completion.answer->mad);
  const Port& port = round_.fabric->port(target.port);
  health::PhyReading reading;
  PortNum answered;
  if (mad::fec_layout(target.capability_mask, port.speed, data) == mad::FecLayout::RsFec) {
    const auto answer = mad::decode_gmp<mad::RsFecSpeedsCounters>(data);
    answered = answer.port_select;
    reading = reading_of(answer);
  } else {
    const auto answer = mad::decode_gmp<mad::LaneSpeedsCounters>(data);
    answered = answer.port_select;
    reading = reading_of(answer);
  }
  if (answered != port.num) return;
  reading.port = target.port;
  reading.at = completion.at;
  round_.ports.push_back(reading);
}

void PhyReader::finish_if_done(Instant now) {
  if (!reading_ || outstanding_ > 0 || next_ < targets_.size()) return;
  reading_ = false;
  round_.ended = now;
  done_(round_);
}

}  // namespace heddle::sampling
