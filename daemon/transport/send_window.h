/// How many requests may be in the fabric. Shrinks when agents that do answer lose many MADs (a full queue on
/// the way), grows back when they do not. A low rate of loss is a fact of the fabric and not of the window,
/// so it changes nothing.
#pragma once

#include <algorithm>
#include <cstdint>

namespace heddle::transport {

class SendWindow {
 public:
  SendWindow(std::uint32_t least, std::uint32_t most) : least_{least}, most_{most}, size_{most} {}

  [[nodiscard]] std::uint32_t size() const { return size_; }

  /// An agent answered after `lost` attempts without one.
  void answered(std::uint32_t lost) {
    ++answers_;
    losses_ += lost;
    if (answers_ < std::max<std::uint32_t>(64, 2 * size_)) return;
    if (losses_ * 10 > answers_) {
      size_ = std::max(least_, size_ - size_ / 4);
    } else if (losses_ * 20 <= answers_) {
      size_ = std::min(most_, size_ + 1 + size_ / 8);
    }
    answers_ = 0;
    losses_ = 0;
  }

  /// The device took no more.
  void refused() { size_ = std::max(least_, size_ - size_ / 4); }

 private:
  std::uint32_t least_;
  std::uint32_t most_;
  std::uint32_t size_;
  std::uint32_t answers_ = 0;
  std::uint32_t losses_ = 0;
};

}  // namespace heddle::transport
