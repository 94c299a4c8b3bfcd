#include "simserve/kernel_messages.h"

#include <algorithm>

#include "mad/header.h"

namespace heddle::simserve {
namespace {

constexpr std::size_t hop_pointer_at = 6;
constexpr std::size_t hop_count_at = 7;

template <class Payload>
KernelMessage message_of(heddle_vhca_type type, const Payload& payload,
                         Payload KernelMessage::Payload::*member) {
  KernelMessage message;
  message.header.type = type;
  message.header.size = sizeof message.header + sizeof payload;
  message.payload.*member = payload;
  return message;
}

std::size_t payload_size(std::uint32_t type) {
  switch (type) {
    case HEDDLE_VHCA_READY:
      return sizeof(heddle_vhca_ready);
    case HEDDLE_VHCA_PACKET:
      return sizeof(heddle_vhca_packet);
    case HEDDLE_VHCA_LOCAL:
      return sizeof(heddle_vhca_local);
    case HEDDLE_VHCA_MODIFY_PORT:
      return sizeof(heddle_vhca_modify_port);
    case HEDDLE_VHCA_DESCRIPTION:
      return sizeof(heddle_vhca_description);
    default:
      return 0;
  }
}

bool directed(const mad::Bytes& mad) {
  return mad[1] == static_cast<std::uint8_t>(mad::MgmtClass::SubnDirected);
}

}  // namespace

KernelMessage create_message(const heddle_vhca_create& payload) {
  return message_of(HEDDLE_VHCA_CREATE, payload, &KernelMessage::Payload::create);
}
KernelMessage port_message(const heddle_vhca_port& payload) {
  return message_of(HEDDLE_VHCA_PORT, payload, &KernelMessage::Payload::port);
}
KernelMessage ready_message() {
  KernelMessage message;
  message.header = {HEDDLE_VHCA_READY, sizeof message.header};
  return message;
}
KernelMessage packet_message(const heddle_vhca_packet& payload) {
  return message_of(HEDDLE_VHCA_PACKET, payload, &KernelMessage::Payload::packet);
}
KernelMessage local_message(const heddle_vhca_local& payload) {
  return message_of(HEDDLE_VHCA_LOCAL, payload, &KernelMessage::Payload::local);
}

bool is_whole(const KernelMessage& message, std::size_t size) {
  const std::size_t payload = payload_size(message.header.type);
  return payload != 0 && size == sizeof message.header + payload && message.header.size == size;
}

mad::Packet from_kernel(const heddle_vhca_packet& packet) {
  mad::Packet result;
  result.address.dlid = Lid{packet.dlid};
  result.address.slid = Lid{packet.slid};
  result.address.dqp = packet.remote_qp;
  result.address.sqp = packet.qp;
  result.address.sl = Sl{packet.sl};
  result.address.pkey_index = packet.pkey_index;
  std::copy(std::begin(packet.mad), std::end(packet.mad), result.mad.begin());
  const bool response = mad::is_response(static_cast<mad::Method>(result.mad[3]));
  if (directed(result.mad)) {
    result.address.slid = permissive_lid;
    if (!response) result.mad[hop_pointer_at] = 0;
  }
  return result;
}

heddle_vhca_packet to_kernel(const mad::Packet& packet, std::uint32_t port) {
  heddle_vhca_packet result{};
  result.port = port;
  result.qp = packet.address.dqp == mad::smi_qp ? 0 : 1;
  result.remote_qp = packet.address.sqp;
  result.slid = packet.address.slid.raw();
  result.dlid = packet.address.dlid.raw();
  result.pkey_index = packet.address.pkey_index;
  result.sl = packet.address.sl.raw();
  std::copy(packet.mad.begin(), packet.mad.end(), std::begin(result.mad));
  if (directed(packet.mad)) {
    const std::uint8_t hops = packet.mad[hop_count_at];
    const bool response = mad::is_response(static_cast<mad::Method>(packet.mad[3]));
    result.mad[hop_pointer_at] = !response ? hops : hops > 0 ? 1 : 0;
  }
  return result;
}

}  // namespace heddle::simserve
