#include "sampling/readings.h"

namespace heddle::sampling {
namespace {

using load::Counter;

template <class Answer>
void read_common(const Answer& answer, load::Reading& reading) {
  const auto set = [&](Counter counter, std::uint64_t value) { reading.value[load::at(counter)] = value; };
  set(Counter::XmitData, answer.xmit_data);
  set(Counter::RcvData, answer.rcv_data);
  set(Counter::XmitPackets, answer.xmit_packets);
  set(Counter::RcvPackets, answer.rcv_packets);
  set(Counter::XmitWait, answer.xmit_wait);
  set(Counter::SymbolErrors, answer.symbol_errors);
  set(Counter::LinkRecovers, answer.link_recovers);
  set(Counter::LinkDowned, answer.link_downed);
  set(Counter::RcvErrors, answer.rcv_errors);
  set(Counter::RcvRemotePhysicalErrors, answer.rcv_remote_physical_errors);
  set(Counter::RcvSwitchRelayErrors, answer.rcv_switch_relay_errors);
  set(Counter::XmitDiscards, answer.xmit_discards);
  set(Counter::XmitConstraintErrors, answer.xmit_constraint_errors);
  set(Counter::RcvConstraintErrors, answer.rcv_constraint_errors);
  set(Counter::LocalLinkIntegrityErrors, answer.local_link_integrity_errors);
  set(Counter::ExcessiveBufferOverrunErrors, answer.excessive_buffer_overrun_errors);
  set(Counter::Vl15Dropped, answer.vl15_dropped);
  set(Counter::Qp1Dropped, answer.qp1_dropped);
}

}  // namespace

void read_extended(const mad::PortCountersExtended& answer, load::CounterMask wanted, Instant at,
                   load::Reading& reading) {
  reading.at = at;
  reading.width = load::Width::Wide;
  reading.present = wanted;
  read_common(answer, reading);
  reading.value[load::at(Counter::UnicastXmitPackets)] = answer.unicast_xmit_packets;
  reading.value[load::at(Counter::UnicastRcvPackets)] = answer.unicast_rcv_packets;
  reading.value[load::at(Counter::MulticastXmitPackets)] = answer.multicast_xmit_packets;
  reading.value[load::at(Counter::MulticastRcvPackets)] = answer.multicast_rcv_packets;
}

void read_basic(const mad::PortCounters& answer, load::CounterMask wanted, Instant at,
                load::Reading& reading) {
  reading.at = at;
  reading.width = load::Width::Narrow;
  reading.present = wanted & ~load::cast_counters;
  read_common(answer, reading);
}

mad::PortCounters reset_of(PortNum port, load::CounterMask counters) {
  mad::PortCounters reset;
  reset.port_select = port;
  unsigned select = 0;
  const auto add = [&](Counter counter, unsigned bit) {
    if ((counters & mask(counter)) != 0) select |= 1U << bit;
  };
  add(Counter::XmitData, 12);
  add(Counter::RcvData, 13);
  add(Counter::XmitPackets, 14);
  add(Counter::RcvPackets, 15);
  reset.counter_select = static_cast<std::uint16_t>(select);
  reset.counter_select2 = (counters & mask(Counter::XmitWait)) != 0 ? 1 : 0;
  return reset;
}

}  // namespace heddle::sampling
