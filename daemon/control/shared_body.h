/// A large answer as it is sent: in slices, made once and shared by all who asked. It can be withdrawn while
/// clients still take it; each of them holds the one slice that it is being sent, and no more.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "control/http.h"
#include "control/packer.h"
#include "control/slicer.h"

namespace heddle::control {

/// Counts the bytes of all bodies that are alive.
using BodyLedger = std::atomic<std::size_t>;

/// Any thread.
class SharedBody {
 public:
  SharedBody(std::vector<Piece> slices, std::shared_ptr<BodyLedger> ledger);
  ~SharedBody() { withdraw(); }
  SharedBody(const SharedBody&) = delete;
  SharedBody& operator=(const SharedBody&) = delete;

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::size_t slices() const { return count_; }
  /// Null when the body has been withdrawn. Precondition: i < slices().
  [[nodiscard]] Piece slice(std::size_t i) const;
  /// Whoever has not taken all of it gets no more.
  void withdraw() const;

 private:
  std::shared_ptr<BodyLedger> ledger_;
  std::size_t count_;
  std::size_t bytes_ = 0;
  mutable std::mutex mutex_;  ///< guards slices_
  mutable std::vector<Piece> slices_;
};

enum class Encoding : unsigned char { Plain, Gzip };

/// Cuts what is written into slices, compressed perhaps. One thread.
class BodyWriter {
 public:
  explicit BodyWriter(Encoding encoding = Encoding::Plain);
  ~BodyWriter();
  BodyWriter(const BodyWriter&) = delete;
  BodyWriter& operator=(const BodyWriter&) = delete;

  void write(std::string_view text);
  /// All of `body`. False: it has been withdrawn, and what was written is of no use.
  [[nodiscard]] bool write(const SharedBody& body);
  /// Ends the body; nothing can be written after that.
  [[nodiscard]] std::shared_ptr<const SharedBody> finish(std::shared_ptr<BodyLedger> ledger);

 private:
  void add(Piece slice);

  std::unique_ptr<Packer> packer_;  ///< none: plain
  Slicer slicer_;
  std::vector<Piece> slices_;
};

}  // namespace heddle::control
