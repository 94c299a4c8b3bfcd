// Phase 2 of a cycle: VA and SA, then the packets that were taken cross.
#include <algorithm>
#include <bit>

#include "sim/packet/packet_sim.h"

namespace heddle::packet {

void PacketSim::ask(std::uint32_t id) {
  Input& input = net_.inputs[id];
  if (input.queued || input.ready == 0) return;
  if (input.lanes == 1 && input.free_at > now()) {
    wake_input_at(id, input.free_at);
    return;
  }
  input.queued = true;
  asking_.push_back(id);
}

void PacketSim::allocate() {
  for (int pass = 0; pass < net_.plane.allocation_passes && !asking_.empty(); ++pass) {
    ++pass_;
    request_all();
    asking_.clear();
    serve_outputs();
    if (!net_.retry_at.empty()) put_off(losers_);
    std::swap(asking_, losers_);  // they may ask for another output in the next pass
  }
  for (const std::uint32_t id : asking_) {
    Input& input = net_.inputs[id];
    if (!net_.retry_at.empty()) {
      wake_input_at(id, next_request(input));
      continue;
    }
    const Packet& packet = packets_[net_.input_queues[input.first_queue + input.request_vl].head];
    wait_for(packet.output, input, packet);
    if ((input.ready & (input.ready - 1)) != 0) wake_input_at(id, now() + 1);
  }
  asking_.clear();
}

void PacketSim::request_all() {
  for (std::size_t i = 0; i < asking_.size(); ++i) {
    expect_requests(i);
    net_.inputs[asking_[i]].queued = false;
    request(asking_[i]);
  }
}

/// SA. Without ties every output can take the input that it chose while they asked.
void PacketSim::serve_outputs() {
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    expect_grants(i);
    grant(net_.outputs[asked_[i]].best, asked_[i]);
  }
  asked_.clear();
  std::ranges::sort(requests_);
  for (std::size_t i = 0; i < requests_.size();) {
    const std::uint32_t output = requests_[i].first;
    std::size_t end = i;
    while (end < requests_.size() && requests_[end].first == output) ++end;
    serve_lanes(output, i, end);
    i = end;
  }
  requests_.clear();
}

/// VA: the first VL in turn whose output could take its packet.
void PacketSim::request(std::uint32_t id) {
  Input& input = net_.inputs[id];
  if (input.lanes > 1 && input.busy == input.lanes) return;
  if (!net_.retry_at.empty()) {
    request_again(id);
    return;
  }
  const std::uint32_t turn = input.ready & (~0U << input.next_vl);
  for (std::uint32_t left = turn != 0 ? turn : input.ready, seen = 0; left != 0;) {
    const auto vl = static_cast<unsigned>(std::countr_zero(left));
    const Packet& packet = packets_[net_.input_queues[input.first_queue + vl].head];
    if (can_take(net_.outputs[packet.output], input, packet)) {
      input.request_vl = static_cast<std::uint8_t>(vl);
      request_output(id, packet.output);
      return;
    }
    wait_for(packet.output, input, packet);
    seen |= 1U << vl;
    left &= left - 1;
    if (left == 0) left = input.ready & ~seen;
  }
}

/// VA where a header that asks may have to pay for it again. Blind VA makes its choice before it sees whether
/// the output could take the packet, and passes the turn on.
void PacketSim::request_again(std::uint32_t id) {
  Input& input = net_.inputs[id];
  const bool blind = net_.plane.virtual_allocation == VirtualAllocation::Blind;
  const LaneMask candidates = may_ask(input);
  LaneMask turn = candidates & (~0U << input.next_vl);
  for (LaneMask left = candidates; left != 0; turn &= left) {
    const auto vl = static_cast<unsigned>(std::countr_zero(turn != 0 ? turn : left));
    left &= ~(LaneMask{1} << vl);
    const Packet& packet = packets_[net_.input_queues[input.first_queue + vl].head];
    input.request_vl = static_cast<std::uint8_t>(vl);
    if (blind) pass_turn(input, vl);
    if (can_take(net_.outputs[packet.output], input, packet)) {
      request_output(id, packet.output);
      return;
    }
    if (blind) {
      losers_.push_back(id);
      return;
    }
    wait_for(packet.output, input, packet);
  }
  if (const LaneMask waiting = input.ready & ~candidates; waiting != 0)
    wake_input_at(id, earliest_retry(input, waiting));
}

