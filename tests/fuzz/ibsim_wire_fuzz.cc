// The wire of ibsim's preloaded library, and the messages of the kernel module: whatever comes is taken for a
// packet or refused, and a packet goes back as it came.

#include <algorithm>
#include <cstring>

#include "fuzz/fuzz_target.h"
#include "simserve/kernel_messages.h"
#include "simserve/wire.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
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
  if (simserve::is_whole(kernel, length)) {
    const mad::Packet arrived = simserve::from_kernel(kernel.payload.packet);
    (void)simserve::to_kernel(arrived, 1);
  }
  return 0;
}
