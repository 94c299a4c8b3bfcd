/// Preloaded behind libumad2sim, it loses chosen questions of a program to agents for good, or their answers:
/// of a question all copies that the server sends again are lost too, since it is led to a port that is not
/// there. The file LOST_QUESTIONS says which, "question|answer ATTRIBUTE MODIFIER PATH TIMES": the directed
/// route as "1,5", or an expression for several, and how many in a row (numbers are hexadecimal). Sets of
/// forwarding tables are such questions, no others. The file is read and taken away with the next question;
/// each that was lost is a line, its route, of the file of this name with ".lost". While there is a file of
/// this name with ".traps", traps to the program are lost.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <regex>
#include <string>

namespace {

constexpr std::size_t packet_size = 288;  // addresses, status, length, MAD
constexpr std::size_t status_offset = 16;
constexpr std::size_t mad_offset = 32;
constexpr std::uint8_t directed = 0x81;
constexpr std::uint8_t get = 1;
constexpr std::uint8_t set = 2;
constexpr std::uint8_t trap = 5;
constexpr std::uint8_t trap_repress = 7;
constexpr std::uint8_t answer = 0x81;
constexpr unsigned forwarding_table = 0x19;
constexpr unsigned char nowhere = 254;

struct Order {
  std::string of;
  unsigned attribute = 0;
  unsigned modifier = 0;
  std::string path;
  unsigned times = 0;
};

unsigned number(const unsigned char* bytes, std::size_t size) {
  unsigned value = 0;
  for (std::size_t i = 0; i < size; ++i) value = value << 8U | bytes[i];
  return value;
}

/// The initial path (IBA 14.2.1.2).
std::string path_of(const unsigned char* mad) {
  std::string path;
  for (unsigned hop = 1; hop <= mad[7] && hop < 64; ++hop)
    path += (hop == 1 ? "" : ",") + std::to_string(mad[128 + hop]);
  return path;
}

bool is_to_be_lost(const unsigned char* mad, const std::string& what) {
  static std::mutex mutex;
  static Order order;
  const std::lock_guard lock{mutex};
  const char* name = std::getenv("LOST_QUESTIONS");
  const unsigned attribute = number(mad + 16, 2);
  const bool asks = mad[3] == get || (mad[3] == set && attribute == forwarding_table);
  if (name == nullptr || mad[1] != directed || !(what == "answer" ? mad[3] == answer : asks)) return false;
  if (std::ifstream file{name};
      file >> order.of >> std::hex >> order.attribute >> order.modifier >> order.path >> order.times)
    ::unlink(name);
  if (order.times == 0 || order.of != what || attribute != order.attribute ||
      number(mad + 20, 4) != order.modifier || !std::regex_match(path_of(mad), std::regex{order.path}))
    return false;
  --order.times;
  std::ofstream{std::string{name} + ".lost", std::ios::app} << path_of(mad) << '\n';
  return true;
}

bool are_traps_lost() {
  const char* name = std::getenv("LOST_QUESTIONS");
  return name != nullptr && ::access((std::string{name} + ".traps").c_str(), F_OK) == 0;
}

}  // namespace

extern "C" ssize_t write(int fd, const void* data, size_t size) {
  static auto* const real =
      reinterpret_cast<ssize_t (*)(int, const void*, size_t)>(::dlsym(RTLD_NEXT, "write"));
  unsigned char changed[packet_size];
  if (size != packet_size || !is_to_be_lost(static_cast<const unsigned char*>(data) + mad_offset, "question"))
    return real(fd, data, size);
  std::memcpy(changed, data, size);
  changed[mad_offset + 128 + 1] = nowhere;
  return real(fd, changed, size);
}

/// The program is told what the kernel tells when time is up: its own request, with that status.
extern "C" ssize_t read(int fd, void* data, size_t size) {
  static auto* const real = reinterpret_cast<ssize_t (*)(int, void*, size_t)>(::dlsym(RTLD_NEXT, "read"));
  const ssize_t got = real(fd, data, size);
  auto* const bytes = static_cast<unsigned char*>(data);
  if (size != packet_size || got != packet_size) return got;
  if (bytes[mad_offset + 3] == trap && are_traps_lost())
    bytes[mad_offset + 3] = trap_repress;  // of no use to it
  if (!is_to_be_lost(bytes + mad_offset, "answer")) return got;
  const std::uint32_t status = htonl(ETIMEDOUT);
  std::memcpy(bytes + status_offset, &status, sizeof(status));
  bytes[mad_offset + 3] = set;
  return got;
}
