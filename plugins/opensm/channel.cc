#include "channel.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <utility>

namespace heddle::plugin {
namespace {

/// A daemon that reads no more is given up before the queue's bound means nothing.
constexpr std::size_t most_outgoing = std::size_t{1} << 20U;
constexpr std::size_t longest_command = 4096;

void wake(int fd) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t done = ::write(fd, &one, sizeof one);
}

}  // namespace

Channel::Channel(std::string socket, EventQueue& queue, Callbacks callbacks)
    : socket_{std::move(socket)}, queue_{queue}, callbacks_{std::move(callbacks)} {
  wake_fd_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  queue_.on_push([fd = wake_fd_] { wake(fd); });
  // Signals are for OpenSM's own threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(thread_.native_handle(), "heddle-channel");
}

Channel::~Channel() {
  queue_.on_push({});
  stop_ = true;
  wake(wake_fd_);
  if (thread_.joinable()) thread_.join();
  disconnect();
  ::close(wake_fd_);
}

void Channel::run() {
  while (!stop_) {
    try {
      work();
    } catch (...) {
      // Out of memory: what was on its way is lost, and the daemon sees a new connection.
      disconnect();
    }
  }
}

void Channel::work() {
  const auto next = callbacks_.tick();
  const auto now = Backoff::Clock::now();
  if (fd_ < 0 && (now < retry_at_ || !connect())) {
    if (now >= retry_at_) retry_at_ = now + backoff_.failed();
    wait(std::min(next, std::chrono::ceil<std::chrono::milliseconds>(retry_at_ - now)));
    return;
  }
  fill();
  send();
  if (fd_ < 0) return;
  wait(std::min(next, callbacks_.tick()));
  receive();
}

bool Channel::connect() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_.empty() || socket_.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  socklen_t length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  if (socket_.front() == '@') {
    address.sun_path[0] = '\0';
  } else {
    ++length;
  }
  fd_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd_ < 0) return false;
  if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), length) != 0) {
    ::close(std::exchange(fd_, -1));
    return false;
  }
  // What happened while nobody listened is in the greeting.
  queue_.forget();
  outgoing_ = callbacks_.greeting();
  incoming_.clear();
  backoff_.connected(Backoff::Clock::now());
  return true;
}

void Channel::disconnect() {
  if (fd_ < 0) return;
  ::close(fd_);
  fd_ = -1;
  const auto now = Backoff::Clock::now();
  retry_at_ = now + backoff_.lost(now);
}

void Channel::wait(std::chrono::milliseconds longest) {
  std::array<pollfd, 2> fds{{{wake_fd_, POLLIN, 0}, {fd_, POLLIN, 0}}};
  if (!outgoing_.empty()) fds[1].events |= POLLOUT;
  ::poll(fds.data(), fd_ >= 0 ? 2 : 1, static_cast<int>(longest.count()));
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t done = ::read(wake_fd_, &count, sizeof count);
}

/// Lines stay in the bounded queue until there is somebody to send them to.
void Channel::fill() {
  if (outgoing_.size() > most_outgoing) return;
  for (const std::string& line : queue_.take()) outgoing_ += line;
}

void Channel::send() {
  if (fd_ < 0 || outgoing_.empty()) return;
  const ssize_t done = ::send(fd_, outgoing_.data(), outgoing_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (done > 0) outgoing_.erase(0, static_cast<std::size_t>(done));
  if (done < 0 && errno != EAGAIN && errno != EINTR) disconnect();
}

void Channel::receive() {
  if (fd_ < 0) return;
  std::array<char, longest_command> buffer{};
  const ssize_t got = ::recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
    disconnect();
    return;
  }
  if (got < 0) return;
  incoming_.append(buffer.data(), static_cast<std::size_t>(got));
  std::size_t begin = 0;
  for (std::size_t end = incoming_.find('\n'); end != std::string::npos; end = incoming_.find('\n', begin)) {
    const Command command = parse_command(std::string_view(incoming_).substr(begin, end - begin));
    begin = end + 1;
    if (command != Command::None) callbacks_.command(command);
  }
  incoming_.erase(0, begin);
  if (incoming_.size() > longest_command) disconnect();
}

}  // namespace heddle::plugin
