#include "sampling/detail_reader.h"

#include <utility>

namespace heddle::sampling {
namespace {

/// Of its own: who does not know these attributes may be silent, and answers for its counters all the same.
transport::AgentKey detail_key(Lid lid) { return transport::AgentKey{0xffff'ffff'5e00'0000ULL | lid.raw()}; }

}  // namespace

DetailReader::DetailReader(transport::TransactionEngine& engine, DetailReaderOptions options, Wanted wanted,
                           Done done)
    : options_{options},
      wanted_{std::move(wanted)},
      done_{std::move(done)},
      holders_{AttributeHolders{options.silence}, AttributeHolders{options.silence}},
      asking_{engine,
              options.outstanding,
              {[this](std::size_t nth) { return question(nth); },
               [this](std::size_t nth, const transport::Completion& completion) { heard(nth, completion); },
               [this](Instant) { done_(round_); }}} {}

std::optional<Instant> DetailReader::next_deadline() const {
  return asking_.is_under_way() ? std::nullopt : std::optional{next_round_};
}

void DetailReader::on_timer(Instant now, const std::shared_ptr<const Fabric>& fabric,
                            const PmaAgents& agents) {
  if (fabric != round_.fabric) asking_.drop();
  if (asking_.is_under_way() || next_round_ > now) return;
  next_round_ = now + options_.interval;
  round_.fabric = fabric;
  round_.ports.clear();
  choose(agents, now);
  asking_.begin(targets_.size(), now);
}

void DetailReader::choose(const PmaAgents& agents, Instant now) {
  targets_.clear();
  for (AttributeHolders& holders : holders_) holders.forget(now);
  std::array<std::set<PortRef>, 2> tried;
  for (const PortRef& ref : wanted_()) {
    const PortIndex port = round_.fabric->find_port(ref);
    if (port == no_port || agents.of(port) == no_agent) continue;
    if (round_.ports.size() == options_.ports) return;
    const PmaAgent& agent = agents[agents.of(port)];
    if (agent.state != PmaAgent::State::Known) continue;
    round_.ports.push_back({.port = port, .received = {}, .discarded = {}});
    for (std::size_t i = 0; i < attributes.size(); ++i) {
      const bool asks = holders_[i].may_ask(agent.home) &&
                        (holders_[i].has(agent.home) || tried[i].insert(agent.home).second);
      if (asks) targets_.push_back({agent.home, agent.address, round_.ports.size() - 1, i});
    }
  }
}

Round::Question DetailReader::question(std::size_t nth) const {
  const Target& target = targets_[nth];
  mad::Packet packet = transport::perf_gmp(mad::Method::Get, attributes[target.attribute], 0, target.address);
  mad::select_port(round_.fabric->port(round_.ports[target.at].port).num, mad::gmp_data(packet.mad));
  return {packet, detail_key(target.address.dlid)};
}

void DetailReader::heard(std::size_t nth, const transport::Completion& completion) {
  const Target& target = targets_[nth];
  if (completion.outcome == transport::Outcome::Answered) {
    take(target, completion);
    holders_[target.attribute].answered(target.agent);
  } else {
    holders_[target.attribute].unanswered(target.agent, completion);
  }
}

void DetailReader::take(const Target& target, const transport::Completion& completion) {
  const auto data = mad::gmp_data(completion.answer->mad);
  health::DetailReading& reading = round_.ports[target.at];
  const PortNum asked = round_.fabric->port(reading.port).num;
  if (attributes[target.attribute] == mad::PmAttr::PortRcvErrorDetails) {
    const auto answer = mad::decode_gmp<mad::PortRcvErrorDetails>(data);
    if (answer.port_select != asked) return;
    reading.received = {answer.local_physical, answer.malformed, answer.buffer_overrun};
  } else {
    const auto answer = mad::decode_gmp<mad::PortXmitDiscardDetails>(data);
    if (answer.port_select != asked) return;
    reading.discarded = {answer.inactive, answer.neighbor_mtu,
                         std::uint64_t{answer.lifetime_limit} + answer.hoq_lifetime_limit};
  }
}

}  // namespace heddle::sampling
