#include "heddle/graphviz.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "fabric/dot.h"
#include "load/switch_graph.h"

extern char** environ;

namespace heddle::cli {
namespace {

/// dot's time grows with the square of the edges; sfdp's hardly more than with their number.
constexpr std::size_t most_links_for_dot = 400;

const char* program_for(const Fabric& fabric) {
  if (fabric.links().size() > most_links_for_dot) return "sfdp";
  const auto neighbours = load::switch_neighbours(fabric);
  return load::find_tree(fabric, neighbours) || load::find_tiers(fabric, neighbours) ? "dot" : "sfdp";
}

/// A file without a name, gone with its descriptor.
class Scratch {
 public:
  Scratch() {
    std::array<char, 32> path{"/tmp/heddle-dot-XXXXXX"};
    fd_ = mkstemp(path.data());
    if (fd_ >= 0) unlink(path.data());
  }
  ~Scratch() {
    if (fd_ >= 0) close(fd_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_ = -1;
};

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return lseek(fd, 0, SEEK_SET) == 0;
}

std::string read_all(int fd) {
  std::string text;
  std::array<char, 65536> piece{};
  lseek(fd, 0, SEEK_SET);
  for (ssize_t count = 0; (count = read(fd, piece.data(), piece.size())) > 0;)
    text.append(piece.data(), static_cast<std::size_t>(count));
  return text;
}

}  // namespace

Result<std::string> draw_svg(const Fabric& fabric, const NodeNames& names) {
  const Scratch in;
  const Scratch out;
  if (in.fd() < 0 || out.fd() < 0 || !write_all(in.fd(), write_dot(fabric, names)))
    return fail(ErrorCode::Io, fmt::format("cannot write a file in /tmp: {}", std::strerror(errno)));
  const std::string program = program_for(fabric);
  std::string name = program;
  std::string format = "-Tsvg";
  std::string overlap = "-Goverlap=prism";
  std::array<char*, 4> arguments{name.data(), format.data(), overlap.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.fd(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.fd(), STDOUT_FILENO);
  pid_t child = 0;
  const int wrong = posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (wrong != 0) {
    return fail(ErrorCode::Unsupported,
                fmt::format("cannot run {}: {}. Install the package graphviz, or take --format dot.", program,
                            std::strerror(wrong)));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return fail(ErrorCode::Io, fmt::format("{} failed; its words are above", program));
  return read_all(out.fd());
}

}  // namespace heddle::cli
