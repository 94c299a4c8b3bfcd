/// Numbers in network order, in a row of bytes. Only for the .cc files of sa/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace heddle::sa {

/// Reads and writes numbers of any number of bits, one after the other.
class BitReader {
 public:
  explicit BitReader(std::span<const std::uint8_t> bytes) : bytes_{bytes} {}
  std::uint64_t operator()(unsigned bits) {
    std::uint64_t value = 0;
    while (bits > 0) {
      const unsigned left = 8 - at_ % 8;
      const unsigned take = bits < left ? bits : left;
      value = value << take | (unsigned{bytes_[at_ / 8]} >> (left - take) & ((1U << take) - 1U));
      at_ += take;
      bits -= take;
    }
    return value;
  }
  void skip(unsigned bits) { at_ += bits; }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

class BitWriter {
 public:
  explicit BitWriter(std::span<std::uint8_t> bytes) : bytes_{bytes} {}
  void operator()(unsigned bits, std::uint64_t value) {
    while (bits > 0) {
      const unsigned left = 8 - at_ % 8;
      const unsigned take = bits < left ? bits : left;
      const unsigned part = static_cast<unsigned>(value >> (bits - take)) & ((1U << take) - 1U);
      if (left == 8) bytes_[at_ / 8] = 0;
      bytes_[at_ / 8] = static_cast<std::uint8_t>(bytes_[at_ / 8] | part << (left - take));
      at_ += take;
      bits -= take;
    }
  }

 private:
  std::span<std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

}  // namespace heddle::sa
