/// Many small lists in one array: row r is a piece of it with some room to grow. A row that outgrows its room
/// moves to the end; when half of the array is holes, it is packed again. Nothing is allocated once the rows
/// have reached their sizes. Spans into it are valid until the next append, lay_out or resize.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heddle::sim {

template <class T>
class RowPool {
 public:
  using Row = std::uint32_t;

  void resize(std::size_t rows) { extents_.resize(rows); }

  [[nodiscard]] std::span<T> operator[](Row row) {
    return {cells_.data() + extents_[row].begin, extents_[row].size};
  }
  [[nodiscard]] std::span<const T> operator[](Row row) const {
    return {cells_.data() + extents_[row].begin, extents_[row].size};
  }

  void append(Row row, const T& value) {
    if (extents_[row].size == extents_[row].room) grow(row);
    Extent& extent = extents_[row];
    cells_[extent.begin + extent.size++] = value;
  }
  /// Precondition: the row is not empty.
  void drop_last(Row row) { --extents_[row].size; }

  void clear(Row row) { extents_[row].size = 0; }

  /// Empties all rows and places them in order, each with room for `sizes[row]` values and a few more.
  void lay_out(std::span<const std::uint32_t> sizes) {
    used_ = 0;
    holes_ = 0;
    for (std::size_t row = 0; row < extents_.size(); ++row) {
      const std::uint32_t room = sizes[row] == 0 ? 0 : sizes[row] + sizes[row] / 8 + 2;
      extents_[row] = {static_cast<std::uint32_t>(used_), 0, room};
      used_ += room;
    }
    if (cells_.size() < used_) cells_.resize(used_ + used_ / 8);
  }

 private:
  struct Extent {
    std::uint32_t begin = 0;
    std::uint32_t size = 0;
    std::uint32_t room = 0;
  };

  void grow(Row row) {
    if (used_ > 1024 && holes_ > used_ / 2) pack();
    Extent& extent = extents_[row];
    const std::uint32_t room = std::max(4U, extent.room * 2);
    if (cells_.size() < used_ + room) cells_.resize(std::max(cells_.size() * 2, used_ + room));
    std::copy_n(cells_.begin() + extent.begin, extent.size, cells_.begin() + offset(used_));
    holes_ += extent.room;
    extent.begin = static_cast<std::uint32_t>(used_);
    extent.room = room;
    used_ += room;
  }

  void pack() {
    std::vector<T> packed(cells_.size());
    std::size_t end = 0;
    for (Extent& extent : extents_) {
      std::copy_n(cells_.begin() + extent.begin, extent.size, packed.begin() + offset(end));
      extent.begin = static_cast<std::uint32_t>(end);
      end += extent.room;
    }
    cells_.swap(packed);
    used_ = end;
    holes_ = 0;
  }

  static std::ptrdiff_t offset(std::size_t cell) { return static_cast<std::ptrdiff_t>(cell); }

  std::vector<Extent> extents_;
  std::vector<T> cells_;
  std::size_t used_ = 0;   ///< cells given to rows, and holes
  std::size_t holes_ = 0;  ///< cells that rows have left behind
};

}  // namespace heddle::sim
