/// The queue that water filling takes from: items by level, lowest first. An item's level may rise while it
/// waits, never fall; the queue asks for it again when its turn comes, so a rise costs nothing until then.
/// Levels are sorted roughly into buckets of 1/256 octave, and finely only in the bucket whose turn it is.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace heddle::sim {

class LevelQueue {
 public:
  struct Entry {
    double level;
    std::uint32_t item;
  };

  /// Items are 0..items-1. Levels above `highest` are served last, in no order.
  void reset(std::size_t items, double highest) {
    first_.fill(end);
    next_.resize(items);
    heap_.clear();
    current_ = 0;
    const std::uint64_t top = std::bit_cast<std::uint64_t>(highest) >> shift;
    base_ = top < bucket_count ? 0 : top - (bucket_count - 2);
  }

  /// Precondition: the item is not in the queue; level >= 0.
  void push(double level, std::uint32_t item) { link(bucket(level), item); }

  /// The item with the lowest level, which leaves the queue. `level_of(item)` is its present level, or less
  /// than 0 if the item is of no interest any more.
  template <class LevelOf>
  std::optional<Entry> pop(LevelOf level_of) {
    for (;;) {
      if (heap_.empty() && !open_next(level_of)) return std::nullopt;
      const Entry top = heap_.front();
      const double level = level_of(top.item);
      if (level > top.level) {
        const std::size_t place = bucket(level);
        if (place == current_) {
          heap_.front().level = level;
          sift();
        } else {
          drop_top();
          link(place, top.item);
        }
        continue;
      }
      drop_top();
      if (level >= 0) return top;
    }
  }

 private:
  static constexpr std::size_t bucket_count = 8192;  // 32 octaves
  static constexpr unsigned shift = 52 - 8;
  static constexpr std::uint32_t end = 0xffffffffU;

  [[nodiscard]] std::size_t bucket(double level) const {
    const std::uint64_t place = std::bit_cast<std::uint64_t>(level) >> shift;
    if (place <= base_) return current_;
    return std::clamp<std::size_t>(place - base_, current_, bucket_count - 1);
  }

  void link(std::size_t place, std::uint32_t item) {
    next_[item] = first_[place];
    first_[place] = item;
  }

  /// Moves the items of the next bucket that has any into the heap.
  template <class LevelOf>
  bool open_next(LevelOf level_of) {
    for (; current_ < bucket_count; ++current_) {
      while (first_[current_] != end) {
        std::uint32_t item = first_[current_];
        first_[current_] = end;
        while (item != end) {
          const std::uint32_t following = next_[item];
          const double level = level_of(item);
          if (level >= 0) {
            const std::size_t place = bucket(level);
            if (place == current_) {
              heap_.push_back({level, item});
            } else {
              link(place, item);
            }
          }
          item = following;
        }
      }
      if (heap_.empty()) continue;
      std::make_heap(heap_.begin(), heap_.end(),
                     [](const Entry& a, const Entry& b) { return a.level > b.level; });
      return true;
    }
    return false;
  }

  void drop_top() {
    heap_.front() = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sift();
  }

  /// Restores the heap after its top was replaced.
  void sift() {
    const std::size_t size = heap_.size();
    const Entry moving = heap_.front();
    std::size_t hole = 0;
    for (std::size_t child = 1; child < size; child = 2 * hole + 1) {
      if (child + 1 < size && heap_[child + 1].level < heap_[child].level) ++child;
      if (moving.level <= heap_[child].level) break;
      heap_[hole] = heap_[child];
      hole = child;
    }
    heap_[hole] = moving;
  }

  std::array<std::uint32_t, bucket_count> first_{};
  std::vector<std::uint32_t> next_;
  std::vector<Entry> heap_;
  std::size_t current_ = 0;
  std::uint64_t base_ = 0;
};

}  // namespace heddle::sim
