/// A set of links of one Fabric snapshot: those that may carry traffic.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "fabric/fabric.h"

namespace heddle::routing {

class LinkSet {
 public:
  LinkSet() = default;

  [[nodiscard]] static LinkSet all(std::size_t link_count) {
    LinkSet set;
    set.size_ = link_count;
    set.words_.assign((link_count + 63) / 64, ~std::uint64_t{0});
    if (link_count % 64 != 0) set.words_.back() >>= 64 - link_count % 64;
    return set;
  }
  [[nodiscard]] static LinkSet all(const Fabric& fabric) { return all(fabric.links().size()); }
  [[nodiscard]] static LinkSet none(const Fabric& fabric) {
    LinkSet set;
    set.size_ = fabric.links().size();
    set.words_.assign((set.size_ + 63) / 64, 0);
    return set;
  }

  [[nodiscard]] bool contains(LinkIndex link) const {
    return (words_[link.raw() / 64] >> (link.raw() % 64) & 1U) != 0;
  }
  void insert(LinkIndex link) { words_[link.raw() / 64] |= std::uint64_t{1} << (link.raw() % 64); }
  void erase(LinkIndex link) { words_[link.raw() / 64] &= ~(std::uint64_t{1} << (link.raw() % 64)); }
  /// All links of the other set, which is of the same snapshot.
  [[nodiscard]] bool contains(const LinkSet& others) const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      if ((others.words_[w] & ~words_[w]) != 0) return false;
    }
    return true;
  }
  void erase(const LinkSet& others) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= ~others.words_[w];
  }

  /// How many links the snapshot has, in the set or not.
  [[nodiscard]] std::size_t universe() const { return size_; }
  [[nodiscard]] std::size_t count() const {
    std::size_t n = 0;
    for (const std::uint64_t word : words_) n += static_cast<std::size_t>(std::popcount(word));
    return n;
  }

  /// Calls `f(LinkIndex)` for each link that is in exactly one of the two sets, in ascending order.
  template <class F>
  static void for_each_difference(const LinkSet& x, const LinkSet& y, F&& f) {
    for (std::size_t w = 0; w < x.words_.size(); ++w) {
      for (std::uint64_t word = x.words_[w] ^ y.words_[w]; word != 0; word &= word - 1) {
        f(LinkIndex{static_cast<std::uint32_t>(w * 64 + static_cast<std::size_t>(std::countr_zero(word)))});
      }
    }
  }

  friend bool operator==(const LinkSet&, const LinkSet&) = default;

 private:
  std::size_t size_ = 0;
  std::vector<std::uint64_t> words_;
};

}  // namespace heddle::routing
