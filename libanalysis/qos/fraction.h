/// An exact share. Kept reduced; both parts fit 64 bits for every table that a port can hold.
#pragma once

#include <bit>
#include <cstdint>
#include <numeric>
#include <utility>

namespace heddle::qos {

__extension__ using Wide = unsigned __int128;

struct Fraction {
  std::uint64_t num = 0;
  std::uint64_t den = 1;

  [[nodiscard]] double value() const { return static_cast<double>(num) / static_cast<double>(den); }
  friend bool operator==(const Fraction&, const Fraction&) = default;
};

[[nodiscard]] inline Wide gcd_wide(Wide a, Wide b) {
  while (b != 0) {
    if (a <= ~std::uint64_t{0} && b <= ~std::uint64_t{0}) {
      return std::gcd(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b));
    }
    a = std::exchange(b, a % b);
  }
  return a;
}

/// num / den in lowest terms; 0/1 for 0/0. Parts beyond 64 bits lose their last bits, both alike.
[[nodiscard]] inline Fraction reduced(Wide num, Wide den) {
  if (num == 0 || den == 0) return {};
  const Wide divisor = gcd_wide(num, den);
  num /= divisor;
  den /= divisor;
  while (den > ~std::uint64_t{0}) {
    num >>= 1U;
    den >>= 1U;
  }
  return {static_cast<std::uint64_t>(num), static_cast<std::uint64_t>(den)};
}

}  // namespace heddle::qos