/// VLs whose headers are ready and do not pay for having lost.
LaneMask PacketSim::may_ask(const Input& input) const {
  LaneMask able = 0;
  for (LaneMask left = input.ready; left != 0; left &= left - 1) {
    const auto vl = static_cast<unsigned>(std::countr_zero(left));
    if (net_.retry_at[input.first_queue + vl] <= now()) able |= LaneMask{1} << vl;
  }
  return able;
}

/// Headers that asked and were not taken go back to allocation.
void PacketSim::put_off(const std::vector<std::uint32_t>& losers) {
  const Cycle least = net_.plane.virtual_allocation == VirtualAllocation::Blind ? 1 : 0;
  const Cycle again = now() + std::max(least, net_.plane.allocation_retry);
  for (const std::uint32_t id : losers) {
    const Input& input = net_.inputs[id];
    net_.retry_at[input.first_queue + input.request_vl] = again;
  }
}

/// Precondition: some VL of `lanes`.
Cycle PacketSim::earliest_retry(const Input& input, LaneMask lanes) const {
  Cycle earliest = never;
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    const auto vl = static_cast<unsigned>(std::countr_zero(left));
    earliest = std::min(earliest, net_.retry_at[input.first_queue + vl]);
  }
  return earliest;
}

/// When an input that was not taken asks again, for any of its VLs.
Cycle PacketSim::next_request(const Input& input) const {
  return std::max(now() + 1, earliest_retry(input, input.ready));
}

void PacketSim::pass_turn(Input& input, unsigned vl) const {
  input.next_vl = static_cast<std::uint8_t>(vl + 1 < static_cast<unsigned>(net_.plane.vls) ? vl + 1 : 0);
}

bool PacketSim::can_take(const Output& output, const Input& input, const Packet& packet) {
  if (output.lanes == 1 ? output.free_at > now() : output.busy >= output.lanes) return false;
  return net_.pools.room(output.pool, packet.next_vl, now()) >= room_needed(output, input, packet);
}

bool PacketSim::can_take_head(std::uint32_t input_id, std::uint32_t output) {
  const Input& input = net_.inputs[input_id];
  const Packet& packet = packets_[net_.input_queues[input.first_queue + input.request_vl].head];
  return can_take(net_.outputs[output], input, packet);
}

std::int32_t PacketSim::room_needed(const Output& output, const Input& input, const Packet& packet) {
  return output.spare == 0 || output.ring == input.ring ? packet.flits : packet.flits + output.spare;
}

void PacketSim::request_output(std::uint32_t id, std::uint32_t output_id) {
  Output& output = net_.outputs[output_id];
  if (net_.ties) {
    requests_.emplace_back(output_id, id);
    return;
  }
  const std::uint32_t place = net_.inputs[id].place;
  const std::uint32_t distance = (place > output.last ? place : place + output.inputs) - output.last;
  if (output.request_pass != pass_) {
    output.request_pass = pass_;
    output.best = id;
    output.best_distance = static_cast<std::uint16_t>(distance);
    asked_.push_back(output_id);
  } else if (distance < output.best_distance) {
    losers_.push_back(output.best);
    output.best = id;
    output.best_distance = static_cast<std::uint16_t>(distance);
  } else {
    losers_.push_back(id);
  }
}

/// SA of an output with several lanes, or whose buffer another crossbar fills too and may have filled in this
/// pass: inputs in turn, as long as there are lanes and room. Requests are sorted by input.
void PacketSim::serve_lanes(std::uint32_t output_id, std::size_t begin, std::size_t end) {
  const std::uint32_t last = net_.outputs[output_id].last;
  const auto served_last = [&](const auto& request) { return net_.inputs[request.second].place <= last; };
  const auto first = requests_.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto stop = requests_.begin() + static_cast<std::ptrdiff_t>(end);
  std::rotate(first, std::find_if_not(first, stop, served_last), stop);
  for (auto request = first; request != stop; ++request) {
    if (can_take_head(request->second, output_id)) {
      grant(request->second, output_id);
    } else {
      losers_.push_back(request->second);
    }
  }
}

/// The packet is read as fast as the crossbar is, as far as it has come. Its room comes back so that the last
/// of it does when the last flit is read. At one flit a cycle every flit has come when its turn is there.
PacketSim::Crossing PacketSim::cross(const Input& input, const Packet& packet) const {
  const Cycle start = now() + net_.plane.delays.allocation;
  const std::int32_t speed = net_.speeds[input.central ? 1 : 0];
  if (speed == 1) return {.room_at = start, .end = now() + packet.flits};
  const Cycle least = (packet.flits + speed - 1) / speed;
  const Cycle stored = input.central ? packet.tail : packet.tail + net_.plane.delays.input;
  const Cycle last = std::max(start + least - 1, stored);
  return {.room_at = last - least + 1, .end = last + 1 - net_.plane.delays.allocation};
}

