#include "sim/counters.h"

namespace heddle::sim {
namespace {

/// Modulo 2^64: a base may lie ahead of its counter when a fault preset the value.
PortTotals difference(const PortTotals& x, const PortTotals& y) {
  return {.xmit_data = x.xmit_data - y.xmit_data,
          .rcv_data = x.rcv_data - y.rcv_data,
          .xmit_packets = x.xmit_packets - y.xmit_packets,
          .rcv_packets = x.rcv_packets - y.rcv_packets,
          .xmit_wait = x.xmit_wait - y.xmit_wait,
          .xmit_discards = x.xmit_discards - y.xmit_discards,
          .inactive_discards = x.inactive_discards - y.inactive_discards};
}

constexpr std::size_t discards = static_cast<std::size_t>(ErrorCounter::XmitDiscards);

}  // namespace

Counters::Counters(std::size_t ports, const Options& options) : ports_{ports} {
  if (options.count_management) management_.resize(ports);
}

PortTotals Counters::raw(PortIndex port, Picoseconds now) const {
  PortTotals totals = source_ != nullptr ? source_->read(port, now) : PortTotals{};
  if (!management_.empty()) {
    const Management& own = management_[port.raw()];
    totals.xmit_packets += own.xmit;
    totals.rcv_packets += own.rcv;
    totals.xmit_data += own.xmit * management_packet_data;
    totals.rcv_data += own.rcv * management_packet_data;
  }
  return totals;
}

PortTotals Counters::read(PortIndex port, Set set, Picoseconds now) const {
  const auto& bases = bases_[static_cast<std::size_t>(set)];
  const PortTotals totals = raw(port, now);
  return bases.empty() ? totals : difference(totals, bases[port.raw()]);
}

void Counters::write(PortIndex port, Set set, const PortTotals& value, Picoseconds now) {
  auto& bases = bases_[static_cast<std::size_t>(set)];
  if (bases.empty()) bases.resize(ports_);
  bases[port.raw()] = difference(raw(port, now), value);
}

Counters::Errors Counters::errors(PortIndex port, const PortTotals& value, Picoseconds now) const {
  Errors all{};
  if (!error_slots_.empty() && error_slots_[port.raw()] != 0) all = errors_[error_slots_[port.raw()] - 1];
  all[discards] += value.xmit_discards;
  all[static_cast<std::size_t>(ErrorCounter::Symbol)] += phy_.symbol_errors(port, now);
  return all;
}

Counters::Errors& Counters::own_errors(PortIndex port) {
  if (error_slots_.empty()) error_slots_.resize(ports_);
  std::uint32_t& slot = error_slots_[port.raw()];
  if (slot == 0) {
    errors_.emplace_back();
    slot = static_cast<std::uint32_t>(errors_.size());
  }
  return errors_[slot - 1];
}

void Counters::add_errors(PortIndex port, ErrorCounter counter, std::uint64_t count) {
  own_errors(port)[static_cast<std::size_t>(counter)] += count;
}

void Counters::add_detail(PortIndex port, ErrorDetail detail, std::uint64_t count) {
  details_[port][static_cast<std::size_t>(detail)] += count;
  add_errors(port, counter_of(detail), count);
}

Counters::Details Counters::details(PortIndex port) const {
  const auto it = details_.find(port);
  return it == details_.end() ? Details{} : it->second;
}

void Counters::set_error(PortIndex port, ErrorCounter counter, std::uint64_t value, Picoseconds now) {
  own_errors(port)[static_cast<std::size_t>(counter)] = value;
  if (counter == ErrorCounter::Symbol) phy_.reset_symbol_errors(port, now);
  if (counter != ErrorCounter::XmitDiscards) return;
  // The data plane's share goes into the base of both sets, or it would come back.
  for (const Set set : {Set::Narrow, Set::Wide}) {
    PortTotals kept = read(port, set, now);
    kept.xmit_discards = 0;
    write(port, set, kept, now);
  }
}

void Counters::count_management(PortIndex from, PortIndex to) {
  if (management_.empty()) return;
  ++management_[from.raw()].xmit;
  ++management_[to.raw()].rcv;
}

void Counters::clear(PortIndex port, Picoseconds now) {
  write(port, Set::Narrow, {}, now);
  write(port, Set::Wide, {}, now);
  if (!error_slots_.empty() && error_slots_[port.raw()] != 0) own_errors(port) = {};
  details_.erase(port);
}

}  // namespace heddle::sim
