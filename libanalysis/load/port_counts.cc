#include "load/port_counts.h"

#include <algorithm>

namespace heddle::load {
namespace {

// A reading may have been under way for longer than the one before it, so that it covers more than the time
// between the two arrivals.
constexpr double late_answer_seconds = 1;
constexpr double slack = 1.25;
// The shortest packet, a link-local header with its CRCs (IBA 7.7), in 4-byte words.
constexpr double shortest_packet_words = 5;

constexpr CounterMask data_counters = mask(Counter::XmitData, Counter::RcvData);
constexpr CounterMask packet_counters = mask(Counter::XmitPackets, Counter::RcvPackets) | cast_counters;

std::uint64_t last_reading(const PortCounts& port, const CounterValues& totals, std::size_t i) {
  return port.ahead ? totals[i] - (*port.ahead)[i] : totals[i];
}

void set_last_reading(PortCounts& port, const CounterValues& totals, std::size_t i, std::uint64_t value) {
  const std::uint64_t ahead = totals[i] - value;
  if (!port.ahead) {
    if (ahead == 0) return;
    port.ahead = std::make_unique<CounterValues>();
  }
  (*port.ahead)[i] = ahead;
}

bool possible(CounterMask counter, std::uint64_t growth, double most_words) {
  if ((counter & data_counters) != 0) return static_cast<double>(growth) <= most_words;
  if ((counter & packet_counters) != 0) {
    return static_cast<double>(growth) <= most_words / shortest_packet_words;
  }
  // No tick of XmitWait is shorter than a byte takes, and no error comes more often.
  return static_cast<double>(growth) <= most_words * 4;
}

}  // namespace

Advance advance(PortCounts& port, CounterValues& totals, const Reading& reading, FabricClock::duration since,
                Capacity capacity) {
  Advance result;
  const double most_words = capacity.words_per_second * slack * (seconds(since) + late_answer_seconds);
  for (std::size_t i = 0; i < counter_count; ++i) {
    const CounterMask bit = CounterMask{1} << i;
    if ((reading.present & bit) == 0) continue;
    const std::uint64_t value = reading.value[i];
    const std::uint64_t last = last_reading(port, totals, i);
    if ((port.known & bit) == 0) {
      totals[i] = value;
      port.uncertain |= bit;
    } else if (value >= last && possible(bit, value - last, most_words)) {
      totals[i] += value - last;
    } else if (value < last && (port.resetting & bit) != 0) {
      totals[i] += value;
      port.uncertain |= bit;
      set_last_reading(port, totals, i, value);
    } else {
      result.gap = true;
      port.uncertain |= bit;
      set_last_reading(port, totals, i, value);
    }
    if (value == largest(static_cast<Counter>(i), reading.width)) {
      result.saturated |= bit;
      port.uncertain |= bit;
    }
  }
  port.known |= reading.present;
  port.resetting &= ~reading.present;
  // What sets one counter back sets back all, though some may have passed their old value again.
  if (result.gap) port.uncertain |= reading.present;
  return result;
}

void confirm_reset(PortCounts& port, const CounterValues& totals, CounterMask counters) {
  for (std::size_t i = 0; i < counter_count; ++i) {
    if ((counters & (CounterMask{1} << i)) != 0) set_last_reading(port, totals, i, 0);
  }
  port.resetting &= ~counters;
}

void suspect_reset(PortCounts& port, CounterMask counters) { port.resetting |= counters; }

FabricClock::duration time_to_saturate(BitRate rate) {
  if (rate.value() <= 0) return FabricClock::duration::max();
  const double full = 4294967295.0 * 32 / rate.value();
  return std::chrono::duration_cast<FabricClock::duration>(std::chrono::duration<double>(full));
}

}  // namespace heddle::load
