#include "sim/counter_fields.h"

#include <algorithm>
#include <limits>

namespace heddle::sim {
namespace {

constexpr std::size_t at(ErrorCounter counter) { return static_cast<std::size_t>(counter); }

std::uint64_t plus(std::uint64_t a, std::uint64_t b) {
  return a > std::numeric_limits<std::uint64_t>::max() - b ? std::numeric_limits<std::uint64_t>::max()
                                                           : a + b;
}

template <class T>
void limit(std::uint64_t value, T& out, std::uint64_t most = std::numeric_limits<T>::max()) {
  out = static_cast<T>(std::min<std::uint64_t>(value, most));
}

}  // namespace

void add_saturating(PortTotals& sum, const PortTotals& value) {
  sum.xmit_data = plus(sum.xmit_data, value.xmit_data);
  sum.rcv_data = plus(sum.rcv_data, value.rcv_data);
  sum.xmit_packets = plus(sum.xmit_packets, value.xmit_packets);
  sum.rcv_packets = plus(sum.rcv_packets, value.rcv_packets);
  sum.xmit_wait = plus(sum.xmit_wait, value.xmit_wait);
  sum.xmit_discards = plus(sum.xmit_discards, value.xmit_discards);
  sum.inactive_discards = plus(sum.inactive_discards, value.inactive_discards);
}

void add_saturating(Counters::Errors& sum, const Counters::Errors& value) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = plus(sum[i], value[i]);
}

void show(const PortTotals& value, const Counters::Errors& errors, const NodeTraits& traits,
          mad::PortCounters& out) {
  limit(value.xmit_data, out.xmit_data);
  limit(value.rcv_data, out.rcv_data);
  limit(value.xmit_packets, out.xmit_packets);
  limit(value.rcv_packets, out.rcv_packets);
  if (traits.xmit_wait) limit(value.xmit_wait, out.xmit_wait);
  limit(errors[at(ErrorCounter::Symbol)], out.symbol_errors);
  limit(errors[at(ErrorCounter::LinkRecovers)], out.link_recovers);
  limit(errors[at(ErrorCounter::LinkDowned)], out.link_downed);
  limit(errors[at(ErrorCounter::RcvErrors)], out.rcv_errors);
  limit(errors[at(ErrorCounter::RcvRemotePhysical)], out.rcv_remote_physical_errors);
  limit(errors[at(ErrorCounter::RcvSwitchRelay)], out.rcv_switch_relay_errors);
  limit(errors[at(ErrorCounter::XmitDiscards)], out.xmit_discards);
  limit(errors[at(ErrorCounter::XmitConstraint)], out.xmit_constraint_errors);
  limit(errors[at(ErrorCounter::RcvConstraint)], out.rcv_constraint_errors);
  limit(errors[at(ErrorCounter::LocalLinkIntegrity)], out.local_link_integrity_errors, 15);
  limit(errors[at(ErrorCounter::ExcessiveBufferOverrun)], out.excessive_buffer_overrun_errors, 15);
  limit(errors[at(ErrorCounter::Vl15Dropped)], out.vl15_dropped);
  limit(errors[at(ErrorCounter::Qp1Dropped)], out.qp1_dropped);
}

void add(const PortTotals& value, const Counters::Errors& errors, const NodeTraits& traits,
         mad::PortCountersExtended& out) {
  out.xmit_data += value.xmit_data;
  out.rcv_data += value.rcv_data;
  out.xmit_packets += value.xmit_packets;
  out.rcv_packets += value.rcv_packets;
  if (traits.ietf_counters) {
    out.unicast_xmit_packets += value.xmit_packets;
    out.unicast_rcv_packets += value.rcv_packets;
  }
  if (!traits.extended_errors) return;
  if (traits.xmit_wait) out.xmit_wait += value.xmit_wait;
  out.symbol_errors += errors[at(ErrorCounter::Symbol)];
  out.link_recovers += errors[at(ErrorCounter::LinkRecovers)];
  out.link_downed += errors[at(ErrorCounter::LinkDowned)];
  out.rcv_errors += errors[at(ErrorCounter::RcvErrors)];
  out.rcv_remote_physical_errors += errors[at(ErrorCounter::RcvRemotePhysical)];
  out.rcv_switch_relay_errors += errors[at(ErrorCounter::RcvSwitchRelay)];
  out.xmit_discards += errors[at(ErrorCounter::XmitDiscards)];
  out.xmit_constraint_errors += errors[at(ErrorCounter::XmitConstraint)];
  out.rcv_constraint_errors += errors[at(ErrorCounter::RcvConstraint)];
  out.local_link_integrity_errors += errors[at(ErrorCounter::LocalLinkIntegrity)];
  out.excessive_buffer_overrun_errors += errors[at(ErrorCounter::ExcessiveBufferOverrun)];
  out.vl15_dropped += errors[at(ErrorCounter::Vl15Dropped)];
  out.qp1_dropped += errors[at(ErrorCounter::Qp1Dropped)];
}

