#include "app/tables_file.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <sstream>
#include <thread>
#include <vector>

#include "files/durable_file.h"

namespace heddle::app {
namespace {

using namespace std::chrono_literals;

constexpr auto time_limit = 10s;
/// Of all that is left of it once the daemon ends: systemd waits for the daemon, and for nothing that it
/// runs.
constexpr auto limit_at_the_end = 1s;
constexpr auto look_every = 5ms;

Result<pid_t> start(const std::string& command) {
  std::istringstream in(command);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  if (words.empty()) return fail(ErrorCode::Invalid, "opensm.reload is blank");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, arguments[0], nullptr, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    return fail(ErrorCode::NotFound,
                fmt::format("opensm.reload: cannot run {}: {}", words[0], std::strerror(error)));
  }
  return child;
}

Result<void> run(const std::string& command, const std::stop_token& ending) {
  const auto child = start(command);
  if (!child) return fail(child.error());
  const auto begun = std::chrono::steady_clock::now();
  std::optional<std::chrono::steady_clock::time_point> asked_to_end;
  const auto is_late = [&](std::chrono::steady_clock::time_point now) {
    if (ending.stop_requested() && !asked_to_end) asked_to_end = now;
    return now - begun > time_limit || (asked_to_end && now - *asked_to_end > limit_at_the_end);
  };
  int status = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(*child, &status, WNOHANG)) == 0 && !is_late(std::chrono::steady_clock::now())) {
    std::this_thread::sleep_for(look_every);
  }
  if (ended == 0) {
    ::kill(*child, SIGKILL);
    ::waitpid(*child, &status, 0);
    return fail(ErrorCode::Unreachable, fmt::format("opensm.reload: `{}` did not end within {} s", command,
                                                    asked_to_end ? limit_at_the_end / 1s : time_limit / 1s));
  }
  if (ended < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    const std::string how = ended < 0           ? std::strerror(errno)
                            : WIFEXITED(status) ? fmt::format("exit status {}", WEXITSTATUS(status))
                                                : fmt::format("signal {}", WTERMSIG(status));
    return fail(ErrorCode::Unreachable, fmt::format("opensm.reload: `{}` failed: {}", command, how));
  }
  return {};
}

}  // namespace

Result<void> put_tables(const std::string& path, const std::string& text, const std::string& reload,
                        const std::stop_token& ending) {
  const auto scratch = write_beside(path, text);
  if (!scratch) return fail(scratch.error());
  if (auto placed = put_in_place(*scratch, path); !placed) return placed;
  return reload.empty() ? Result<void>{} : run(reload, ending);
}

}  // namespace heddle::app
