#include "control/packer.h"

#include <zlib.h>

#include <array>
#include <string_view>
#include <system_error>
#include <utility>

#include "control/slicer.h"

namespace heddle::control {

/// zlib's stream, drained into slices.
class Packer::Stream {
 public:
  Stream() {
    constexpr int level = 1;
    constexpr int gzip_window = 15 + 16;  // the largest window, in gzip's frame rather than zlib's
    constexpr int memory_level = 8;
    // Fails only without memory, and then allocation throws elsewhere first.
    deflateInit2(&stream_, level, Z_DEFLATED, gzip_window, memory_level, Z_DEFAULT_STRATEGY);
  }
  ~Stream() { deflateEnd(&stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void add(std::string_view text) { run(text, Z_NO_FLUSH); }
  [[nodiscard]] std::vector<Piece> finish() {
    run({}, Z_FINISH);
    if (Piece rest = slicer_.rest()) slices_.push_back(std::move(rest));
    return std::move(slices_);
  }

 private:
  void run(std::string_view text, int flush) {
    // zlib only reads what next_in points to.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream_.avail_in = static_cast<uInt>(text.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(room_.data());
      stream_.avail_out = static_cast<uInt>(room_.size());
      deflate(&stream_, flush);
      slicer_.append({room_.data(), room_.size() - stream_.avail_out},
                     [this](Piece slice) { slices_.push_back(std::move(slice)); });
    } while (stream_.avail_out == 0);
  }

  z_stream stream_{};
  std::array<char, 16384> room_{};
  Slicer slicer_;
  std::vector<Piece> slices_;
};

Packer::Packer() : stream_{std::make_unique<Stream>()} {}
Packer::~Packer() { end(); }

void Packer::add(Piece text) {
  if (!thread_.joinable() && !start()) return stream_->add(*text);
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] { return waiting_.size() < most_waiting; });
  waiting_.push_back(std::move(text));
  changed_.notify_all();
}

/// A host may have no thread left (TasksMax): then it takes longer.
bool Packer::start() {
  try {
    thread_ = std::thread{[this] { run(); }};
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

std::vector<Piece> Packer::finish(const Piece& rest) {
  end();
  if (rest) stream_->add(*rest);
  return stream_->finish();
}

void Packer::run() {
  std::unique_lock lock{mutex_};
  for (;;) {
    changed_.wait(lock, [this] { return ended_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const Piece text = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    changed_.notify_all();
    stream_->add(*text);
    lock.lock();
  }
}

/// The thread compresses what waits before it ends.
void Packer::end() {
  {
    const std::lock_guard lock{mutex_};
    ended_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

}  // namespace heddle::control
