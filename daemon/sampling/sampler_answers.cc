// What the sampler does with the answers that come in.

#include "sampling/readings.h"
#include "sampling/sampler.h"

namespace heddle::sampling {

using load::CounterMask;
using load::SampleFailure;
using transport::Completion;
using transport::Outcome;

namespace {

constexpr std::uint8_t most_redirections = 4;

SampleFailure::Reason reason_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::TimedOut:
    case Outcome::AgentSilent:
      return SampleFailure::Reason::Timeout;
    case Outcome::NotSent:
      return SampleFailure::Reason::NotSent;
    default:
      return SampleFailure::Reason::BadAnswer;
  }
}

bool is_redirect(const Completion& completion) {
  return completion.outcome == Outcome::Refused && completion.answer != nullptr &&
         (completion.status & mad::status::redirect) != 0;
}

}  // namespace

void Sampler::capabilities_came(AgentIndex index, const Completion& completion) {
  PmaAgent& agent = agents_[index];
  if (completion.outcome == Outcome::Answered || is_redirect(completion)) {
    const auto info = mad::decode_gmp<mad::ClassPortInfo>(mad::gmp_data(completion.answer->mad));
    if (follow_redirection(agent, info)) {
      if (ask_capabilities(index, completion.at)) return;
      agent.state = PmaAgent::State::Failed;
    } else {
      agent.state = PmaAgent::State::Known;
      agent.pma = capabilities(info);
      if (agent.refuses_wide)
        agent.pma = {.wait = agent.pma.wait, .capability_mask = agent.pma.capability_mask};
    }
  } else if (completion.outcome == Outcome::Refused) {
    // An agent without even that has the mandatory PortCounters (IBA 16.1.3).
    agent.state = PmaAgent::State::Known;
    agent.pma = {};
  } else {
    agent.state = PmaAgent::State::Failed;
  }
  release(index);
}

bool Sampler::follow_redirection(PmaAgent& agent, const mad::ClassPortInfo& info) const {
  if (info.redirect_lid == no_lid || info.redirect_lid > last_unicast_lid) return false;
  const transport::PmaAddress target{.dlid = info.redirect_lid,
                                     .qp = info.redirect_qp == 0 ? mad::gsi_qp : info.redirect_qp,
                                     .sl = info.redirect_sl};
  const bool same = target.dlid == agent.address.dlid && target.qp == agent.address.qp;
  if (same || agent.redirections >= most_redirections) return false;
  ++agent.redirections;
  agent.address = target;
  return true;
}

void Sampler::release(AgentIndex index) {
  const PmaAgent& agent = agents_[index];
  const PortIndex home = fabric_->find_port(agent.home);
  const bool is_switch = agent.home.port == PortNum{0};
  const std::uint32_t last =
      home.raw() + (is_switch ? std::uint32_t{fabric_->node(fabric_->port(home).node).port_count} : 0U);
  for (std::uint32_t i = home.raw(); i <= last; ++i) {
    if (!traffic_[i].waiting) continue;
    traffic_[i].waiting = false;
    --waiting_;
    if (agent.state == PmaAgent::State::Known) {
      released_.push_back(PortIndex{i});
    } else {
      fail(PortIndex{i}, SampleFailure::Reason::Timeout);
    }
  }
}

void Sampler::counters_came(Kind kind, PortIndex port, const Completion& completion) {
  Traffic& traffic = traffic_[port.raw()];
  --(kind == Kind::Poll ? traffic.polls : traffic.reads);
  if (completion.outcome == Outcome::Refused) return refused(kind, port, completion);
  if (completion.outcome != Outcome::Answered) {
    if (kind != Kind::Poll) fail(port, reason_of(completion.outcome));
    return;
  }
  const PmaAgent& agent = agents_[agents_.of(port)];
  const auto data = mad::gmp_data(completion.answer->mad);
  load::Reading reading;
  PortNum answered;
  if (kind == Kind::Extended) {
    const auto answer = mad::decode_gmp<mad::PortCountersExtended>(data);
    answered = answer.port_select;
    read_extended(answer, wanted_of_extended(agent.pma), completion.at, reading);
  } else {
    const auto answer = mad::decode_gmp<mad::PortCounters>(data);
    answered = answer.port_select;
    read_basic(answer, wanted_of_basic(agent.pma), completion.at, reading);
  }
  if (answered != fabric_->port(port).num) {
    if (kind != Kind::Poll) fail(port, SampleFailure::Reason::BadAnswer);
    return;
  }
  reading_came(port, reading);
}

