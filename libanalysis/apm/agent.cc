#include "apm/agent.h"

#include <algorithm>

namespace heddle::apm {

std::optional<mad::Packet> Agent::answer(const mad::Packet& request, Lid sm_lid) {
  if (!is_ours(request.mad)) return std::nullopt;
  const auto envelope = read_envelope(request.mad);
  if (!envelope || envelope->method == mad::Method::GetResp) {
    ++statistics_.malformed;
    return std::nullopt;
  }
  if (!is_for_us(request, *envelope, sm_lid)) return std::nullopt;
  std::uint16_t status = status::stale;
  std::uint64_t sequence = last_sequence_;
  if (envelope->sequence > last_sequence_) {
    status = carry_out(request, *envelope);
    sequence = envelope->sequence;
  } else {
    ++statistics_.stale;
  }
  mad::Packet answer = answer_to(request, status);
  set_sequence(sequence, answer.mad);
  encode(standing(), answer.mad);
  seal(options_.key, answer.mad);
  ++statistics_.answered;
  return answer;
}

bool Agent::is_for_us(const mad::Packet& request, const Envelope& envelope, Lid sm_lid) {
  const Lid from = request.address.slid;
  const auto& also = options_.obeys;
  const bool obeyed =
      (from == sm_lid && from.raw() != 0) || std::find(also.begin(), also.end(), from) != also.end();
  if (!obeyed || envelope.port != options_.port) {
    ++statistics_.strangers;
    return false;
  }
  if (is_sealed(options_.key, request.mad)) return true;
  ++statistics_.unsealed;
  return false;
}

/// The status of the answer. Questions change nothing, and need not be kept.
std::uint16_t Agent::carry_out(const mad::Packet& request, const Envelope& envelope) {
  if (envelope.attribute == Attribute::Connections) {
    last_sequence_ = envelope.sequence;
    return mad::status::ok;
  }
  const auto order = read_move(request.mad);
  if (envelope.attribute == Attribute::Move && !order) return mad::status::bad_field;
  if (!host_.keep(envelope.sequence)) return status::not_kept;
  last_sequence_ = envelope.sequence;
  ++statistics_.obeyed;
  if (envelope.attribute == Attribute::Arm) {
    host_.arm();
  } else {
    order_ = *order;
    host_.move(order->plane);
  }
  return mad::status::ok;
}

Standing Agent::standing() {
  Standing now = host_.standing();
  now.incarnation = options_.incarnation;
  if (order_) {
    now.plane = order_->plane;
    now.order = order_->number;
    now.progress = progress(now);
  }
  return now;
}

Progress Agent::progress(const Standing& now) const {
  const std::uint32_t there = now.in_plane[now.plane];
  if (there == now.connections) return Progress::Moved;
  if (now.moving > 0) return Progress::Moving;
  return there == 0 ? Progress::Failed : Progress::Partial;
}

}  // namespace heddle::apm
