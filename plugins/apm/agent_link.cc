#include "agent_link.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace heddle::apm {
namespace {

constexpr int connect_again_ms = 2000;
/// While connections wait for their other ends.
constexpr int work_again_ms = 20;

/// So that the program's handlers run in its own threads.
class WithoutSignals {
 public:
  WithoutSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~WithoutSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;

 private:
  sigset_t before_{};
};

/// Who listens at the socket is who may: the owner of the directory, and nobody else can put another one
/// there.
bool is_trusted(int agent, const std::string& socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(agent, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  if (peer.uid == 0 || peer.uid == geteuid()) return true;
  struct stat directory {};
  const std::string path = socket.substr(0, socket.rfind('/') + 1);
  if (stat(path.c_str(), &directory) != 0) return false;
  return directory.st_uid == peer.uid && (directory.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

PortName name_of(const local::Port& port) {
  return {std::string(port.device, strnlen(port.device, sizeof port.device)),
          static_cast<std::uint8_t>(port.port)};
}

}  // namespace

AgentLink::AgentLink(Connections& connections, std::string socket)
    : connections_{connections},
      socket_{std::move(socket)},
      wake_fd_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
  const WithoutSignals held;
  thread_ = std::thread{[this] { run(); }};
}

AgentLink::~AgentLink() {
  ends_ = true;
  wake();
  thread_.join();
  close(wake_fd_);
}

void AgentLink::wake() const {
  const std::uint64_t one = 1;
  (void)!write(wake_fd_, &one, sizeof one);
}

void AgentLink::abandon() {
  if (const int agent = agent_fd_.exchange(-1); agent >= 0) close(agent);
  close(wake_fd_);
}

void AgentLink::run() {
  while (!ends_) {
    agent_fd_ = connect_to_agent();
    if (agent_fd_ >= 0) {
      told_.clear();
      serve();
      if (const int agent = agent_fd_.exchange(-1); agent >= 0) close(agent);
    }
    if (ends_) return;
    pollfd end{wake_fd_, POLLIN, 0};
    timespec pause{connect_again_ms / 1000, 0};
    // Without an agent a call of the program does not hurry anything.
    if (!ends_) ppoll(nullptr, 0, &pause, nullptr);
    if (poll(&end, 1, 0) > 0) {
      std::uint64_t count = 0;
      (void)!read(wake_fd_, &count, sizeof count);
    }
  }
}

int AgentLink::connect_to_agent() const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_.size() >= sizeof address.sun_path) return -1;
  std::strncpy(address.sun_path, socket_.c_str(), sizeof address.sun_path - 1);
  const int agent = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (agent < 0) return -1;
  if (connect(agent, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
      is_trusted(agent, socket_)) {
    return agent;
  }
  close(agent);
  return -1;
}

void AgentLink::serve() {
  bool tells_all = true;
  for (;;) {
    const bool some_wait = connections_.work(Connections::Clock::now());
    if (!tell(tells_all)) return;
    std::array<pollfd, 2> ready{{{agent_fd_, POLLIN, 0}, {wake_fd_, POLLIN, 0}}};
    if (poll(ready.data(), ready.size(), some_wait ? work_again_ms : -1) < 0 && errno != EINTR) return;
    if (ends_) return;
    std::uint64_t count = 0;
    (void)!read(wake_fd_, &count, sizeof count);
    tells_all = false;
    if (!take_commands(tells_all)) return;
  }
}

/// False: the agent is gone, or is another one than ours.
bool AgentLink::take_commands(bool& tells_all) {
  for (;;) {
    local::Command command;
    const ssize_t got = recv(agent_fd_, &command, sizeof command, 0);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got != sizeof command || command.form != local::number) return false;
    const PortName port = name_of(command.port);
    const auto now = Connections::Clock::now();
    if (command.kind == local::Command::Move) connections_.move(port, command.plane & 1U, command.order, now);
    if (command.kind == local::Command::Arm) connections_.arm(port, now);
    tells_all = true;
  }
}

bool AgentLink::tell(bool all) {
  for (const PortName& port : connections_.ports()) {
    const local::Report report = connections_.report(port);
    const auto told = told_.find(port);
    if (!all && told != told_.end() && std::memcmp(&told->second, &report, sizeof report) == 0) continue;
    if (send(agent_fd_, &report, sizeof report, MSG_NOSIGNAL) != sizeof report) return errno == EAGAIN;
    told_[port] = report;
  }
  return true;
}

}  // namespace heddle::apm