void Sampler::reading_came(PortIndex port, const load::Reading& reading) {
  ++statistics_.readings;
  const load::Advance advance = accumulator_.add(port, reading);
  if (advance.gap) ++statistics_.gaps;
  if ((advance.saturated & load::traffic_counters) != 0) ++statistics_.saturated;
  reset_if_needed(port, reading);
}

void Sampler::refused(Kind kind, PortIndex port, const Completion& completion) {
  PmaAgent& agent = agents_[agents_.of(port)];
  bool try_again = false;
  if (is_redirect(completion)) {
    const auto info = mad::decode_gmp<mad::ClassPortInfo>(mad::gmp_data(completion.answer->mad));
    try_again = agent.state == PmaAgent::State::Asking || follow_redirection(agent, info);
    if (agent.state == PmaAgent::State::Known && try_again) agent.state = PmaAgent::State::Unknown;
  } else if (kind == Kind::Extended) {
    // ClassPortInfo promised more than there is.
    try_again = true;
    agent.refuses_wide = true;
    agent.pma = {.wait = agent.pma.wait, .capability_mask = agent.pma.capability_mask};
  }
  if (kind == Kind::Poll) return;
  if (!try_again) return fail(port, SampleFailure::Reason::BadAnswer);
  // Of two refused requests, the last one brings the port back.
  if (traffic_[port.raw()].reads == 0) released_.push_back(port);
}

void Sampler::reset_if_needed(PortIndex port, const load::Reading& reading) {
  PmaAgent& agent = agents_[agents_.of(port)];
  if (options_.reset == ResetPolicy::Never || agent.pma.wide || agent.refuses_reset) return;
  Traffic& traffic = traffic_[port.raw()];
  // A reading on its way could show the value before the reset after it has been confirmed.
  if (traffic.resetting || traffic.reads + traffic.polls > 0) return;
  CounterMask counters = 0;
  for (const auto counter : {load::Counter::XmitData, load::Counter::RcvData, load::Counter::XmitPackets,
                             load::Counter::RcvPackets, load::Counter::XmitWait}) {
    const bool present = (reading.present & mask(counter)) != 0;
    if (present && reading.value[load::at(counter)] > load::largest(counter, reading.width) / 2) {
      counters |= mask(counter);
    }
  }
  if (counters == 0) return;
  auto packet = transport::perf_gmp(mad::Method::Set, mad::PmAttr::PortCounters, 0, agent.address);
  mad::encode_gmp(reset_of(fabric_->port(port).num, counters), mad::gmp_data(packet.mad));
  traffic.resetting = submit(Kind::Reset, port.raw(), counters, packet, agent, reading.at);
}

void Sampler::reset_came(PortIndex port, CounterMask counters, const Completion& completion) {
  Traffic& traffic = traffic_[port.raw()];
  traffic.resetting = false;
  if (completion.outcome == Outcome::Answered) {
    ++statistics_.resets;
    accumulator_.confirm_reset(port, counters, completion.at);
  } else {
    ++statistics_.reset_failures;
    accumulator_.suspect_reset(port, counters);
    const bool never = completion.outcome == Outcome::Refused || completion.outcome == Outcome::NotSent;
    if (never) agents_[agents_.of(port)].refuses_reset = true;
  }
  if (traffic.waiting) {
    traffic.waiting = false;
    --waiting_;
    released_.push_back(port);
  }
}

}  // namespace heddle::sampling
