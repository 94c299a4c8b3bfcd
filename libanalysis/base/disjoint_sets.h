/// Sets of numbers that grow together (union-find): which piece of a fabric is a switch in. One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace heddle {

class DisjointSets {
 public:
  /// 0 to `size` - 1, each in a set of its own.
  explicit DisjointSets(std::size_t size) : above_(size) { std::iota(above_.begin(), above_.end(), 0U); }

  /// The least of its set. Shortens the ways on which it looks.
  [[nodiscard]] std::uint32_t find(std::uint32_t x) {
    while (above_[x] != x) x = above_[x] = above_[above_[x]];
    return x;
  }
  /// False where they were in one set already.
  bool join(std::uint32_t x, std::uint32_t y) {
    x = find(x);
    y = find(y);
    if (x == y) return false;
    above_[std::max(x, y)] = std::min(x, y);
    return true;
  }

 private:
  std::vector<std::uint32_t> above_;
};

}  // namespace heddle
