// Joins a multicast group of the subnet for the port on which it runs, as IPoIB does: Set(MCMemberRecord) to
// the subnet administration (IBA 15.2.5.17). Usage: join_group SM_LID MGID PORT_GID, GIDs in hexadecimal, 32
// digits. Prints the MLID.

#include <infiniband/umad.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::size_t mad_size = 256;

std::array<std::uint8_t, 16> gid_of(const std::string& text) {
  std::array<std::uint8_t, 16> gid{};
  for (std::size_t i = 0; i < gid.size() && 2 * i + 1 < text.size(); ++i) {
    gid[i] = static_cast<std::uint8_t>(std::stoul(text.substr(2 * i, 2), nullptr, 16));
  }
  return gid;
}

std::vector<std::uint8_t> request(const std::array<std::uint8_t, 16>& group,
                                  const std::array<std::uint8_t, 16>& port) {
  std::vector<std::uint8_t> mad(mad_size, 0);
  mad[0] = 1;      // base version
  mad[1] = 3;      // SubnAdm
  mad[2] = 2;      // class version
  mad[3] = 2;      // Set
  mad[15] = 0x42;  // transaction
  mad[17] = 0x38;  // MCMemberRecord
  // Component mask: MGID, PortGID, JoinState.
  mad[48 + 5] = 1;  // bit 16
  mad[48 + 7] = 3;
  std::memcpy(&mad[56], group.data(), group.size());
  std::memcpy(&mad[56 + 16], port.data(), port.size());
  mad[56 + 48] = 1;  // full member
  return mad;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 || umad_init() < 0) return 2;
  const int fd = umad_open_port(nullptr, 0);
  if (fd < 0) return 1;
  const int agent = umad_register(fd, 3, 2, 1, nullptr);
  if (agent < 0) return 1;
  std::vector<std::uint8_t> buffer(umad_size() + mad_size, 0);
  const auto mad = request(gid_of(argv[2]), gid_of(argv[3]));
  std::memcpy(umad_get_mad(buffer.data()), mad.data(), mad.size());
  umad_set_addr(buffer.data(), std::atoi(argv[1]), 1, 0, 0x80010000);
  if (umad_send(fd, agent, buffer.data(), mad_size, 2000, 3) < 0) return 1;
  int length = mad_size;
  if (umad_recv(fd, buffer.data(), &length, 10000) < 0 || umad_status(buffer.data()) != 0) return 1;
  const auto* answer = static_cast<const std::uint8_t*>(umad_get_mad(buffer.data()));
  if (answer[4] != 0 || answer[5] != 0) {
    std::fprintf(stderr, "status 0x%02x%02x\n", answer[4], answer[5]);
    return 1;
  }
  std::printf("0x%02x%02x\n", answer[56 + 36], answer[56 + 37]);
  return 0;
}
