/// Quantities carry their unit in the type.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <ratio>

namespace heddle {

/// A real quantity of one unit: adds with itself, scales by numbers, divides by itself to a number.
template <class Tag>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double value) noexcept : value_{value} {}
  [[nodiscard]] constexpr double value() const noexcept { return value_; }

  friend constexpr auto operator<=>(Quantity, Quantity) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity{a.value_ + b.value_}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity{a.value_ - b.value_}; }
  friend constexpr Quantity operator*(Quantity a, double k) { return Quantity{a.value_ * k}; }
  friend constexpr Quantity operator*(double k, Quantity a) { return Quantity{a.value_ * k}; }
  friend constexpr Quantity operator/(Quantity a, double k) { return Quantity{a.value_ / k}; }
  friend constexpr double operator/(Quantity a, Quantity b) { return a.value_ / b.value_; }
  constexpr Quantity& operator+=(Quantity other) {
    value_ += other.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value_ -= other.value_;
    return *this;
  }

 private:
  double value_ = 0;
};

/// Bits per second of data, after the line coding is taken off.
using BitRate = Quantity<struct BitRateTag>;
using Watts = Quantity<struct WattsTag>;
using Joules = Quantity<struct JoulesTag>;
/// A share; 1 is all of it.
using Ratio = Quantity<struct RatioTag>;

/// Picoseconds: exact for every link speed, and 106 days before it overflows.
using Picoseconds = std::chrono::duration<std::int64_t, std::pico>;

/// The clock of a fabric: real and monotonic on hardware, simulated in the simulator. Its zero means nothing.
/// It has no now(): time comes in as an argument.
struct FabricClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<FabricClock>;
  static constexpr bool is_steady = true;
};
using Instant = FabricClock::time_point;

[[nodiscard]] constexpr double seconds(FabricClock::duration d) {
  return std::chrono::duration<double>(d).count();
}

}  // namespace heddle
