#include "heddle/slurm_source.h"

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

extern char** environ;

namespace heddle::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::chrono::seconds squeue_patience{30};
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

/// What it prints. Its words on standard error go to ours, unless they are not wanted.
Result<std::string> run_squeue(const std::string& squeue, std::vector<std::string> arguments, bool quiet) {
  Pipe pipe;
  if (!pipe.good()) return fail(ErrorCode::Io, fmt::format("no pipe for squeue: {}", std::strerror(errno)));
  arguments.insert(arguments.begin(), squeue);
  std::vector<char*> words;
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, pipe.in(), STDOUT_FILENO);
  if (quiet) posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int wrong = posix_spawnp(&child, squeue.c_str(), &files, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (wrong != 0) {
    return fail(ErrorCode::Unsupported,
                fmt::format("cannot run {}: {}; give the jobs with --file", squeue, std::strerror(wrong)));
  }
  pipe.close_in();
  std::string text;
  const bool whole = read_until(pipe.out(), steady_clock::now() + squeue_patience, text);
  if (!whole) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!whole)
    return fail(ErrorCode::Unreachable, fmt::format("{} did not answer within half a minute", squeue));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return fail(ErrorCode::Unreachable, fmt::format("{} failed; see whether slurmctld answers", squeue));
  }
  return text;
}

}  // namespace

Result<std::vector<jobs::Job>> ask_slurm(const std::string& squeue) {
  const auto document = run_squeue(squeue, {"--json"}, true);
  if (!document && document.error().code == ErrorCode::Unsupported) return fail(document.error());
  if (document) {
    if (auto jobs = jobs::parse_squeue_json(*document)) return jobs;
  }
  const auto lines = run_squeue(squeue, {"--noheader", "--states=running", "--format=%i|%u|%N|%j"}, false);
  if (!lines) return fail(lines.error());
  return jobs::parse_squeue_lines(*lines);
}

}  // namespace heddle::cli
