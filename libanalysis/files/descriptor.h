/// A file descriptor that closes itself.
#pragma once

#include <unistd.h>

namespace heddle {

class Descriptor {
 public:
  /// Negative: none, as the call that was to open it returns it.
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

}  // namespace heddle
