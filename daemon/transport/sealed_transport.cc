#include "transport/sealed_transport.h"

#include "apm/message.h"

namespace heddle::transport {

void SealedTransport::receive_with(Receiver receiver) {
  behind_.receive_with([this, receiver = std::move(receiver)](const mad::Packet& packet, Instant at) {
    if (apm::is_ours(packet.mad) && !sealer_.admit_answer(packet.mad)) {
      ++refused_;
      return;
    }
    receiver(packet, at);
  });
}

Result<void> SealedTransport::send(const mad::Packet& packet) {
  if (!apm::is_ours(packet.mad)) return behind_.send(packet);
  mad::Packet sealed = packet;
  sealer_.seal_request(time_of_day_(), sealed.mad);
  return behind_.send(sealed);
}

}  // namespace heddle::transport
