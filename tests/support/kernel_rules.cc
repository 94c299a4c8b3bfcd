/// Preloaded before ibsim's shim, it does to libibumad what the shim leaves out and a kernel does:
///  - a port has one agent for each management class and method that is to be handed requests
///  (ib_register_mad_agent:
///    EINVAL for the second one), and they are free again when their process ends;
///  - while there is a file HOST.away its adapter is gone: it cannot be opened, and whatever was open then is
///  always ready
///    and answers EIO (agents_dead of ib_umad), for good;
///  - a program does not see that it talks to the shim;
///  - it writes down what is registered and what is sent, a line each, so that a test can say what never
///  happened.
///
/// KERNEL_RULES: a directory; SIM_HOST, the shim's own variable, names the host. One port a host.

#include <dlfcn.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int methods = 128;
constexpr int bits = 8 * sizeof(long);

std::mutex guard;
std::map<std::pair<int, int>, std::vector<int>>
    locks_of;            // by port and agent: open files that hold its methods
bool shim_works = true;  // it asks for the names of its own sockets
std::set<int> dead;      // ports that were open when the adapter went away

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

std::string host() {
  const char* name = std::getenv("SIM_HOST");
  std::string host = name == nullptr ? "host" : name;
  std::replace(host.begin(), host.end(), ' ', '-');
  return host;
}

std::string place(const std::string& name) {
  const char* directory = std::getenv("KERNEL_RULES");
  return (directory == nullptr ? "." : std::string(directory)) + "/" + name;
}

void say(const char* what, int mgmt_class, int detail, int attribute) {
  std::array<char, 128> line{};
  const int length = std::snprintf(line.data(), line.size(), "%d %s %02x %02x %04x\n", getpid(), what,
                                   static_cast<unsigned>(mgmt_class), static_cast<unsigned>(detail),
                                   static_cast<unsigned>(attribute));
  const int file = ::open(place(host() + ".log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  (void)!::write(file, line.data(), static_cast<std::size_t>(length));
  ::close(file);
}

bool is_dead(int portid) {
  const bool away = ::access(place(host() + ".away").c_str(), F_OK) == 0;
  const std::lock_guard lock{guard};
  if (away) dead.insert(portid);
  return dead.contains(portid);
}

int io_error() {
  errno = EIO;
  return -EIO;
}

void drop(std::vector<int>& locks) {
  for (const int lock : locks) ::close(lock);
  locks.clear();
}

}  // namespace

extern "C" int umad_open_port(const char* device, int port) {
  if (::access(place(host() + ".away").c_str(), F_OK) == 0) {
    errno = ENODEV;
    return -ENODEV;
  }
  shim_works = true;
  const int opened = real<decltype(umad_open_port)>("umad_open_port")(device, port);
  shim_works = false;
  say("opens", 0, opened, 0);
  const std::lock_guard lock{guard};
  dead.erase(opened);
  return opened;
}

extern "C" int umad_poll(int portid, int timeout_ms) {
  if (is_dead(portid)) {
    say("polls", 0, 0, 0);
    return 0;
  }
  return real<decltype(umad_poll)>("umad_poll")(portid, timeout_ms);
}

extern "C" int umad_recv(int portid, void* umad, int* length, int timeout_ms) {
  if (is_dead(portid)) return io_error();
  return real<decltype(umad_recv)>("umad_recv")(portid, umad, length, timeout_ms);
}

extern "C" int umad_register(int portid, int mgmt_class, int version, std::uint8_t rmpp, long* mask) {
  std::vector<int> locks;
  for (int method = 0; mask != nullptr && method < methods; ++method) {
    if ((static_cast<unsigned long>(mask[method / bits]) >> (method % bits) & 1UL) == 0) continue;
    std::array<char, 64> name{};
    std::snprintf(name.data(), name.size(), "-%02x-%02x.owner", static_cast<unsigned>(mgmt_class),
                  static_cast<unsigned>(method));
    const int lock = ::open(place(host() + name.data()).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock < 0 || ::flock(lock, LOCK_EX | LOCK_NB) != 0) {
      say("refused", mgmt_class, method, 0);
      if (lock >= 0) ::close(lock);
      drop(locks);
      errno = EINVAL;
      return -EINVAL;
    }
    say("owns", mgmt_class, method, 0);
    locks.push_back(lock);
  }
  const int agent = real<decltype(umad_register)>("umad_register")(portid, mgmt_class, version, rmpp, mask);
  const std::lock_guard lock{guard};
  if (agent >= 0) {
    std::vector<int>& held = locks_of[{portid, agent}];
    drop(held);  // the shim gives a number again
    held = locks;
  }
  return agent;
}

/// The shim is not told: it forgets the whole class with one of its agents, and falls over the next answer.
extern "C" int umad_unregister(int portid, int agent) {
  const std::lock_guard lock{guard};
  const auto held = locks_of.find({portid, agent});
  if (held == locks_of.end()) return 0;
  if (!held->second.empty()) say("gives", agent, 0, 0);
  drop(held->second);
  locks_of.erase(held);
  return 0;
}

/// Likewise of a port that answers may still come to.
extern "C" int umad_close_port(int portid) {
  {
    // A kernel takes the agents of a file with it.
    const std::lock_guard lock{guard};
    for (auto held = locks_of.lower_bound({portid, 0});
         held != locks_of.end() && held->first.first == portid;) {
      drop(held->second);
      held = locks_of.erase(held);
    }
  }
  return is_dead(portid) ? 0 : real<decltype(umad_close_port)>("umad_close_port")(portid);
}

extern "C" int getsockname(int fd, sockaddr* address, socklen_t* size) {
  const int done = real<decltype(getsockname)>("getsockname")(fd, address, size);
  if (done != 0 || shim_works || address->sa_family != AF_UNIX) return done;
  const auto* name = reinterpret_cast<const sockaddr_un*>(address);
  if (name->sun_path[0] != '\0' || std::strstr(name->sun_path + 1, ":in") == nullptr) return done;
  errno = ENOTSOCK;
  return -1;
}

extern "C" int umad_send(int portid, int agent, void* umad, int length, int timeout_ms, int retries) {
  const auto* mad = static_cast<const std::uint8_t*>(umad_get_mad(umad));
  if (is_dead(portid)) return io_error();
  // Class, method, attribute (IBA 13.4.3).
  say("sends", mad[1], mad[3], mad[16] << 8 | mad[17]);
  return real<decltype(umad_send)>("umad_send")(portid, agent, umad, length, timeout_ms, retries);
}
