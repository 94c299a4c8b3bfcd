// What the meters of the flow plane mean to a reader: port counters, waits, figures.

#include "sim/flow/flow_plane.h"

namespace heddle::sim {
namespace {

using What = MeterBank::What;

constexpr std::uint64_t bits_per_unit = 32;
constexpr Vl any_vl{0};
constexpr std::uint64_t ticks_per_second = MeterBank::picoseconds_per_second / counter_tick.count();

BitRate rate_of(std::uint64_t rate) {
  return BitRate{static_cast<double>(rate) / static_cast<double>(MeterBank::rate_unit)};
}

/// Ticks per second, in meter units, of data that waits `held` of `carried + held`.
std::uint64_t wait_rate(std::uint64_t held, std::uint64_t carried) {
  if (held == 0) return 0;
  return static_cast<std::uint64_t>(Volume{held} * ticks_per_second * MeterBank::rate_unit /
                                    (Volume{carried} + held));
}

double share(std::uint64_t wait) {
  return static_cast<double>(wait) / static_cast<double>(ticks_per_second * MeterBank::rate_unit);
}

}  // namespace

void FlowPlane::refresh_waits(PortIndex port) {
  std::array<std::uint64_t, 16> carried{};
  std::array<std::uint64_t, 16> held{};
  std::array<bool, 16> known{};
  std::uint64_t all_carried = 0;
  std::uint64_t all_held = 0;
  meters_.for_each(port, [&](MeterBank::Key key, std::uint64_t rate) {
    if (key.what == What::Data) {
      carried.at(key.vl.raw()) = rate;
      all_carried += rate;
    } else if (key.what == What::Held) {
      held.at(key.vl.raw()) = rate;
      known.at(key.vl.raw()) = true;
      all_held += rate;
    }
  });
  const auto set = [&](MeterBank::Key key, std::uint64_t rate) {
    if (rate != meters_.rate(port, key)) meters_.set(port, key, rate, now_);
  };
  set({What::PortWait, any_vl}, wait_rate(all_held, all_carried));
  for (std::uint8_t vl = 0; vl < 16; ++vl) {
    if (known[vl]) set({What::Wait, Vl{vl}}, wait_rate(held[vl], carried[vl]));
  }
}

PortTotals FlowPlane::read(PortIndex port, Picoseconds now) {
  catch_up(now);
  Volume sent = 0;
  Volume received = 0;
  PortTotals totals;
  meters_.for_each(port, now, [&](MeterBank::Key key, Volume volume) {
    if (key.what == What::Data) sent += volume;
    if (key.what == What::PortWait) totals.xmit_wait = MeterBank::whole(volume, 1);
    if (key.what == What::Discard) {
      totals.inactive_discards = MeterBank::whole(volume, 8ULL * options_.packet_bytes);
      totals.xmit_discards = totals.inactive_discards;
    }
  });
  if (const PortIndex other = peer_[port.raw()]; other != no_port) {
    meters_.for_each(other, now, [&](MeterBank::Key key, Volume volume) {
      if (key.what == What::Data) received += volume;
    });
  }
  totals.xmit_data = MeterBank::whole(sent, bits_per_unit);
  totals.rcv_data = MeterBank::whole(received, bits_per_unit);
  totals.xmit_packets = MeterBank::whole(sent, 8ULL * options_.packet_bytes);
  totals.rcv_packets = MeterBank::whole(received, 8ULL * options_.packet_bytes);
  return totals;
}

VlTotals FlowPlane::read_vls(PortIndex port, Picoseconds now) {
  catch_up(now);
  VlTotals totals;
  meters_.for_each(port, now, [&](MeterBank::Key key, Volume volume) {
    const std::size_t vl = key.vl.raw();
    if (key.what == What::Data) {
      totals.xmit_data.at(vl) = MeterBank::whole(volume, bits_per_unit);
      totals.xmit_packets.at(vl) = MeterBank::whole(volume, 8ULL * options_.packet_bytes);
    } else if (key.what == What::Wait) {
      totals.xmit_wait.at(vl) = MeterBank::whole(volume, 1);
    }
  });
  return totals;
}

/// The queue is as full as its data waits: all of it where nothing but waiting happens.
std::uint32_t FlowPlane::queue_depth(PortIndex port, Vl vl, Picoseconds now) {
  catch_up(now);
  flush();
  return static_cast<std::uint32_t>(share(meters_.rate(port, {What::Wait, vl})) * options_.queue_credits);
}

Picoseconds FlowPlane::queue_delay(PortIndex port, Vl vl, Picoseconds now) {
  const double bits = static_cast<double>(queue_depth(port, vl, now)) * 64 * 8;
  const double rate = view_.rate(port).value();
  if (bits == 0 || rate == 0) return Picoseconds{0};
  return Picoseconds{static_cast<std::int64_t>(bits / rate * MeterBank::picoseconds_per_second)};
}

BitRate FlowPlane::rate(TrafficId flow, Picoseconds at) {
  catch_up(at);
  flush();
  return rate_of(flows_[flow.raw()].rate);
}

RouteEnd FlowPlane::route_end(TrafficId flow, Picoseconds at) {
  catch_up(at);
  return flows_[flow.raw()].end;
}

BitRate FlowPlane::sent(PortIndex port, Picoseconds at) {
  catch_up(at);
  flush();
  std::uint64_t sum = 0;
  meters_.for_each(port, [&](MeterBank::Key key, std::uint64_t rate) {
    if (key.what == What::Data) sum += rate;
  });
  return rate_of(sum);
}

Ratio FlowPlane::waiting(PortIndex port, Picoseconds at) {
  catch_up(at);
  flush();
  return Ratio{share(meters_.rate(port, {What::PortWait, any_vl}))};
}

FlowFigures FlowPlane::figures(Picoseconds at) {
  catch_up(at);
  flush();
  const PortIndex all{0};
  FlowFigures figures;
  figures.flows = count_;
  figures.unroutable = unroutable_;
  figures.into_off_link = into_off_link_;
  figures.wanted = rate_of(wanted_);
  figures.delivered = rate_of(totals_.rate(all, {What::Data, any_vl}));
  figures.delivered_bytes = MeterBank::whole(totals_.volume(all, {What::Data, any_vl}, at), 8);
  figures.lost_bytes = MeterBank::whole(totals_.volume(all, {What::Discard, any_vl}, at), 8);
  figures.stood_still = stood_still_;
  return figures;
}

}  // namespace heddle::sim
