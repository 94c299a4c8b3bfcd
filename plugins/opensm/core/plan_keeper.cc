#include "core/plan_keeper.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "files/descriptor.h"

namespace heddle::plugin {
namespace {

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

Result<plan::Plan> PlanKeeper::read(const std::string& path, std::optional<Identity>& identity) {
  // A pipe or a device must not make OpenSM wait.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (file.fd() < 0) {
    const ErrorCode code = errno == ENOENT ? ErrorCode::NotFound : ErrorCode::Io;
    return fail(code, fmt::format("{}: cannot open it: {}", path, std::strerror(errno)));
  }
  struct stat status {};
  if (::fstat(file.fd(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return fail(ErrorCode::Invalid, fmt::format("{}: not a plain file", path));
  }
  identity = Identity{status.st_ino, status.st_size, nanoseconds(status.st_mtim)};
  if (status.st_size > static_cast<off_t>(plan::max_bytes)) {
    return fail(ErrorCode::Invalid, fmt::format("{}: {} bytes; at most {} are read", path,
                                                std::int64_t{status.st_size}, plan::max_bytes));
  }
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t got = ::read(file.fd(), text.data() + done, text.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  text.resize(done);
  return plan::parse(text, path);
}

PlanKeeper::News PlanKeeper::look() {
  struct stat status {};
  const bool there = ::stat(path_.c_str(), &status) == 0;
  std::optional<Identity> found;
  if (there) found = Identity{status.st_ino, status.st_size, nanoseconds(status.st_mtim)};
  if (looked_ && found == seen_) return News::None;
  const bool first = !looked_;
  looked_ = true;
  seen_ = found;

  auto plan = read(path_, seen_);
  if (plan) {
    message_ = fmt::format("plan of epoch {} from {}", plan->epoch, path_);
    plan_ = std::move(*plan);
    return News::Taken;
  }
  message_ = plan.error().message;
  if (first) {
    std::optional<Identity> unused;
    if (auto before = read(path_ + ".previous", unused)) {
      message_ += fmt::format("; going on with {}.previous of epoch {}", path_, before->epoch);
      plan_ = std::move(*before);
      return News::Refused;
    }
  }
  if (plan_) message_ += fmt::format("; going on with the plan of epoch {}", plan_->epoch);
  return plan.error().code == ErrorCode::NotFound ? News::Missing : News::Refused;
}

}  // namespace heddle::plugin
