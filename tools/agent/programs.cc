#include "agent/programs.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "files/durable_file.h"

namespace heddle::agent {
namespace {

using apm::local::Command;
using apm::local::Report;

constexpr mode_t for_everybody = 0666;
constexpr int backlog = 128;
constexpr rlim_t other_files = 64;  ///< ports, keys, the kernel's list of queue pairs

/// How many programs may be connected: where no file can be opened any more, nobody is sent away either.
std::size_t places() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return Programs::most;
  const rlim_t room = files.rlim_cur > other_files ? files.rlim_cur - other_files : 0;
  return static_cast<std::size_t>(std::min<rlim_t>(Programs::most, room));
}

PortName name_of(const apm::local::Port& port) {
  return {std::string(port.device, strnlen(port.device, sizeof port.device)), port.port};
}

/// A program may say anything: figures that contradict each other count for nothing that could move.
void add(const Report& report, bool has_taken_order, apm::Standing& sum) {
  sum.connections += report.connections;
  const std::uint32_t first = std::min(report.in_plane[0], report.connections);
  sum.in_plane[0] += first;
  sum.in_plane[1] += std::min(report.in_plane[1], report.connections - first);
  sum.armed += std::min(report.armed, report.connections);
  sum.moving += has_taken_order ? std::min(report.moving, report.connections) : report.connections;
  sum.failed += report.failed;
  sum.unable += report.unable;
  sum.others += report.others;
  if (sum.trouble.empty()) sum.trouble.assign(report.trouble, strnlen(report.trouble, sizeof report.trouble));
}

}  // namespace

Programs::Programs(int listener, std::string socket)
    : listener_{listener}, socket_{std::move(socket)}, places_{places()} {}

Result<std::unique_ptr<Programs>> Programs::listen(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return fail(ErrorCode::Invalid, path + ": too long for the name of a socket");
  }
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  const int listener = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0) return io_error("make a socket for", path);
  std::unique_ptr<Programs> programs{new Programs(listener, path)};
  ::unlink(path.c_str());
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::chmod(path.c_str(), for_everybody) != 0 || ::listen(listener, backlog) != 0) {
    return io_error("listen at", path);
  }
  return programs;
}

Programs::~Programs() { ::unlink(socket_.c_str()); }

std::vector<int> Programs::descriptors() const {
  std::vector<int> all{listener_.fd()};
  for (const auto& [fd, program] : programs_) all.push_back(fd);
  return all;
}

void Programs::on_ready(int descriptor) {
  if (descriptor == listener_.fd()) return accept_one();
  const auto found = programs_.find(descriptor);
  if (found == programs_.end()) return;
  Said said = Said::Something;
  for (std::size_t i = 0; i < most_ports && said == Said::Something; ++i) said = read_report(found->second);
  if (said == Said::Goodbye) programs_.erase(found);
}

void Programs::accept_one() {
  const int fd = ::accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return;
  ucred peer{};
  socklen_t size = sizeof peer;
  const bool known = ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  const auto of_user =
      std::ranges::count_if(programs_, [&](const auto& program) { return program.second.user == peer.uid; });
  const auto share = static_cast<std::size_t>(of_user);
  if (!known || programs_.size() >= places_ || (peer.uid != 0 && share >= places_ / users)) {
    ::close(fd);
    return;
  }
  Program& program = programs_.try_emplace(fd, fd).first->second;
  program.process = peer.pid;
  program.user = peer.uid;
}

/// Goodbye: it has ended, or is none of ours.
Programs::Said Programs::read_report(Program& program) {
  Report report;
  const ssize_t got = ::recv(program.socket.fd(), &report, sizeof report, 0);
  if (got < 0) return errno == EAGAIN || errno == EINTR ? Said::Nothing : Said::Goodbye;
  if (got != sizeof report || report.form != apm::local::number) return Said::Goodbye;
  const PortName port = name_of(report.port);
  if (!program.reports.contains(port) && program.reports.size() >= most_ports) return Said::Goodbye;
  program.reports[port] = report;
  // It has begun after the last order: its connections belong there, too.
  const auto order = orders_.find(port);
  if (order == orders_.end() || program.told[port] == order->second.number) return Said::Something;
  const Command command{.kind = Command::Move, .plane = order->second.plane, .order = order->second.number};
  return tell(program, command, port) ? Said::Something : Said::Goodbye;
}

bool Programs::tell(Program& program, Command command, const PortName& port) {
  std::strncpy(command.port.device, port.first.c_str(), sizeof command.port.device - 1);
  command.port.port = port.second;
  if (command.kind == Command::Move) program.told[port] = command.order;
  return ::send(program.socket.fd(), &command, sizeof command, MSG_NOSIGNAL) == sizeof command;
}

/// All that have connections there; who cannot be told is gone.
void Programs::tell_all(const Command& command, const PortName& port) {
  for (auto each = programs_.begin(); each != programs_.end();) {
    const bool concerned = each->second.reports.contains(port);
    each = concerned && !tell(each->second, command, port) ? programs_.erase(each) : std::next(each);
  }
}

void Programs::arm(const PortName& port) { tell_all(Command{.kind = Command::Arm}, port); }

void Programs::move(const PortName& port, unsigned plane) {
  const Order order{++last_order_, plane};
  orders_[port] = order;
  tell_all(Command{.kind = Command::Move, .plane = order.plane, .order = order.number}, port);
}

apm::Standing Programs::standing(const PortName& port) const {
  apm::Standing sum;
  const auto order = orders_.find(port);
  for (const auto& [fd, program] : programs_) {
    const auto report = program.reports.find(port);
    if (report == program.reports.end()) continue;
    ++sum.processes;
    add(report->second, order == orders_.end() || report->second.order == order->second.number, sum);
  }
  return sum;
}

std::map<pid_t, std::uint32_t> Programs::reported(const PortName& port) const {
  std::map<pid_t, std::uint32_t> all;
  for (const auto& [fd, program] : programs_) {
    const auto report = program.reports.find(port);
    if (report == program.reports.end()) continue;
    all[program.process] += report->second.connections + report->second.unable + report->second.others;
  }
  return all;
}

}  // namespace heddle::agent
