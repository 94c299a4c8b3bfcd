#include "sim/flow/meter_bank.h"

namespace heddle::sim {

const MeterBank::Meter* MeterBank::find(PortIndex port, Key key) const {
  for (std::uint32_t i = first_[port.raw()]; i != end; i = meters_[i].next) {
    if (meters_[i].key == key) return &meters_[i];
  }
  return nullptr;
}

/// Brought up to `now`.
MeterBank::Meter& MeterBank::meter(PortIndex port, Key key, Picoseconds now) {
  for (std::uint32_t i = first_[port.raw()]; i != end; i = meters_[i].next) {
    Meter& meter = meters_[i];
    if (meter.key != key) continue;
    meter.volume = meter.at(now);
    meter.since = now.count();
    return meter;
  }
  Meter meter;
  meter.key = key;
  meter.since = now.count();
  meter.next = first_[port.raw()];
  first_[port.raw()] = static_cast<std::uint32_t>(meters_.size());
  meters_.push_back(meter);
  return meters_.back();
}

void MeterBank::add(PortIndex port, Key key, std::int64_t rate, Picoseconds now) {
  Meter& of_port = meter(port, key, now);
  of_port.rate = static_cast<std::uint64_t>(static_cast<std::int64_t>(of_port.rate) + rate);
}

void MeterBank::set(PortIndex port, Key key, std::uint64_t rate, Picoseconds now) {
  meter(port, key, now).rate = rate;
}

std::uint64_t MeterBank::rate(PortIndex port, Key key) const {
  const Meter* found = find(port, key);
  return found == nullptr ? 0 : found->rate;
}

Volume MeterBank::volume(PortIndex port, Key key, Picoseconds now) const {
  const Meter* found = find(port, key);
  return found == nullptr ? 0 : found->at(now);
}

}  // namespace heddle::sim
