#include "files/durable_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "files/descriptor.h"

namespace heddle {
namespace {

Result<void> write_durably(const std::string& path, std::string_view text) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (file.fd() < 0) return io_error("open", path);
  while (!text.empty()) {
    const ssize_t done = ::write(file.fd(), text.data(), text.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return io_error("write", path);
    text.remove_prefix(static_cast<std::size_t>(done));
  }
  if (::fsync(file.fd()) != 0) return io_error("sync", path);
  return {};
}

}  // namespace

tl::unexpected<Error> io_error(const char* step, const std::string& path) {
  return fail(ErrorCode::Io, fmt::format("cannot {} {}: {}", step, path, std::strerror(errno)));
}

Result<std::string> write_beside(const std::string& path, std::string_view text) {
  std::string scratch = path + ".tmp";
  if (auto written = write_durably(scratch, text); !written) {
    ::unlink(scratch.c_str());
    return fail(written.error());
  }
  return scratch;
}

Result<void> put_in_place(const std::string& scratch, const std::string& path) {
  if (std::rename(scratch.c_str(), path.c_str()) != 0) {
    const auto error = io_error("rename the new file to", path);
    ::unlink(scratch.c_str());
    return error;
  }
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const Descriptor parent(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent.fd() < 0 || ::fsync(parent.fd()) != 0) return io_error("sync", directory);
  return {};
}

}  // namespace heddle