void write_selected(const mad::PortCounters& given, PortIndex port, Counters& counters, Picoseconds now) {
  const auto error = [&](unsigned bit, ErrorCounter counter, std::uint64_t value) {
    if ((given.counter_select >> bit & 1U) != 0) counters.set_error(port, counter, value, now);
  };
  error(0, ErrorCounter::Symbol, given.symbol_errors);
  error(1, ErrorCounter::LinkRecovers, given.link_recovers);
  error(2, ErrorCounter::LinkDowned, given.link_downed);
  error(3, ErrorCounter::RcvErrors, given.rcv_errors);
  error(4, ErrorCounter::RcvRemotePhysical, given.rcv_remote_physical_errors);
  error(5, ErrorCounter::RcvSwitchRelay, given.rcv_switch_relay_errors);
  error(6, ErrorCounter::XmitDiscards, given.xmit_discards);
  error(7, ErrorCounter::XmitConstraint, given.xmit_constraint_errors);
  error(8, ErrorCounter::RcvConstraint, given.rcv_constraint_errors);
  error(9, ErrorCounter::LocalLinkIntegrity, given.local_link_integrity_errors);
  error(10, ErrorCounter::ExcessiveBufferOverrun, given.excessive_buffer_overrun_errors);
  error(11, ErrorCounter::Vl15Dropped, given.vl15_dropped);
  const bool wait = (given.counter_select2 & 1U) != 0;
  if ((given.counter_select & 0xf000U) == 0 && !wait) return;
  PortTotals value = counters.read(port, Counters::Set::Narrow, now);
  if ((given.counter_select & 0x1000U) != 0) value.xmit_data = given.xmit_data;
  if ((given.counter_select & 0x2000U) != 0) value.rcv_data = given.rcv_data;
  if ((given.counter_select & 0x4000U) != 0) value.xmit_packets = given.xmit_packets;
  if ((given.counter_select & 0x8000U) != 0) value.rcv_packets = given.rcv_packets;
  if (wait) value.xmit_wait = given.xmit_wait;
  counters.write(port, Counters::Set::Narrow, value, now);
}

void write_selected(const mad::PortCountersExtended& given, PortIndex port, Counters& counters,
                    Picoseconds now) {
  const auto error = [&](unsigned bit, ErrorCounter counter, std::uint64_t value) {
    if ((given.counter_select2 >> bit & 1U) != 0) counters.set_error(port, counter, value, now);
  };
  error(0, ErrorCounter::Symbol, given.symbol_errors);
  error(1, ErrorCounter::LinkRecovers, given.link_recovers);
  error(2, ErrorCounter::LinkDowned, given.link_downed);
  error(3, ErrorCounter::RcvErrors, given.rcv_errors);
  error(4, ErrorCounter::RcvRemotePhysical, given.rcv_remote_physical_errors);
  error(5, ErrorCounter::RcvSwitchRelay, given.rcv_switch_relay_errors);
  error(6, ErrorCounter::XmitDiscards, given.xmit_discards);
  error(7, ErrorCounter::XmitConstraint, given.xmit_constraint_errors);
  error(8, ErrorCounter::RcvConstraint, given.rcv_constraint_errors);
  error(9, ErrorCounter::LocalLinkIntegrity, given.local_link_integrity_errors);
  error(10, ErrorCounter::ExcessiveBufferOverrun, given.excessive_buffer_overrun_errors);
  error(11, ErrorCounter::Vl15Dropped, given.vl15_dropped);
  error(13, ErrorCounter::Qp1Dropped, given.qp1_dropped);
  const bool wait = (given.counter_select2 >> 12U & 1U) != 0;
  if ((given.counter_select & 0xfU) == 0 && !wait) return;
  PortTotals value = counters.read(port, Counters::Set::Wide, now);
  if ((given.counter_select & 1U) != 0) value.xmit_data = given.xmit_data;
  if ((given.counter_select & 2U) != 0) value.rcv_data = given.rcv_data;
  if ((given.counter_select & 4U) != 0) value.xmit_packets = given.xmit_packets;
  if ((given.counter_select & 8U) != 0) value.rcv_packets = given.rcv_packets;
  if (wait) value.xmit_wait = given.xmit_wait;
  counters.write(port, Counters::Set::Wide, value, now);
}

}  // namespace heddle::sim
