/// Integrals of piecewise constant rates over simulated time, exact: rates are integers, so volumes are. A
/// port has a meter for each thing that ever flowed there, and none before.
///
/// Units: a rate counts `1 / rate_unit` of something per second; a volume counts that times picoseconds, so
/// `whole(volume)` divides by rate_unit x 10^12. A rate holds 144 Pbit/s, which is more than all hosts of a
/// fabric send together, and a volume that for 100 days. One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "base/units.h"

namespace heddle::sim {

__extension__ using Volume = unsigned __int128;

class MeterBank {
 public:
  /// Resolution of rates: 2^-6 bit/s, a byte in 9 minutes.
  static constexpr std::uint64_t rate_unit = 1U << 6U;
  static constexpr std::uint64_t picoseconds_per_second = 1'000'000'000'000;

  enum class What : std::uint8_t {
    Data,      ///< bits sent, per VL
    Held,      ///< bits wanted and not sent because of this port, per VL; the integral means nothing
    Wait,      ///< share of time that data of a VL waits (1 is all of it)
    PortWait,  ///< share of time that data waits, all VLs together
    Discard,   ///< bits thrown away because the port is off
  };
  struct Key {
    What what;
    Vl vl;
    friend constexpr bool operator==(Key, Key) = default;
  };

  explicit MeterBank(std::size_t ports) : first_(ports, end) {}

  /// Times of one bank never go back.
  void add(PortIndex port, Key key, std::int64_t rate, Picoseconds now);
  void set(PortIndex port, Key key, std::uint64_t rate, Picoseconds now);

  [[nodiscard]] std::uint64_t rate(PortIndex port, Key key) const;
  [[nodiscard]] Volume volume(PortIndex port, Key key, Picoseconds now) const;

  /// Calls f(key, rate) for every meter of the port.
  template <class F>
  void for_each(PortIndex port, F f) const {
    for (std::uint32_t i = first_[port.raw()]; i != end; i = meters_[i].next)
      f(meters_[i].key, meters_[i].rate);
  }
  /// The same with the volume up to `now`.
  template <class F>
  void for_each(PortIndex port, Picoseconds now, F f) const {
    for (std::uint32_t i = first_[port.raw()]; i != end; i = meters_[i].next) {
      f(meters_[i].key, meters_[i].at(now));
    }
  }

  /// How many times `size` is in the volume, e.g. 32 bits for the units of the data counters.
  [[nodiscard]] static std::uint64_t whole(Volume volume, std::uint64_t size) {
    return static_cast<std::uint64_t>(volume / (Volume{rate_unit} * picoseconds_per_second * size));
  }

 private:
  static constexpr std::uint32_t end = 0xffffffffU;

  struct Meter {
    Volume volume = 0;  ///< up to `since`
    std::uint64_t rate = 0;
    std::int64_t since = 0;  ///< picoseconds
    std::uint32_t next = end;
    Key key{};

    [[nodiscard]] Volume at(Picoseconds now) const {
      return volume + Volume{rate} * static_cast<std::uint64_t>(now.count() - since);
    }
  };

  [[nodiscard]] const Meter* find(PortIndex port, Key key) const;
  Meter& meter(PortIndex port, Key key, Picoseconds now);

  std::vector<std::uint32_t> first_;  ///< per port, a chain through `next`
  std::vector<Meter> meters_;
};

}  // namespace heddle::sim
