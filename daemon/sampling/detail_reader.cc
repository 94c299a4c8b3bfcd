#include "sampling/detail_reader.h"

#include <utility>

namespace heddle::sampling {
namespace {

/// Of its own: who does not know these attributes may be silent, and answers for its counters all the same.
transport::AgentKey detail_key(Lid lid) { return transport::AgentKey{0xffff'ffff'5e00'0000ULL | lid.raw()}; }

}  // namespace

DetailReader::DetailReader(transport::TransactionEngine& engine, DetailReaderOptions options, Wanted wanted,
                           Done done)
    : engine_{engine},
      options_{options},
      wanted_{std::move(wanted)},
      done_{std::move(done)},
      holders_{AttributeHolders{options.silence}, AttributeHolders{options.silence}} {}

std::optional<Instant> DetailReader::next_deadline() const {
  return reading_ ? std::nullopt : std::optional{next_round_};
}

void DetailReader::on_timer(Instant now, const std::shared_ptr<const Fabric>& fabric,
                            const PmaAgents& agents) {
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
  finish_if_done();
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

void DetailReader::feed(Instant now) {
  while (outstanding_ < options_.outstanding && next_ < targets_.size()) {
    const Target& target = targets_[next_];
    const std::uint64_t context = std::uint64_t{generation_} << 32U | next_;
    ++next_;
    mad::Packet packet =
        transport::perf_gmp(mad::Method::Get, attributes[target.attribute], 0, target.address);
    mad::select_port(round_.fabric->port(round_.ports[target.at].port).num, mad::gmp_data(packet.mad));
    if (engine_.submit({.packet = packet,
                        .agent = detail_key(target.address.dlid),
                        .patience = transport::Patience::Normal},
                       *this, context, now))
      ++outstanding_;
  }
}

void DetailReader::on_completion(const transport::Completion& completion) {
  if (completion.outcome == transport::Outcome::Stopped || !reading_) return;
  if (completion.context >> 32U != generation_) return;
  --outstanding_;
  const Target target = targets_[completion.context & 0xffffffffU];
  if (completion.outcome == transport::Outcome::Answered) {
    take(target, completion);
    holders_[target.attribute].answered(target.agent);
  } else {
    holders_[target.attribute].unanswered(target.agent, completion);
  }
  feed(completion.at);
  finish_if_done();
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

void DetailReader::finish_if_done() {
  if (!reading_ || outstanding_ > 0 || next_ < targets_.size()) return;
  reading_ = false;
  done_(round_);
}

}  // namespace heddle::sampling
