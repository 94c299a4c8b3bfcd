#include "batch/squeue.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

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
bool read_until(int from, steady_clock::time_point until, std::string& text) {
  std::array<char, 65536> piece{};
  while (text.size() < most_printed) {
    const auto left = std::chrono::duration_cast<milliseconds>(until - steady_clock::now()).count();
    pollfd ready{from, POLLIN, 0};
    if (left <= 0 || poll(&ready, 1, static_cast<int>(left)) == 0) return false;
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
  Squeue(std::string program, milliseconds patience)
      : program_{std::move(program)}, patience_{patience}, until_{steady_clock::now() + patience} {}

  /// Errors: Io, Unsupported where it cannot be run; Unreachable where it did not end in time.
  [[nodiscard]] Result<Said> ask(std::vector<std::string> arguments, Words words) const {
    Pipe pipe;
    if (!pipe.good()) return fail(ErrorCode::Io, fmt::format("no pipe for squeue: {}", std::strerror(errno)));
    const auto child = begin(std::move(arguments), words, pipe);
    if (!child) return fail(child.error());
    pipe.close_in();
    Said said;
    std::string text;
    if (read_until(pipe.out(), until_, text)) said.text = std::move(text);
    if (!said.text) kill(*child, SIGKILL);
    int status = 0;
    while (waitpid(*child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!said.text) {
      return fail(ErrorCode::Unreachable,
                  fmt::format("{} did not answer within {:.0f} s, or said too much", program_,
                              std::chrono::duration<double>(patience_).count()));
    }
    said.well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return said;
  }

 private:
  Result<pid_t> begin(std::vector<std::string> arguments, Words words, const Pipe& pipe) const {
    arguments.insert(arguments.begin(), program_);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, pipe.in(), STDOUT_FILENO);
    if (words == Words::Drop)
      posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    const int wrong = posix_spawnp(&child, program_.c_str(), &files, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (wrong == 0) return child;
    return fail(ErrorCode::Unsupported,
                fmt::format("cannot run {}: {}; give them in a file of job,host lines (--file)", program_,
                            std::strerror(wrong)));
  }

  std::string program_;
  milliseconds patience_;
  steady_clock::time_point until_;
};

}  // namespace

Result<std::vector<jobs::Job>> ask_squeue(const std::string& program, milliseconds patience) {
  const Squeue squeue{program, patience};
  const auto document = squeue.ask({"--json"}, Words::Drop);
  if (!document) return fail(document.error());
  // Before 21.08 it knows no such option, and says so by its status.
  if (document->well) return jobs::parse_squeue_json(*document->text);
  const auto lines = squeue.ask({"--noheader", "--states=running", "--format=%i|%u|%N|%j"}, Words::Pass);
  if (!lines) return fail(lines.error());
  if (!lines->well) {
    return fail(ErrorCode::Unreachable, fmt::format("{} failed; see whether slurmctld answers", program));
  }
  return jobs::parse_squeue_lines(*lines->text);
}

}  // namespace heddle::batch
