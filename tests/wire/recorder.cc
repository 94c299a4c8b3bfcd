/// Records every MAD that a program exchanges with a simulated fabric, as bytes, between libumad2sim and the
/// server's sockets: preloaded *behind* libumad2sim (LD_PRELOAD=libumad2sim.so:libwire_recorder.so), whose
/// own calls of read() and write() then come through here. What is judged later is thus what was on the wire,
/// and not what Heddle or the simulator believes.
///
/// One file per process in the directory $HEDDLE_WIRE_DIR (none: nothing is recorded), appended to with one
/// system call per MAD, so that a program that is killed leaves whole records. A request is stamped before it
/// is sent, an answer after it has come, and before the program sees either: what the program does because of
/// an answer bears a later stamp. CLOCK_MONOTONIC is one clock for all programs of a machine. recording.h
/// reads it.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>

namespace {

constexpr std::size_t packet_size = 288;  // addresses, status, length, MAD
constexpr std::size_t control_size = 80;
constexpr std::size_t mad_offset = 32;
constexpr std::size_t class_offset = mad_offset + 1;
/// Of what is no SMP only the beginning is kept: addresses, header and what is asked for.
constexpr std::size_t kept_of_others = mad_offset + 64;
/// Above what programs get, so that their own numbers stay as they are; below what libumad2sim makes up.
constexpr int first_fd = 700;

/// Unsent: what was recorded as Sent at that time never left.
enum class Kind : std::uint8_t { None, Sent, Received, ControlSent, ControlReceived, Unsent };

struct Head {
  std::uint64_t time_ns;
  std::uint8_t kind;
  std::uint8_t unused;
  std::uint16_t size;
  std::uint32_t unused_too;
};

std::uint64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

/// -1: nothing is to be recorded, or it cannot be.
int open_recording() {
  const char* directory = std::getenv("HEDDLE_WIRE_DIR");
  if (directory == nullptr || *directory == '\0') return -1;
  char path[4096];
  std::snprintf(path, sizeof path, "%s/%d-%llu.wire", directory, ::getpid(),
                static_cast<unsigned long long>(now()));
  const int low = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (low < 0) return -1;
  const int high = ::fcntl(low, F_DUPFD_CLOEXEC, first_fd);
  if (high < 0) return low;
  static auto* const real_close = next<int(int)>("close");
  real_close(low);
  return high;
}

int recording() {
  static std::mutex mutex;
  static pid_t owner = 0;
  static int fd = -1;
  const std::lock_guard lock{mutex};
  if (owner != ::getpid()) {
    owner = ::getpid();
    fd = open_recording();
  }
  return fd;
}

/// The socket's name ends as libumad2sim ends those that it binds: ":ctl<PID>" or ":in<PID>".
bool is_of_shim(int fd, const char* what) {
  sockaddr_un address{};
  socklen_t size = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0 || address.sun_family != AF_UNIX)
    return false;
  char end[32];
  const int length = std::snprintf(end, sizeof end, "%s%d", what, ::getpid());
  constexpr std::size_t before = offsetof(sockaddr_un, sun_path) + 1;
  if (size <= before) return false;
  const std::size_t named = ::strnlen(address.sun_path + 1, size - before);
  return named >= static_cast<std::size_t>(length) &&
         std::memcmp(address.sun_path + 1 + named - length, end, static_cast<std::size_t>(length)) == 0;
}

Kind kind_of(int fd, std::size_t size, Kind packet, Kind control) {
  if (size == packet_size && is_of_shim(fd, ":in")) return packet;
  if (size == control_size && is_of_shim(fd, ":ctl")) return control;
  return Kind::None;
}

void record(Kind kind, std::uint64_t time, const void* data, std::size_t size) {
  const int fd = recording();
  if (fd < 0) return;
  const auto* const bytes = static_cast<const unsigned char*>(data);
  const bool is_packet = size == packet_size;
  const bool is_smp = is_packet && (bytes[class_offset] == 0x01 || bytes[class_offset] == 0x81);
  if (is_packet && !is_smp) size = kept_of_others;
  Head head{time, static_cast<std::uint8_t>(kind), 0, static_cast<std::uint16_t>(size), 0};
  iovec parts[2] = {{&head, sizeof head}, {const_cast<void*>(data), size}};
  const int saved = errno;
  [[maybe_unused]] const ssize_t written = ::writev(fd, parts, 2);
  errno = saved;
}

}  // namespace

extern "C" {

ssize_t write(int fd, const void* data, size_t size) {
  static auto* const real = next<ssize_t(int, const void*, size_t)>("write");
  const Kind kind = kind_of(fd, size, Kind::Sent, Kind::ControlSent);
  if (kind == Kind::None) return real(fd, data, size);
  const std::uint64_t before = now();
  record(kind, before, data, size);  // first: a program that is killed in between has sent nothing in secret
  const ssize_t written = real(fd, data, size);
  if (written != static_cast<ssize_t>(size) && kind == Kind::Sent) record(Kind::Unsent, before, data, size);
  return written;
}

ssize_t read(int fd, void* data, size_t size) {
  static auto* const real = next<ssize_t(int, void*, size_t)>("read");
  const ssize_t got = real(fd, data, size);
  if (got <= 0) return got;
  const Kind kind = kind_of(fd, static_cast<std::size_t>(got), Kind::Received, Kind::ControlReceived);
  if (kind != Kind::None) record(kind, now(), data, static_cast<std::size_t>(got));
  return got;
}

}  // extern "C"
