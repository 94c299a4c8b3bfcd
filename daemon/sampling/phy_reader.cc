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
    : options_{options},
      done_{std::move(done)},
      holders_{options.silence},
      asking_{engine,
              options.outstanding,
              {[this](std::size_t nth) { return question(nth); },
               [this](std::size_t nth, const transport::Completion& completion) { heard(nth, completion); },
               [this](Instant now) { end(now); }}} {}

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
  return asking_.is_under_way() ? std::nullopt : std::optional{next_round_};
}

void PhyReader::on_timer(Instant now, const std::shared_ptr<const Fabric>& fabric, const PmaAgents& agents) {
  if (fabric != round_.fabric) asking_.drop();
  if (asking_.is_under_way() || next_round_ > now) return;
  next_round_ = now + options_.interval;
  round_.fabric = fabric;
  round_.ports.clear();
  choose(agents, now);
  asking_.begin(targets_.size(), now);
}

Round::Question PhyReader::question(std::size_t nth) const {
  const Target& target = targets_[nth];
  mad::Packet packet = transport::perf_gmp(mad::Method::Get, mad::port_extended_speeds, 0, target.address);
  mad::select_port(round_.fabric->port(target.port).num, mad::gmp_data(packet.mad));
  return {packet, key_of(target.address.dlid)};
}

void PhyReader::heard(std::size_t nth, const transport::Completion& completion) {
  const Target target = targets_[nth];
  if (completion.outcome == transport::Outcome::Answered) {
    take(target, completion);
    answered(target.agent);
  } else {
    holders_.unanswered(target.agent, completion);
  }
}

void PhyReader::answered(const PortRef& agent) {
  if (!holders_.answered(agent)) return;
  const auto rest = later_.extract(agent);
  if (rest.empty()) return;
  targets_.insert(targets_.end(), rest.mapped().begin(), rest.mapped().end());
  asking_.add(rest.mapped().size());
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

void PhyReader::end(Instant now) {
  round_.ended = now;
  done_(round_);
}

}  // namespace heddle::sampling
