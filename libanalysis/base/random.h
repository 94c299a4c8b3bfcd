/// Seeded random numbers that are the same on every platform and standard library, so that a seed names a
/// run.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace heddle {

/// xoshiro256** 1.0 (Blackman and Vigna, 2018), seeded through SplitMix64. Not for secrets.
class Random {
 public:
  using result_type = std::uint64_t;

  explicit Random(std::uint64_t seed) {
    for (auto& word : state_) {
      seed += 0x9e3779b97f4a7c15ULL;
      std::uint64_t z = seed;
      z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
      z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
      word = z ^ (z >> 31U);
    }
  }

  static constexpr std::uint64_t min() { return 0; }
  static constexpr std::uint64_t max() { return ~std::uint64_t{0}; }

  std::uint64_t operator()() {
    const std::uint64_t result = rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17U;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotl(state_[3], 45);
    return result;
  }

  /// Uniform in [0, bound), without bias (Lemire, 2019). bound > 0.
  std::uint64_t below(std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    Wide product = static_cast<Wide>((*this)()) * bound;
    if (static_cast<std::uint64_t>(product) < bound) {
      const std::uint64_t threshold = (0 - bound) % bound;
      while (static_cast<std::uint64_t>(product) < threshold) {
        product = static_cast<Wide>((*this)()) * bound;
      }
    }
    return static_cast<std::uint64_t>(product >> 64U);
  }

  /// Uniform in [0, 1), 53 bits.
  double unit() { return static_cast<double>((*this)() >> 11U) * 0x1.0p-53; }

  [[nodiscard]] bool chance(double probability) { return unit() < probability; }

  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) {
      std::swap(items[i - 1], items[below(i)]);
    }
  }

 private:
  static constexpr std::uint64_t rotl(std::uint64_t x, unsigned k) { return (x << k) | (x >> (64U - k)); }

  std::uint64_t state_[4];
};

}  // namespace heddle
