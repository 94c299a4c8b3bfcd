#include "control/shared_body.h"

#include <zlib.h>

#include <array>
#include <utility>

namespace heddle::control {

SharedBody::SharedBody(std::vector<Piece> slices, std::shared_ptr<BodyLedger> ledger)
    : ledger_{std::move(ledger)}, count_{slices.size()}, slices_{std::move(slices)} {
  for (const auto& each : slices_) bytes_ += each->size();
  *ledger_ += bytes_;
}

Piece SharedBody::slice(std::size_t i) const {
  const std::lock_guard lock{mutex_};
  return i < slices_.size() ? slices_[i] : nullptr;
}

void SharedBody::withdraw() const {
  std::vector<Piece> slices;
  {
    const std::lock_guard lock{mutex_};
    std::swap(slices, slices_);
  }
  if (!slices.empty()) *ledger_ -= bytes_;
}

/// zlib's stream, drained into the writer's slices.
struct BodyWriter::Gzip {
  Gzip() {
    constexpr int level = 1;
    constexpr int gzip_window = 15 + 16;  // the largest window, in gzip's frame rather than zlib's
    constexpr int memory_level = 8;
    // Fails only without memory, and then allocation throws elsewhere first.
    deflateInit2(&stream, level, Z_DEFLATED, gzip_window, memory_level, Z_DEFAULT_STRATEGY);
  }
  ~Gzip() { deflateEnd(&stream); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  template <class Out>
  void run(std::string_view text, int flush, Out out) {
    // zlib only reads what next_in points to.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(room.data());
      stream.avail_out = static_cast<uInt>(room.size());
      deflate(&stream, flush);
      out(std::string_view{room.data(), room.size() - stream.avail_out});
    } while (stream.avail_out == 0);
  }

  z_stream stream{};
  std::array<char, 16384> room{};
};

BodyWriter::BodyWriter(Encoding encoding) {
  if (encoding == Encoding::Gzip) gzip_ = std::make_unique<Gzip>();
}
BodyWriter::~BodyWriter() = default;

void BodyWriter::write(std::string_view text) {
  if (!gzip_) return append(text);
  gzip_->run(text, Z_NO_FLUSH, [this](std::string_view bytes) { append(bytes); });
}

bool BodyWriter::write(const SharedBody& body) {
  for (std::size_t i = 0; i < body.slices(); ++i) {
    const Piece slice = body.slice(i);
    if (!slice) return false;
    write(std::string_view{*slice});
  }
  return true;
}

void BodyWriter::append(std::string_view bytes) {
  while (!bytes.empty()) {
    if (slice_.capacity() < slice_bytes) slice_.reserve(slice_bytes);
    const auto part = bytes.substr(0, slice_bytes - slice_.size());
    slice_.append(part);
    bytes.remove_prefix(part.size());
    if (slice_.size() == slice_bytes) {
      slices_.push_back(std::make_shared<const std::string>(std::move(slice_)));
      slice_ = {};
    }
  }
}

std::shared_ptr<const SharedBody> BodyWriter::finish(std::shared_ptr<BodyLedger> ledger) {
  if (gzip_) gzip_->run({}, Z_FINISH, [this](std::string_view bytes) { append(bytes); });
  if (!slice_.empty()) {
    slice_.shrink_to_fit();
    slices_.push_back(std::make_shared<const std::string>(std::move(slice_)));
  }
  return std::make_shared<const SharedBody>(std::move(slices_), std::move(ledger));
}

}  // namespace heddle::control
