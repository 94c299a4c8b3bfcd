// Flows that come, change and go while a run goes on.
#include <algorithm>
#include <cmath>

#include "sim/packet/packet_sim.h"

namespace heddle::packet {

StreamId PacketSim::add_stream(const Stream& what, Cycle first) {
  std::uint32_t id = 0;
  if (free_streams_.empty()) {
    id = static_cast<std::uint32_t>(streams_.size());
    streams_.push_back({});
    streams_[id].source = static_cast<std::uint32_t>(sources_.size());
    sources_.push_back({nothing, id});
  } else {
    id = free_streams_.back();
    free_streams_.pop_back();
    const std::uint32_t source = streams_[id].source;
    streams_[id] = {};
    streams_[id].source = source;
  }
  streams_[id].what = what;
  streams_[id].due = static_cast<double>(first);
  if (std::isfinite(what.interval)) schedule_stream(id, first);
  return StreamId{id};
}

void PacketSim::set_interval(StreamId id, double cycles) {
  RunningStream& stream = streams_[id.raw()];
  const double before = stream.what.interval;
  stream.what.interval = cycles;
  if (!std::isfinite(cycles)) {
    stream.next_at = -1;
    return;
  }
  if (stream.held) return;
  // The share of the interval that has passed counts.
  const double left = std::isfinite(before) && stream.next_at >= 0
                          ? (stream.due - static_cast<double>(now())) * cycles / before
                          : cycles;
  stream.due = static_cast<double>(now()) + std::clamp(left, 0.0, cycles);
  schedule_stream(id.raw(), static_cast<Cycle>(stream.due));
}

void PacketSim::remove_stream(StreamId id) {
  RunningStream& stream = streams_[id.raw()];
  stream.alive = false;
  stream.next_at = -1;
  if (stream.under_way == 0) free_streams_.push_back(id.raw());
}

/// An event that stands in the calendar for another time is void.
void PacketSim::schedule_stream(std::uint32_t id, Cycle at) {
  RunningStream& stream = streams_[id];
  if (stream.next_at == at) return;
  stream.next_at = at;
  wheel_.push(at, Event::of(EventKind::Generate, stream.source));
}

void PacketSim::generate_stream(std::uint32_t id, std::uint32_t source) {
  RunningStream& stream = streams_[id];
  if (stream.next_at != now()) return;
  stream.next_at = -1;
  if (stream.under_way >= stream.what.window) {
    stream.held = true;
    return;
  }
  ++stream.under_way;
  ++stream.made;
  const auto salt = static_cast<std::uint32_t>((stream.made * 0x9e3779b97f4a7c15ULL + id) >> 32U);
  const std::uint32_t message = make_message({.source = stream.what.source,
                                              .target = stream.what.target,
                                              .flits = stream.what.flits,
                                              .sl = stream.what.sl,
                                              .path = stream.what.path,
                                              .salt = salt},
                                             now());
  messages_[message].origin = source;
  wheel_.push(now() + net_.plane.delays.injection, Event::of(EventKind::Inject, message));
  stream.due = std::max(stream.due + stream.what.interval, static_cast<double>(now() + 1));
  schedule_stream(id, static_cast<Cycle>(stream.due));
}

void PacketSim::stream_message_ended(std::uint32_t source, std::int32_t flits, bool whole) {
  const std::uint32_t id = sources_[source].host;
  RunningStream& stream = streams_[id];
  --stream.under_way;
  if (!stream.alive) {
    if (stream.under_way == 0) free_streams_.push_back(id);
    return;
  }
  if (whole) stream.delivered_flits += static_cast<std::uint64_t>(flits);
  if (!stream.held) return;
  stream.held = false;  // what it could not send meanwhile is not made up for
  if (!std::isfinite(stream.what.interval)) return;
  stream.due = static_cast<double>(now() + 1);
  schedule_stream(id, now() + 1);
}

}  // namespace heddle::packet
