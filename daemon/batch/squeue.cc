#include "batch/squeue.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>

extern char** environ;

namespace heddle::batch {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Of `squeue --json`: a job is some 8 kB of it.
constexpr std::size_t most_printed = std::size_t{256} << 20U;

/// Both ends of a pipe, closed when they are not wanted any more.
class Pipe {
 public:
  Pipe() { good_ = pipe2(ends_.data(), O_CLOEXEC) == 0; }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] int out() const { return ends_[0]; }
  [[nodiscard]] int in() const { return ends_[1]; }
  void close_in() { close_end(1); }

 private:
  void close_end(std::size_t end) {
    if (ends_.at(end) >= 0) close(ends_.at(end));
    ends_.at(end) = -1;
  }
  std::array<int, 2> ends_{-1, -1};
  bool good_ = false;
};

/// All that is printed until its end; nothing when that takes too long, or is too much.
bool read_until(int from, steady_clock::time_point until, const std::atomic<bool>* given_up,
                std::string& text) {
  constexpr std::int64_t look_every = 100;  // ms
  std::array<char, 65536> piece{};
  while (text.size() < most_printed) {
    const auto left = std::chrono::duration_cast<milliseconds>(until - steady_clock::now()).count();
    if (left <= 0 || (given_up != nullptr && *given_up)) return false;
    pollfd ready{from, POLLIN, 0};
    if (poll(&ready, 1, static_cast<int>(std::min(left, look_every))) == 0) continue;
    const ssize_t got = read(from, piece.data(), piece.size());
    if (got == 0) return true;
    if (got < 0 && errno != EINTR) return false;
    if (got > 0) text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return false;
}

/// Whose words on standard error go to ours.
enum class Words : std::uint8_t { Pass, Drop };

/// What it has printed at its end; none where that does not come in time, or is too much: then it is killed.
struct Said {
  std::optional<std::string> text;
  bool well = false;  ///< it ended with 0
};

class Squeue {
 public:
  explicit Squeue(const SqueueOptions& options)
      : options_{options}, until_{steady_clock::now() + options.patience} {}

  /// Errors: Io, Unsupported where it cannot be run; Unreachable where it did not end in time.
  [[nodiscard]] Result<Said> ask(std::vector<std::string> arguments, Words words) const {
    Pipe pipe;
    if (!pipe.good()) return fail(ErrorCode::Io, fmt::format("no pipe for squeue: {}", std::strerror(errno)));
    const auto child = begin(std::move(arguments), words, pipe);
    if (!child) return fail(child.error());
    pipe.close_in();
    Said said;
    std::string text;
    if (read_until(pipe.out(), until_, options_.given_up, text)) said.text = std::move(text);
    if (!said.text) kill(*child, SIGKILL);
    int status = 0;
    while (waitpid(*child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!said.text) {
      return fail(ErrorCode::Unreachable,
                  fmt::format("{} did not answer within {:.0f} s, or said too much", options_.program,
                              std::chrono::duration<double>(options_.patience).count()));
    }
    said.well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return said;
  }

 private:
  Result<pid_t> begin(std::vector<std::string> arguments, Words words, const Pipe& pipe) const {
    arguments.insert(arguments.begin(), options_.program);
    if (options_.run_as == RunAs::Nobody && geteuid() == 0) {
      const std::vector<std::string> drop{"setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups",
                                          "--no-new-privs"};
      arguments.insert(arguments.begin(), drop.begin(), drop.end());
    }
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, pipe.in(), STDOUT_FILENO);
    if (words == Words::Drop)
      posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    // A daemon's threads block signals that its programs need.
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    pid_t child = 0;
    const int wrong = posix_spawnp(&child, argv.front(), &files, &attributes, argv.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    if (wrong == 0) return child;
    return fail(ErrorCode::Unsupported,
                fmt::format("cannot run {}: {}; give them in a file of job,host lines (--file)",
                            options_.program, std::strerror(wrong)));
  }

  const SqueueOptions& options_;
  steady_clock::time_point until_;
};

}  // namespace

Result<std::vector<jobs::Job>> ask_squeue(const SqueueOptions& options) {
  const Squeue squeue{options};
  const auto document = squeue.ask({"--json"}, Words::Drop);
  if (!document) return fail(document.error());
  // Before 21.08 it knows no such option, and says so by its status.
  if (document->well) return jobs::parse_squeue_json(*document->text);
  const auto lines = squeue.ask({"--noheader", "--states=running", "--format=%i|%u|%N|%j"}, Words::Pass);
  if (!lines) return fail(lines.error());
  if (!lines->well) {
    return fail(ErrorCode::Unreachable,
                fmt::format("{} failed; see whether slurmctld answers", options.program));
  }
  return jobs::parse_squeue_lines(*lines->text);
}

}  // namespace heddle::batch
