// PortSamplesControl and PortSamplesResult (IBA 16.1.3.2, 16.1.3.4).

#include <algorithm>

#include "sim/pma.h"

namespace heddle::sim {
namespace {

constexpr std::uint8_t done = 0;
constexpr std::uint8_t started = 1;
constexpr std::uint8_t running = 2;
constexpr std::uint8_t mechanisms = 0;  // one: the general one

std::uint32_t sampled(std::uint16_t select, const PortTotals& from, const PortTotals& to, PortIndex port,
                      CounterSource* source, Picoseconds now) {
  namespace s = mad::samples_select;
  const auto limited = [](std::uint64_t value) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, 0xffffffffU));
  };
  switch (select) {
    case s::xmit_data:
      return limited(to.xmit_data - from.xmit_data);
    case s::rcv_data:
      return limited(to.rcv_data - from.rcv_data);
    case s::xmit_packets:
      return limited(to.xmit_packets - from.xmit_packets);
    case s::rcv_packets:
      return limited(to.rcv_packets - from.rcv_packets);
    case s::xmit_wait:
      return limited(to.xmit_wait - from.xmit_wait);
    default:
      break;
  }
  const bool queue = (select & 0xfff0U) == s::xmit_queue;
  if (!queue || source == nullptr) return 0;
  return source->queue_depth(port, Vl{static_cast<std::uint8_t>(select & 0xfU)}, now);
}

}  // namespace

std::uint16_t Pma::samples_control(mad::Method method, const NodeState& node, PortIndex at, mad::Bytes& mad,
                                   Picoseconds now) {
  if (!node.traits.samples) return mad::status::bad_method_attribute;
  const auto data = mad::gmp_data(mad);
  const auto given = mad::decode_gmp<mad::PortSamplesControl>(data);
  const Selection selected = select(node, at, given.port_select);
  if (selected.count != 1) return mad::status::bad_field;
  const PortIndex port = selected.first;
  Sampling& sampling = samples_[port];
  // While a sample is taken, only Get is answered (the status says so).
  if (method == mad::Method::Set && sampling.control.sample_status == done) {
    sampling.control = given;
    sampling.result = {};
    ++sampling.epoch;
    last_sampled_[at] = port;
    sampling.control.sample_status = started;
    if (given.sample_start == 0) {
      sample_started(port, sampling.epoch, now);
    } else {
      schedule_.add(now + counter_tick * std::int64_t{given.sample_start}, Event::Kind::SampleStart,
                    port.raw(), sampling.epoch);
    }
  }
  mad::PortSamplesControl shown = sampling.control;
  shown.port_select = given.port_select;
  shown.tick = 0;
  shown.counter_width = 7;  // 32 bits
  shown.option_mask = 0;
  shown.vendor_mask = 0;
  shown.sample_mechanisms = mechanisms;
  encode_gmp(shown, data);
  return mad::status::ok;
}

std::uint16_t Pma::samples_result(const NodeState& node, PortIndex at, mad::Bytes& mad) {
  if (!node.traits.samples) return mad::status::bad_method_attribute;
  const auto last = last_sampled_.find(at);
  mad::PortSamplesResult shown;
  if (last != last_sampled_.end()) {
    const Sampling& sampling = samples_[last->second];
    shown = sampling.result;
    shown.tag = sampling.control.tag;
    shown.sample_status = sampling.control.sample_status;
  }
  encode_gmp(shown, mad::gmp_data(mad));
  return mad::status::ok;
}

void Pma::sample_started(PortIndex port, std::uint32_t epoch, Picoseconds now) {
  Sampling& sampling = samples_[port];
  if (sampling.epoch != epoch) return;
  sampling.start = counters_.read(port, Counters::Set::Wide, now);
  sampling.control.sample_status = running;
  if (sampling.control.sample_interval == 0) {
    sample_ended(port, epoch, now);
    return;
  }
  schedule_.add(now + counter_tick * std::int64_t{sampling.control.sample_interval}, Event::Kind::SampleEnd,
                port.raw(), epoch);
}

void Pma::sample_ended(PortIndex port, std::uint32_t epoch, Picoseconds now) {
  Sampling& sampling = samples_[port];
  if (sampling.epoch != epoch) return;
  const PortTotals end = counters_.read(port, Counters::Set::Wide, now);
  for (std::size_t i = 0; i < sampling.result.counters.size(); ++i) {
    sampling.result.counters[i] =
        sampled(sampling.control.counter_select[i], sampling.start, end, port, counters_.source(), now);
  }
  sampling.control.sample_status = done;
}

}  // namespace heddle::sim
