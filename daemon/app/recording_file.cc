#include "app/recording_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

namespace heddle::app {
namespace {

constexpr std::size_t batch_size = 256 * 1024;
constexpr std::chrono::seconds longest_batch{1};
/// A disk that is behind by so much is too slow.
constexpr std::size_t most_waiting = 64 * 1024 * 1024;

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<RecordingFile>> RecordingFile::create(const std::string& path) {
  const int file =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0) {
    return fail(errno == EEXIST ? ErrorCode::Conflict : ErrorCode::Io,
                fmt::format("--record {}: {}", path, std::strerror(errno)));
  }
  return std::unique_ptr<RecordingFile>(new RecordingFile(file));
}

RecordingFile::~RecordingFile() {
  hand_over();
  thread_.join();
  ::close(file_);
}

bool RecordingFile::take(std::string_view bytes) {
  if (broken_ || waiting_ > most_waiting) return false;
  batch_.append(bytes);
  const bool waited = std::chrono::steady_clock::now() - handed_over_ > longest_batch;
  if (bytes.empty() || batch_.size() >= batch_size || waited) hand_over();
  return true;
}

void RecordingFile::hand_over() {
  handed_over_ = std::chrono::steady_clock::now();
  waiting_ += batch_.size();
  boost::asio::post(thread_, [this, batch = std::exchange(batch_, {})] {
    if (!broken_ && !write_all(file_, batch)) {
      spdlog::error("the recording ends here: {}", std::strerror(errno));
      broken_ = true;
    }
    waiting_ -= batch.size();
  });
}

}  // namespace heddle::app
