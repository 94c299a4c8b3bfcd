// A program of the operator: each message on its standard input, as JSON. No shell, no text of the fabric in
// its arguments or environment; ended with all that it started when it takes too long.

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <csignal>
#include <cstring>
#include <utility>

#include "notice/bodies.h"
#include "notify/sender.h"

namespace heddle::notify {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

/// Nobody else tells when a child ends: pidfd_open() is younger than some kernels that this runs on.
constexpr std::chrono::milliseconds look_again{20};

/// What the program is given of ours; not our environment, in which systemd's sockets are.
constexpr std::array<const char*, 3> program_environment{
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", nullptr};

/// The process, with `input` as its standard input. Errors: an errno.
int start_program(const std::vector<std::string>& program, int input, pid_t& child) {
  std::vector<char*> arguments;
  for (const std::string& word : program) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  sigset_t ours;
  sigemptyset(&ours);
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP}) sigaddset(&ours, signal);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &ours);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  const int error = posix_spawn(&child, program.front().c_str(), &files, &attributes, arguments.data(),
                                const_cast<char* const*>(program_environment.data()));
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return error;
}

class ProgramSender final : public Sender {
 public:
  ProgramSender(asio::io_context& io, const Destination& destination, const notice::Teller& teller)
      : program_{destination.program},
        timeout_{destination.timeout},
        teller_{teller},
        io_{io},
        to_{io},
        timer_{io} {}
  ~ProgramSender() override { kill_it(); }
  ProgramSender(const ProgramSender&) = delete;
  ProgramSender& operator=(const ProgramSender&) = delete;

  void send(const Message& message, Done done) override {
    done_ = std::move(done);
    text_ = notice::json_body(message.notices, teller_, message.dropped) + "\n";
    asio::post(io_, [this, alive = std::weak_ptr(alive_)] {
      if (!alive.expired()) begin();
    });
  }

 private:
  void begin() {
    // A pair of sockets, so that writing to one who has gone is an error and no signal.
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
      return end(Sent::How::Failed, std::strerror(errno));
    const int error = start_program(program_, ends[1], child_);
    ::close(ends[1]);
    error_code wrong;
    to_.assign({}, ends[0], wrong);
    if (error != 0) {
      child_ = 0;
      return end(Sent::How::Failed, fmt::format("it cannot be run: {}", std::strerror(error)));
    }
    until_ = std::chrono::steady_clock::now() + timeout_;
    // It may end without having read everything: its exit status says whether it is content.
    asio::async_write(to_, asio::buffer(text_),
                      [this, alive = std::weak_ptr(alive_)](error_code, std::size_t) {
                        error_code ignored;
                        if (!alive.expired()) to_.close(ignored);
                      });
    look();
  }

  void look() {
    int status = 0;
    const pid_t ended = waitpid(child_, &status, WNOHANG);
    if (ended == 0 && std::chrono::steady_clock::now() < until_) {
      timer_.expires_after(look_again);
      timer_.async_wait([this, alive = std::weak_ptr(alive_)](error_code wrong) {
        if (!wrong && !alive.expired()) look();
      });
      return;
    }
    if (ended == 0) {
      kill_it();
      return end(Sent::How::Failed,
                 fmt::format("it did not end within {} ms, and was killed", timeout_.count()));
    }
    child_ = 0;
    if (ended < 0 || !WIFEXITED(status))
      return end(Sent::How::Failed, fmt::format("it was ended by signal {}", WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0)
      return end(Sent::How::Failed, fmt::format("it ended with status {}", WEXITSTATUS(status)));
    end(Sent::How::Delivered, {});
  }

  void kill_it() {
    if (child_ <= 0) return;
    kill(-child_, SIGKILL);
    int status = 0;
    // Whoever was sent SIGKILL ends at once, unless it waits for a device.
    waitpid(child_, &status, 0);
    child_ = 0;
  }

  void end(Sent::How how, std::string why) {
    error_code ignored;
    to_.close(ignored);
    const Done done = std::move(done_);
    done({how, std::move(why)});
  }

  std::vector<std::string> program_;
  std::chrono::milliseconds timeout_;
  notice::Teller teller_;
  asio::io_context& io_;
  asio::local::stream_protocol::socket to_;
  asio::steady_timer timer_;
  Done done_;
  std::string text_;
  pid_t child_ = 0;
  std::chrono::steady_clock::time_point until_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace

Result<std::unique_ptr<Sender>> program_sender(asio::io_context& io, const Destination& destination,
                                               const notice::Teller& teller) {
  return std::make_unique<ProgramSender>(io, destination, teller);
}

}  // namespace heddle::notify
