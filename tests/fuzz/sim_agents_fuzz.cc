// Any MADs into the simulated fabric: its subnet management and performance agents, its forwarding. The
// fabric goes on, and a well-formed question is answered afterwards, if it has the M_Key that may have been
// set (IBA 14.2.4.1).
//
// The input: records of 1 + 256 bytes, a byte of address bits and a MAD; what is cut short is filled with
// zeros.

#include <algorithm>

#include "fuzz/fuzz_target.h"
#include "sim/bring_up.h"
#include "support/sim_world.h"
#include "transport/requests.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  static const auto fabric = *assign_lids(**generate("tree:k=2,n=2"));
  constexpr std::size_t record = 1 + mad::mad_size;
  constexpr std::size_t most = 64;
  test::SimWorld world{fabric};
  sim::bring_up(world.fabric);
  std::size_t answers = 0;
  world.receive_with([&](const mad::Packet&, Instant) { ++answers; });
  for (std::size_t at = 0, n = 0; at < size && n < most; at += record, ++n) {
    mad::Packet packet;
    const std::uint8_t address = data[at];
    if ((address & 1U) != 0) packet.address.dlid = Lid{static_cast<std::uint16_t>(address >> 1U)};
    if ((address & 0x80U) != 0) packet.address.dqp = mad::gsi_qp;
    const std::size_t length = std::min(size - at - 1, mad::mad_size);
    std::copy_n(data + at + 1, length, packet.mad.begin());
    (void)world.send(packet);
    (void)world.run([] { return false; }, std::chrono::milliseconds{1});
  }
  (void)world.run([] { return false; }, std::chrono::seconds{10});
  answers = 0;
  (void)world.send(transport::directed_smp(
      {.attribute = mad::SmAttr::NodeInfo, .m_key = world.fabric.port_info(world.port()).m_key}, {}));
  (void)world.run([&] { return answers > 0; }, std::chrono::seconds{10});
  fuzz::require(answers > 0, "the local node answers after all of it");
  return 0;
}
