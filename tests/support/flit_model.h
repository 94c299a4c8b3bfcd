/// The packet simulator's rules, carried out flit by flit and cycle by cycle with no regard to speed: what
/// the fast model is compared with. It takes the wiring from a Network and nothing else of the fast model but
/// the schedulers. A flit that is not where it must be when its turn comes trips an assertion: packets move
/// without gaps.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "sim/packet/packet_sim.h"

namespace heddle::packet::testing_support {

class FlitModel {
 public:
  struct Result {
    Cycle at = 0;
    std::uint64_t tag = 0;
    friend bool operator==(const Result&, const Result&) = default;
    friend auto operator<=>(const Result&, const Result&) = default;
  };

  explicit FlitModel(const Network& net)
      : net_{net},
        plane_{net.plane},
        inputs_(net.inputs.size()),
        outputs_(net.outputs.size()),
        ports_(net.ports.size()),
        buffers_(net.pools.size()) {
    of_switches_ = *Scheduler::make(plane_.switch_scheduler, plane_.flit_bytes);
    of_hosts_ = *Scheduler::make(plane_.host_scheduler, plane_.flit_bytes);
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      inputs_[i].lanes.resize(static_cast<std::size_t>(plane_.vls));
      inputs_[i].retry_at.resize(static_cast<std::size_t>(plane_.vls));
      if (net.inputs[i].central) size(net.inputs[i].pool, plane_.central_flits / 2);
    }
    for (std::size_t i = 0; i < outputs_.size(); ++i) outputs_[i].last = net.outputs[i].inputs - 1;
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      const packet::Port& port = net.ports[i];
      ports_[i].lanes.resize(static_cast<std::size_t>(plane_.vls));
      ports_[i].up = net.links[i].up;
      ports_[i].scheduled_as = (port.host_side ? of_hosts_ : of_switches_).add_port();
      if (port.pool != nothing) size(port.pool, plane_.output_flits);
      if (port.room != nothing) size(port.room, port.to_host ? plane_.host_flits : plane_.input_flits);
    }
  }

  void send(const Send& what, Cycle at) {
    injections_.emplace(at + plane_.delays.injection,
                        std::make_shared<Sending>(Sending{what, what.flits, what.flits}));
  }

  void run_until(Cycle end) {
    for (; now_ < end; ++now_) {
      arrive();
      allocate();
      for (std::size_t i = 0; i < ports_.size(); ++i) transmit(i);
    }
  }

  void set_link(LinkIndex link, bool open) {
    for (const LinkEnd end : {net_.fabric->link(link).a, net_.fabric->link(link).b}) {
      const std::uint32_t id = net_.port_of_slot[net_.fabric->port_index(end).raw()];
      ports_[id].up = open;
      if (!open) close(id);
    }
  }

  [[nodiscard]] const std::vector<Result>& delivered() const { return delivered_; }
  [[nodiscard]] std::uint64_t sent_flits(std::uint32_t port) const { return ports_[port].sent_flits; }
  [[nodiscard]] std::uint64_t stalled(std::uint32_t port) const { return ports_[port].stalled; }
  std::uint64_t lost = 0;
  std::uint64_t broken = 0;
  std::uint64_t discarded = 0;
  bool gap = false;       ///< a flit was not where it had to be
  bool overfull = false;  ///< a buffer took more than it holds

 private:
  struct Sending {
    Send what;
    std::int32_t to_send;
    std::int32_t outstanding;
    bool spoiled = false;
  };
  struct Flits {  // a packet
    std::shared_ptr<Sending> of;
    std::int32_t count = 0;
    unsigned vl = 0;
    unsigned next_vl = 0;
    std::uint32_t output = 0;
    std::uint32_t port = 0;
    Cycle tail = 0;  // when its last flit comes to the input where it is
    bool broken = false;
    bool crossed = false;
    std::size_t lost_on = nothing;       // the port whose link closed before its header had arrived
    std::size_t discarded_at = nothing;  // the port that gave it up
  };
  using Ref = std::shared_ptr<Flits>;
  struct Flit {
    Ref packet;
    std::int32_t index;
    Cycle at;         // when it arrives, or may be used
    unsigned vl = 0;  // of the link it is on
  };
  struct Crossing {
    Ref packet;
    unsigned vl;
    std::int32_t next;
    Cycle at;  // of the next flit
    std::uint32_t output;
    unsigned next_vl = 0;
    Cycle last = 0;  // when the last flit must be read
  };
  struct Lane {
    std::deque<Flit> flits;
    std::deque<std::pair<Ref, Cycle>> headers;  // and when each is ready
  };
  struct In {
    std::vector<Lane> lanes;
    std::deque<Crossing> crossing;
    std::vector<Cycle> busy_until;  // one per packet that is being read
    unsigned next_vl = 0;
    std::vector<Cycle> retry_at;  // by VL: when its head may ask again
  };
  struct Out {
    std::vector<Cycle> busy_until;
    std::uint32_t last = 0;
  };
  struct PortLane {
    std::deque<Flit> flits;
    std::deque<std::pair<Ref, Cycle>> headers;
    std::deque<std::shared_ptr<Sending>> sendings;
    Cycle left = 0;  // when the last header went
  };
  struct PortState {
    std::vector<PortLane> lanes;
    std::deque<Flit> wire;
    std::optional<Crossing> sending;
    Cycle busy_until = 0;
    bool up = false;
    std::uint32_t scheduled_as = 0;
    std::uint64_t sent_flits = 0;
    std::uint64_t stalled = 0;
  };
  struct Buffer {
    std::int32_t flits = 0;
    std::vector<std::int32_t> used;
  };

  void size(std::uint32_t pool, std::int32_t flits) {
    buffers_[pool].flits = flits;
    buffers_[pool].used.resize(static_cast<std::size_t>(plane_.vls));
  }
  [[nodiscard]] Share share(const Buffer& buffer) const {
    const double equal = static_cast<double>(buffer.flits) / plane_.vls;
    return {static_cast<std::int32_t>(equal * plane_.sharing.least),
            std::min(buffer.flits, static_cast<std::int32_t>(equal * plane_.sharing.greatest))};
  }
  [[nodiscard]] std::int32_t room(std::uint32_t pool, unsigned vl) const {
    const Buffer& buffer = buffers_[pool];
    const Share each = share(buffer);
    std::int32_t reserved = 0;  // for the other VLs, used or kept free
    for (unsigned other = 0; other < buffer.used.size(); ++other) {
      if (other != vl) reserved += std::max(buffer.used[other], each.least);
    }
    return std::min(each.greatest, buffer.flits - reserved) - buffer.used[vl];
  }
  void take(std::uint32_t pool, unsigned vl, std::int32_t flits) {
    overfull = overfull || flits > room(pool, vl);
    buffers_[pool].used[vl] += flits;
  }
  /// In time for the decisions of cycle `at`.
  void give(std::uint32_t pool, unsigned vl, std::int32_t flits, Cycle at) {
    if (at <= now_) {
      buffers_[pool].used[vl] -= flits;
    } else {
      credits_.emplace(at, std::tuple{pool, vl, flits});
    }
  }

  void finish(const Ref& packet, bool whole) {
    Sending& sending = *packet->of;
    sending.outstanding -= packet->count;
    sending.spoiled = sending.spoiled || !whole;
    if (sending.outstanding == 0 && !sending.spoiled) delivered_.push_back({now_, sending.what.tag});
  }

  void arrive() {
    for (auto end = credits_.upper_bound(now_); !credits_.empty() && credits_.begin() != end;) {
      const auto [pool, vl, flits] = credits_.begin()->second;
      buffers_[pool].used[vl] -= flits;
      credits_.erase(credits_.begin());
    }
    for (; !injections_.empty() && injections_.begin()->first <= now_;
         injections_.erase(injections_.begin())) {
      const auto& sending = injections_.begin()->second;
      const std::uint32_t port = net_.hosts[sending->what.source].port;
      ports_[port].lanes[plane_.sl_to_vl[sending->what.sl]].sendings.push_back(sending);
    }
    for (std::size_t id = 0; id < ports_.size(); ++id) {
      auto& wire = ports_[id].wire;
      for (; !wire.empty() && wire.front().at <= now_; wire.pop_front()) land(id, wire.front());
    }
    for (std::uint32_t id = 0; id < inputs_.size(); ++id) cross(id);
    for (std::size_t id = 0; id < ports_.size(); ++id) {
      if (net_.ports[id].host_side) continue;
      const bool thrown_away = !ports_[id].up && plane_.closed_link == packet::ClosedLink::Discard;
      for (PortLane& lane : ports_[id].lanes) {
        while (!lane.headers.empty() && lane.headers.front().second <= now_ &&
               (thrown_away || too_old(lane))) {
          discard(lane, net_.ports[id]);
        }
      }
    }
  }

  /// The first of the queue, since it came to its head.
  [[nodiscard]] bool too_old(const PortLane& lane) const {
    return plane_.head_lifetime > 0 &&
           now_ - std::max(lane.headers.front().second, lane.left) >= plane_.head_lifetime;
  }

  /// A flit comes to the far end of a link.
  void land(std::size_t port_id, const Flit& flit) {
    const packet::Port& port = net_.ports[port_id];
    const Ref& packet = flit.packet;
    if (packet->lost_on == port_id) return;
    if (port.to_host) {
      give(port.room, flit.vl, 1, now_ + plane_.delays.credit);
      if (flit.index + 1 < packet->count) return;
      if (packet->broken) ++broken;
      finish(packet, !packet->broken);
      return;
    }
    Lane& lane = inputs_[port.far].lanes[flit.vl];
    lane.flits.push_back(flit);
    if (flit.index > 0) return;
    const Cycle slack = static_cast<Cycle>(packet->count - 1) * (port.flit_cycles - 1);
    lane.headers.emplace_back(packet, now_ + plane_.delays.input + plane_.delays.routing + slack);
    packet->tail = now_ + static_cast<Cycle>(packet->count - 1) * port.flit_cycles;
    route(*packet, net_.inputs[port.far]);
  }

  void route(Flits& packet, const Input& input) {
    const SwitchElement& at = net_.switches[input.at_switch];
    const Lid lid = net_.hosts[packet.of->what.target].lid;
    const std::uint32_t number = net_.programming.forwarding.port(routing::SwitchIndex{at.row}, lid).raw();
    packet.port = at.first_port + number;
    unsigned vl = plane_.sl_to_vl[packet.of->what.sl];
    if (plane_.model == SwitchModel::InfiniBand) {
      packet.output = at.first_output + number - 1;
    } else if (plane_.output_arbiter == OutputArbiter::One) {
      const bool same = (number - 1) / 4 == (input.number - 1U) / 4;
      packet.output = same ? at.first_output + number - 1 : input.first_output + (number - 1) % 2;
    } else if ((number - 1) / 4 == (input.number - 1U) / 4) {
      packet.output = input.first_output + (number - 1) % 4;
    } else {
      packet.output = input.first_output + net_.outputs[input.first_output].inputs + (number - 1) % 2;
    }
    if (plane_.ring_rule == RingRule::DateLine) {
      const std::uint8_t ring = net_.outputs[net_.ports[packet.port].outputs[0]].ring;
      const bool same = ring == input.ring && ring != RingHop::no_ring;
      packet.crossed = (same && packet.crossed) || net_.links[packet.port].date_line;
      if (packet.crossed) vl += static_cast<unsigned>(plane_.vls) / 2;
    }
    packet.next_vl = vl;
  }

  [[nodiscard]] int speed(const Input& input) const {
    if (input.central) return plane_.central_speed;
    return plane_.model == SwitchModel::InfiniBand ? plane_.crossbar_speed : plane_.mport_speed;
  }
  /// From the arrival of a flit until it may be read.
  [[nodiscard]] Cycle storing(const Input& input) const { return input.central ? 0 : plane_.delays.input; }

  /// Flits that this input reads in this cycle: as many of each packet as the crossbar takes, and have come.
  void cross(std::uint32_t id) {
    In& in = inputs_[id];
    const Input& input = net_.inputs[id];
    for (Crossing& crossing : in.crossing) {
      if (crossing.at > now_) continue;
      auto& flits = in.lanes[crossing.vl].flits;
      for (int i = 0; i < speed(input) && crossing.next < crossing.packet->count; ++i) {
        const auto flit = std::ranges::find_if(
            flits, [&](const Flit& f) { return f.packet == crossing.packet && f.index == crossing.next; });
        if (flit == flits.end() || flit->at + storing(input) > now_) {
          gap = gap || speed(input) == 1;
          break;
        }
        flits.erase(flit);
        into_output(crossing);
        ++crossing.next;
      }
      if ((crossing.next == crossing.packet->count) != (now_ == crossing.last)) gap = true;
    }
    std::erase_if(in.crossing, [](const Crossing& c) { return c.next == c.packet->count; });
  }

  /// The packet is taken: when its last flit will be read, and when its room comes back.
  Cycle begin_crossing(std::uint32_t id, const Ref& packet, unsigned vl, std::uint32_t output) {
    const Input& input = net_.inputs[id];
    const Cycle start = now_ + plane_.delays.allocation;
    const Cycle steps = (packet->count + speed(input) - 1) / speed(input);
    const Cycle last = std::max(start + steps - 1, packet->tail + storing(input));
    for (std::int32_t i = 0; i < packet->count; ++i) {
      give(input.pool, vl, 1,
           last - steps + 1 + i / speed(input) + (input.central ? 1 : plane_.delays.credit));
    }
    inputs_[id].crossing.push_back({packet, vl, 0, start, output, packet->next_vl, last});
    if (net_.outputs[output].central) packet->tail = last + plane_.delays.crossbar;
    return last;
  }

  void into_output(const Crossing& crossing) {
    const Output& output = net_.outputs[crossing.output];
    const Ref& packet = crossing.packet;
    if (output.central) {
      const Cycle at = now_ + plane_.delays.crossbar;
      Lane& lane = inputs_[output.target].lanes[crossing.next_vl];
      lane.flits.push_back({packet, crossing.next, at, crossing.next_vl});
      return;
    }
    const Cycle at = now_ + plane_.delays.crossbar + plane_.delays.output;
    PortLane& lane = ports_[output.target].lanes[crossing.next_vl];
    if (packet->discarded_at != output.target)
      lane.flits.push_back({packet, crossing.next, at, crossing.next_vl});
  }

  [[nodiscard]] static bool idle(std::vector<Cycle>& busy, std::size_t lanes, Cycle now) {
    std::erase_if(busy, [&](Cycle until) { return until <= now; });
    return busy.size() < lanes;
  }

  bool can_take(std::uint32_t input, const Flits& packet) {
    const Output& output = net_.outputs[packet.output];
    if (!idle(outputs_[packet.output].busy_until, output.lanes, now_)) return false;
    const bool entering = output.spare > 0 && output.ring != net_.inputs[input].ring;
    return room(output.pool, packet.next_vl) >= packet.count + (entering ? output.spare : 0);
  }

  void allocate() {
    std::vector<bool> taken(inputs_.size());
    const bool blind = plane_.virtual_allocation == VirtualAllocation::Blind;
    const Cycle again = now_ + std::max<Cycle>(plane_.allocation_retry, blind ? 1 : 0);
    for (int pass = 0; pass < plane_.allocation_passes; ++pass) {
      std::map<std::uint32_t, std::vector<std::pair<std::uint32_t, unsigned>>>
          requests;  // by output: input, VL
      for (std::uint32_t id = 0; id < inputs_.size(); ++id) {
        In& in = inputs_[id];
        if (taken[id] || !idle(in.busy_until, net_.inputs[id].lanes, now_)) continue;
        const unsigned turn = in.next_vl;
        for (int i = 0; i < plane_.vls; ++i) {
          const unsigned vl = (turn + static_cast<unsigned>(i)) % static_cast<unsigned>(plane_.vls);
          auto& headers = in.lanes[vl].headers;
          if (headers.empty() || headers.front().second > now_ || in.retry_at[vl] > now_) continue;
          if (net_.inputs[id].central) {
            Flits& packet = *headers.front().first;
            packet.output =
                net_.switches[net_.inputs[id].at_switch].first_output + net_.ports[packet.port].number - 1;
          }
          if (blind) in.next_vl = (vl + 1) % static_cast<unsigned>(plane_.vls);
          if (!can_take(id, *headers.front().first)) {
            if (!blind) continue;
            in.retry_at[vl] = again;
            break;
          }
          requests[headers.front().first->output].emplace_back(id, vl);
          break;
        }
      }
      for (const bool several : {false, true}) {
        for (auto& [output, list] : requests) {
          if ((net_.outputs[output].lanes > 1) == several) serve(output, list, taken);
        }
      }
      for (const auto& [output, list] : requests) {
        for (const auto& [id, vl] : list) inputs_[id].retry_at[vl] = taken[id] ? 0 : again;
      }
    }
  }

  void serve(std::uint32_t output, std::vector<std::pair<std::uint32_t, unsigned>>& list,
             std::vector<bool>& taken) {
    const std::uint32_t size = net_.outputs[output].inputs;
    const std::uint32_t last = outputs_[output].last;
    std::ranges::sort(list, {}, [&](const auto& request) {
      return (net_.inputs[request.first].place + size - last - 1) % size;
    });
    for (const auto& [id, vl] : list) {
      const Ref packet = inputs_[id].lanes[vl].headers.front().first;
      if (!can_take(id, *packet)) continue;
      In& in = inputs_[id];
      in.lanes[vl].headers.pop_front();
      in.next_vl = (vl + 1) % static_cast<unsigned>(plane_.vls);
      const Cycle until = begin_crossing(id, packet, vl, output) + 1 - plane_.delays.allocation;
      in.busy_until.push_back(until);
      outputs_[output].busy_until.push_back(until);
      outputs_[output].last = net_.inputs[id].place;
      take(net_.outputs[output].pool, packet->next_vl, packet->count);
      // Packets that come to one queue in one cycle queue up in the order in which they were taken.
      const Output& to = net_.outputs[output];
      const Cycle at = now_ + plane_.delays.allocation + plane_.delays.crossbar;
      if (to.central) {
        inputs_[to.target].lanes[packet->next_vl].headers.emplace_back(packet, at);
      } else {
        ports_[to.target].lanes[packet->next_vl].headers.emplace_back(packet, at + plane_.delays.output);
      }
      taken[id] = true;
      if (to.lanes == 1) return;
    }
  }

  void transmit(std::size_t id) {
    PortState& state = ports_[id];
    const packet::Port& port = net_.ports[id];
    if (state.busy_until <= now_) choose(id);
    if (!state.sending || state.sending->at != now_) return;
    Crossing& sending = *state.sending;
    if (!port.host_side) {
      auto& flits = state.lanes[sending.vl].flits;
      const auto flit = std::ranges::find_if(
          flits, [&](const Flit& f) { return f.packet == sending.packet && f.index == sending.next; });
      if (flit == flits.end() || flit->at > now_) {
        gap = true;
        return;
      }
      flits.erase(flit);
      give(port.pool, sending.vl, 1, now_ + 1);
    }
    state.wire.push_back({sending.packet, sending.next, now_ + port.flight, sending.vl});
    ++state.sent_flits;
    ++sending.next;
    sending.at += port.flit_cycles;
    if (sending.next == sending.packet->count) state.sending.reset();
  }

  void choose(std::size_t id) {
    PortState& state = ports_[id];
    const packet::Port& port = net_.ports[id];
    if (!state.up) return;
    LaneMask eligible = 0;
    HeadFlits heads{};
    bool waiting = false;
    for (unsigned vl = 0; vl < static_cast<unsigned>(plane_.vls); ++vl) {
      const PortLane& lane = state.lanes[vl];
      if (port.host_side) {
        if (lane.sendings.empty()) continue;
        heads[vl] = std::min(plane_.max_packet, lane.sendings.front()->to_send);
      } else {
        if (lane.headers.empty() || lane.headers.front().second > now_) continue;
        heads[vl] = lane.headers.front().first->count;
      }
      waiting = true;
      if (room(port.room, vl) >= heads[vl]) eligible |= LaneMask{1} << vl;
    }
    if (eligible == 0) {
      if (waiting) ++state.stalled;
      return;
    }
    start(id, pick(id, eligible, heads));
  }

  unsigned pick(std::size_t id, LaneMask eligible, const HeadFlits& heads) {
    Scheduler& scheduler = net_.ports[id].host_side ? of_hosts_ : of_switches_;
    return *scheduler.pick(ports_[id].scheduled_as, eligible, heads);  // one VL per SL: lanes are the same
  }

  void start(std::size_t id, unsigned vl) {
    PortState& state = ports_[id];
    const packet::Port& port = net_.ports[id];
    PortLane& lane = state.lanes[vl];
    Ref packet;
    if (port.host_side) {
      packet = std::make_shared<Flits>();
      packet->of = lane.sendings.front();
      packet->count = std::min(plane_.max_packet, packet->of->to_send);
      packet->of->to_send -= packet->count;
      if (packet->of->to_send == 0) lane.sendings.pop_front();
    } else {
      packet = lane.headers.front().first;
      lane.headers.pop_front();
      lane.left = now_;
    }
    packet->vl = vl;
    take(port.room, vl, packet->count);
    state.sending = Crossing{packet, vl, 0, now_, 0, vl};
    state.busy_until = now_ + static_cast<Cycle>(packet->count) * port.flit_cycles;
  }

  /// The link closes before anything else happens in this cycle. Flits on it are lost, and so are those that
  /// were still to leave: noise takes their place, so that what follows keeps its time.
  void close(std::uint32_t id) {
    PortState& state = ports_[id];
    const packet::Port& port = net_.ports[id];
    if (state.sending) state.sending->packet->broken = true;
    for (const Flit& flit : state.wire) {
      if (flit.packet->lost_on == id) continue;
      flit.packet->broken = true;
      if (flit.index > 0) continue;
      flit.packet->lost_on = id;
      ++lost;
      finish(flit.packet, false);
      give_back_lost(port, flit);
    }
    if (port.host_side || plane_.closed_link == packet::ClosedLink::Hold) return;
    for (PortLane& lane : state.lanes) {
      while (!lane.headers.empty() && lane.headers.front().second < now_) discard(lane, port);
    }
  }

  /// The room of a lost packet comes back as if it had been thrown away flit by flit where it was to be
  /// routed.
  void give_back_lost(const packet::Port& port, const Flit& header) {
    const Flits& packet = *header.packet;
    const Cycle slack = port.to_host ? 0 : static_cast<Cycle>(packet.count - 1) * (port.flit_cycles - 1);
    const Cycle routed = port.to_host ? 0 : plane_.delays.input + plane_.delays.routing + slack;
    for (std::int32_t i = 0; i < packet.count; ++i) {
      give(port.room, packet.vl, 1,
           header.at + routed + plane_.delays.credit + static_cast<Cycle>(i) * port.flit_cycles);
    }
  }

  void discard(PortLane& lane, const packet::Port& port) {
    const Ref packet = lane.headers.front().first;
    lane.headers.pop_front();
    lane.left = now_;
    packet->discarded_at = net_.port_of_slot[port.slot];
    ++discarded;
    std::erase_if(lane.flits, [&](const Flit& flit) { return flit.packet == packet; });
    give(port.pool, packet->next_vl, packet->count, now_);
    finish(packet, false);
  }

  const Network net_;
  const DataPlane& plane_;
  Cycle now_ = 0;
  std::vector<In> inputs_;
  std::vector<Out> outputs_;
  std::vector<PortState> ports_;
  std::vector<Buffer> buffers_;
  Scheduler of_switches_;
  Scheduler of_hosts_;
  std::multimap<Cycle, std::tuple<std::uint32_t, unsigned, std::int32_t>> credits_;
  std::multimap<Cycle, std::shared_ptr<Sending>> injections_;
  std::vector<Result> delivered_;
};

}  // namespace heddle::packet::testing_support
