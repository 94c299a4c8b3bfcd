#include "discovery/sm_watch.h"

#include <utility>

#include "transport/requests.h"

namespace heddle::discovery {
namespace {

using transport::Outcome;

/// Neither the SMA nor the PMA of the node, which may well answer when the subnet manager does not.
transport::AgentKey agent_of_manager(Lid lid) {
  return transport::AgentKey{0xffff'ffff'5a00'0000ULL | lid.raw()};
}
constexpr transport::AgentKey own_port{0xffff'ffff'5b00'0000ULL};

}  // namespace

SmEvent compare(const SmSight& before, const SmSight& after) {
  if (after.lid == no_lid) return before.lid == no_lid ? SmEvent::Nothing : SmEvent::Gone;
  if (before.lid == no_lid) return SmEvent::Appeared;
  const bool both_known = before.info && after.info;
  if (before.lid != after.lid || (both_known && before.info->guid != after.info->guid)) return SmEvent::Moved;
  if (before.answers == after.answers) return SmEvent::Nothing;
  return after.answers ? SmEvent::Back : SmEvent::Silent;
}

SmWatch::SmWatch(transport::TransactionEngine& engine, std::uint64_t m_key, Done done)
    : engine_{engine}, m_key_{m_key}, done_{std::move(done)} {}

void SmWatch::look(PortNum local_port, Instant now) {
  if (looking_) return;
  looking_ = true;
  ask(Op::LocalPort,
      transport::directed_smp(
          {.attribute = mad::SmAttr::PortInfo, .modifier = local_port.raw(), .m_key = m_key_}, {}),
      own_port, now);
}

void SmWatch::ask(Op op, const mad::Packet& packet, transport::AgentKey agent, Instant now) {
  const transport::Request request{.packet = packet, .agent = agent, .on_silence = transport::OnSilence::Ask};
  if (!engine_.submit(request, *this, static_cast<std::uint64_t>(op), now)) looking_ = false;
}

void SmWatch::on_completion(const transport::Completion& completion) {
  if (completion.outcome == Outcome::Stopped) {
    looking_ = false;
    return;
  }
  const bool answered = completion.outcome == Outcome::Answered;
  if (static_cast<Op>(completion.context) == Op::Master) {
    seen_.answers = false;
    if (answered) {
      seen_.info = mad::decode<mad::SmInfo>(mad::smp_data(completion.answer->mad));
      seen_.answers = seen_.info->state == mad::SmInfo::State::Master;
    }
    return end(completion.now);
  }
  if (!answered) {  // says nothing about who is master
    looking_ = false;
    return;
  }
  const Lid lid = mad::decode<mad::PortInfo>(mad::smp_data(completion.answer->mad)).master_sm_lid;
  if (lid != seen_.lid) seen_ = {.lid = lid, .answers = false, .info = std::nullopt};
  if (lid == no_lid) return end(completion.now);
  ask(Op::Master, transport::lid_smp({.attribute = mad::SmAttr::SmInfo, .m_key = m_key_}, lid),
      agent_of_manager(lid), completion.now);
}

void SmWatch::end(Instant now) {
  looking_ = false;
  done_(seen_, now);
}

}  // namespace heddle::discovery
