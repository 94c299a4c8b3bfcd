#include "authority/plan_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string_view>

namespace heddle::opensm {
namespace {

tl::unexpected<Error> io(const char* step, const std::string& path) {
  return fail(ErrorCode::Io, fmt::format("cannot {} {}: {}", step, path, std::strerror(errno)));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_{fd} {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

Result<void> write_durably(const std::string& path, std::string_view text) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (file.fd() < 0) return io("open", path);
  while (!text.empty()) {
    const ssize_t done = ::write(file.fd(), text.data(), text.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return io("write", path);
    text.remove_prefix(static_cast<std::size_t>(done));
  }
  if (::fsync(file.fd()) != 0) return io("sync", path);
  return {};
}

}  // namespace

Result<void> write_plan(const std::string& path, const plan::Plan& plan) {
  const std::string text = plan::to_text(plan);
  if (text.size() > plan::max_bytes) {
    return fail(ErrorCode::Refused, fmt::format("the plan would have {} bytes, and the plugin reads {}",
                                                text.size(), plan::max_bytes));
  }
  const std::string scratch = path + ".tmp";
  if (auto written = write_durably(scratch, text); !written) {
    ::unlink(scratch.c_str());
    return written;
  }
  // A damaged file is no plan to go back to.
  if (read_plan(path)) {
    const std::string previous = path + ".previous";
    ::unlink(previous.c_str());
    if (::link(path.c_str(), previous.c_str()) != 0) return io("keep the plan before as", previous);
  }
  if (std::rename(scratch.c_str(), path.c_str()) != 0) return io("rename the new plan to", path);
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const Descriptor parent(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent.fd() < 0 || ::fsync(parent.fd()) != 0) return io("sync", directory);
  return {};
}

Result<plan::Plan> read_plan(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file) {
    const ErrorCode code = errno == ENOENT ? ErrorCode::NotFound : ErrorCode::Io;
    return fail(code, fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  }
  std::string text(plan::max_bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return io("read", path);
  text.resize(static_cast<std::size_t>(file.gcount()));
  return plan::parse(text, path);
}

}  // namespace heddle::opensm
