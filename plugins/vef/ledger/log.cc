#include "ledger/log.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <ctime>
#include <system_error>
#include <utility>

namespace heddle::vef {
namespace {

/// Keeps SIGXFSZ, which comes when a file reaches its limit and ends a program, from this thread.
class NoSignal {
 public:
  NoSignal() {
    sigemptyset(&this_one_);
    sigaddset(&this_one_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &this_one_, &before_);
  }
  NoSignal(const NoSignal&) = delete;
  NoSignal& operator=(const NoSignal&) = delete;
  ~NoSignal() {
    const timespec at_once{};
    if (came_) sigtimedwait(&this_one_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  void came() { came_ = true; }

 private:
  sigset_t this_one_{};
  sigset_t before_{};
  bool came_ = false;
};

[[noreturn]] void fail(int error) { throw std::system_error(error, std::generic_category()); }

}  // namespace

const char* name_of(Collective kind) {
  constexpr std::array<const char*, 8> names{"barrier", "broadcast", "reduce",  "allreduce",
                                             "gather",  "allgather", "scatter", "alltoall"};
  return names.at(static_cast<std::size_t>(kind));
}

File::File(File&& other) noexcept : number_{std::exchange(other.number_, -1)} {}

File& File::operator=(File&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

File::~File() {
  if (number_ >= 0) ::close(number_);
}

int write_at(int file, const void* data, std::size_t size, std::uint64_t offset) {
  NoSignal no_signal;
  const auto* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t done = ::pwrite(file, bytes, size, static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      const int error = done == 0 ? EIO : errno;
      if (error == EFBIG) no_signal.came();
      return error;
    }
    bytes += done;
    offset += static_cast<std::uint64_t>(done);
    size -= static_cast<std::size_t>(done);
  }
  return 0;
}

Log::Log(File file) : file_{std::move(file)} { recent_.reserve(most_in_memory); }

std::uint64_t Log::add(const Record& record) {
  if (recent_.size() == most_in_memory) spill();
  recent_.push_back(record);
  return size() - 1;
}

void Log::spill() {
  const int error =
      write_at(file_.number(), recent_.data(), recent_.size() * sizeof(Record), written_ * sizeof(Record));
  if (error != 0) fail(error);
  written_ += recent_.size();
  recent_.clear();
}

void Log::set_where(std::uint64_t place, std::uint32_t where) {
  if (place >= written_) {
    recent_.at(place - written_).where = where;
    return;
  }
  const std::uint64_t offset = place * sizeof(Record) + offsetof(Record, where);
  if (const int error = write_at(file_.number(), &where, sizeof where, offset); error != 0) fail(error);
}

void Log::read(std::uint64_t place, std::vector<Record>& into) {
  into = some(place, static_cast<std::size_t>(std::min<std::uint64_t>(most_in_memory, written_ - place)));
}

std::vector<Record> Log::some(std::uint64_t place, std::size_t count) {
  if (place >= written_) {
    const std::size_t from = std::min<std::uint64_t>(place - written_, recent_.size());
    const auto begin = recent_.begin() + static_cast<std::ptrdiff_t>(from);
    return {begin, begin + static_cast<std::ptrdiff_t>(std::min(count, recent_.size() - from))};
  }
  std::vector<Record> found(static_cast<std::size_t>(std::min<std::uint64_t>(count, written_ - place)));
  auto* bytes = reinterpret_cast<char*>(found.data());
  std::size_t left = found.size() * sizeof(Record);
  std::uint64_t offset = place * sizeof(Record);
  while (left > 0) {
    const ssize_t got = ::pread(file_.number(), bytes, left, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail(got == 0 ? EIO : errno);
    bytes += got;
    offset += static_cast<std::uint64_t>(got);
    left -= static_cast<std::size_t>(got);
  }
  return found;
}

}  // namespace heddle::vef
