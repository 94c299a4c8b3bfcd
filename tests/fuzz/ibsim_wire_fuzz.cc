// The wire of ibsim's preloaded library, and the messages of the kernel module: whatever comes is taken for a
// packet or refused, and a packet goes back as it came.

#include <algorithm>
#include <cstring>

#include "fuzz/fuzz_target.h"
#include "simserve/kernel_messages.h"
#include "simserve/wire.h"

namespace {

using namespace heddle;

/// Payloads that are all bytes of one kind, as the fabric writes messages for the kernel.
void written(std::uint8_t byte) {
  const auto payload = [byte](auto&& filled) {
    std::memset(static_cast<void*>(&filled), byte, sizeof filled);
    return filled;
  };
  for (const simserve::KernelMessage& message :
       {simserve::packet_message(payload(heddle_vhca_packet{})),
        simserve::local_message(payload(heddle_vhca_local{})),
        simserve::create_message(payload(heddle_vhca_create{})),
        simserve::port_message(payload(heddle_vhca_port{})), simserve::ready_message()})
    fuzz::require(message.bytes().size() == message.header.size, "a message is as long as it says");
}

void arrived(const heddle_vhca_packet& packet) {
  const heddle_vhca_packet once = simserve::to_kernel(simserve::from_kernel(packet), 1);
  const heddle_vhca_packet twice = simserve::to_kernel(simserve::from_kernel(once), 1);
  fuzz::require(std::ranges::equal(once.mad, twice.mad),
                "but for the hop pointer a MAD goes back as it came");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  simserve::PacketMessage message;
  std::memcpy(static_cast<void*>(&message), data, std::min(size, sizeof(message)));
  const mad::Packet packet = simserve::from_wire(message);
  const simserve::PacketMessage back = simserve::to_wire(packet);
  fuzz::require(back.mad == message.mad, "a MAD goes back as it came");
  fuzz::require(simserve::to_wire(simserve::from_wire(back)).dlid == back.dlid, "so does its address");
  (void)simserve::unanswered(message);
  simserve::KernelMessage kernel;
  const std::size_t length = std::min(size, sizeof(kernel));
  std::memcpy(static_cast<void*>(&kernel), data, length);
  if (simserve::is_whole(kernel, length) && kernel.header.type == HEDDLE_VHCA_PACKET)
    arrived(kernel.payload.packet);
  if (size > 0) written(data[0]);
  return 0;
}
