#include "simserve/wire.h"

#include <arpa/inet.h>
#include <endian.h>

namespace heddle::simserve {

mad::Packet from_wire(const PacketMessage& message) {
  mad::Packet packet;
  packet.address.dlid = Lid{ntohs(static_cast<std::uint16_t>(message.dlid))};
  packet.address.slid = Lid{ntohs(static_cast<std::uint16_t>(message.slid))};
  packet.address.dqp = ntohl(message.dqp);
  packet.address.sqp = ntohl(message.sqp);
  packet.mad = message.mad;
  return packet;
}

PacketMessage to_wire(const mad::Packet& packet) {
  PacketMessage message;
  message.dlid = htons(packet.address.dlid.raw());
  message.slid = htons(packet.address.slid.raw());
  message.dqp = htonl(packet.address.dqp);
  message.sqp = htonl(packet.address.sqp);
  message.length = htobe64(mad::mad_size);
  message.mad = packet.mad;
  return message;
}

PacketMessage unanswered(const PacketMessage& request) {
  PacketMessage message = request;
  message.status = htonl(timed_out);
  return message;
}

}  // namespace heddle::simserve