void PacketSim::grant(std::uint32_t input_id, std::uint32_t output_id) {
  Input& input = net_.inputs[input_id];
  Output& output = net_.outputs[output_id];
  const unsigned vl = input.request_vl;
  Queue& queue = net_.input_queues[input.first_queue + vl];
  const std::uint32_t id = queue.head;
  Packet& packet = packets_[id];
  queue.head = packet.next;
  if (queue.head == nothing) input.ready &= ~(1U << vl);
  pass_turn(input, vl);
  if (!net_.retry_at.empty()) net_.retry_at[input.first_queue + vl] = 0;
  output.last = input.place;
  net_.pools.take(output.pool, packet.next_vl, packet.flits);

  const Crossing crossing = cross(input, packet);
  const Cycle end = crossing.end;
  if (input.lanes == 1) {
    input.free_at = end;
    if (input.ready != 0) wake_input_at(input_id, end);
  } else {
    ++input.busy;
    wheel_.push(end, Event::of(EventKind::LaneInput, input_id));
    ask_next_cycle(input_id);
  }
  if (output.lanes == 1) {
    output.free_at = end;
    if (output.waited) wake_output_at(output_id, end);
  } else {
    ++output.busy;
    wheel_.push(end, Event::of(EventKind::LaneOutput, output_id));
  }

  const StageDelays& delays = net_.plane.delays;
  const Cycle start = now() + delays.allocation;
  const std::uint32_t data =
      credit_data(vl, {.flits = packet.flits, .step = net_.speeds[input.central ? 1 : 0]});
  return_room(input, crossing.room_at + (input.central ? 1 : delays.credit), data);
  if (output.central) {
    packet.place = output.target;
    packet.tail = end + delays.allocation - 1 + delays.crossbar;
    wheel_.push(start + delays.crossbar, Event::of(EventKind::Central, id, output.target));
  } else {
    wheel_.push(start + delays.crossbar + delays.output, Event::of(EventKind::Stored, id, packet.port));
  }
}

/// An input with several lanes may begin another packet in the next cycle.
void PacketSim::ask_next_cycle(std::uint32_t id) {
  const Input& input = net_.inputs[id];
  if (input.ready != 0 && input.busy < input.lanes) wake_input_at(id, now() + 1);
}

void PacketSim::wait_for(std::uint32_t output_id, const Input& input, const Packet& packet) {
  Output& output = net_.outputs[output_id];
  net_.waiters[output.waiters + input.place / 64] |= std::uint64_t{1} << (input.place % 64);
  output.waited = true;
  if (output.lanes == 1 && output.free_at > now()) {
    wake_output_at(output_id, output.free_at);
    return;
  }
  if (output.lanes > 1 && output.busy >= output.lanes) return;  // the end of a lane's packet wakes them
  output.room_wait = true;
  const std::int32_t missing =
      room_needed(output, input, packet) - net_.pools.room(output.pool, packet.next_vl, now());
  const Cycle at = net_.pools.when(output.pool, packet.next_vl, missing > 0 ? missing : 1, now());
  if (at != never) wake_output_at(output_id, at);
}

void PacketSim::wake_output_at(std::uint32_t id, Cycle at) {
  Output& output = net_.outputs[id];
  if (output.wake_at >= 0 && output.wake_at <= at) return;
  output.wake_at = at;
  wheel_.push(at, Event::of(EventKind::WakeOutput, id));
}

void PacketSim::wake_input_at(std::uint32_t id, Cycle at) {
  Input& input = net_.inputs[id];
  if (input.wake_at >= 0 && input.wake_at <= at) return;
  input.wake_at = at;
  wheel_.push(at, Event::of(EventKind::WakeInput, id));
}

void PacketSim::wake_waiters(std::uint32_t id) {
  Output& output = net_.outputs[id];
  output.room_wait = false;
  if (!output.waited) return;
  output.waited = false;
  for (std::uint32_t w = 0; w < (output.inputs + 63U) / 64; ++w) {
    std::uint64_t bits = net_.waiters[output.waiters + w];
    net_.waiters[output.waiters + w] = 0;
    for (; bits != 0; bits &= bits - 1) {
      ask(output.first_input + w * 64 + static_cast<std::uint32_t>(std::countr_zero(bits)));
    }
  }
}

}  // namespace heddle::packet
