#include "output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace heddle::vef {
namespace {

void check_directory(int directory, const std::string& name) {
  struct stat what {};
  if (::fstat(directory, &what) != 0) throw std::runtime_error(name + ": " + std::strerror(errno));
  if (what.st_uid != ::geteuid()) throw std::runtime_error(name + " belongs to somebody else");
  if ((what.st_mode & S_IWOTH) != 0) throw std::runtime_error(name + " can be written by everybody");
}

}  // namespace

Output::Output(const std::string& path) : path_{path} {
  const std::size_t slash = path.rfind('/');
  directory_ = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  name_ = slash == std::string::npos ? path : path.substr(slash + 1);
  if (name_.empty() || name_ == "." || name_ == "..") throw std::runtime_error("HEDDLE_VEF names no file");
  if (path.size() >= PATH_MAX || name_.size() + 32 > NAME_MAX) {
    throw std::runtime_error("the name in HEDDLE_VEF is too long");
  }
  at_ = File{::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!at_.is_open()) throw std::runtime_error(directory_ + ": " + std::strerror(errno));
  check_directory(at_.number(), directory_);
}

File Output::make(const std::string& name) const {
  File made{::openat(at_.number(), name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644)};
  if (!made.is_open()) throw std::system_error(errno, std::generic_category());
  return made;
}

File Output::nameless() const {
  const std::string name = name_ + ".log-" + std::to_string(::getpid());
  File made = make(name);
  ::unlinkat(at_.number(), name.c_str(), 0);
  return made;
}

File Output::begin() {
  temporary_ = name_ + ".part-" + std::to_string(::getpid());
  return make(temporary_);
}

int Output::end() {
  return ::renameat(at_.number(), temporary_.c_str(), at_.number(), name_.c_str()) == 0 ? 0 : errno;
}

void Output::give_up() {
  if (!temporary_.empty()) ::unlinkat(at_.number(), temporary_.c_str(), 0);
}

}  // namespace heddle::vef
