/// The counters of all ports as their PMAs show them: what the data plane counted, less what was there at the
/// last reset, and the error counters. The 32-bit and the 64-bit set are reset apart, errors and XmitWait
/// together (IBA 16.1.3.5, 16.1.4.11).
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/counter_source.h"
#include "sim/faults.h"
#include "sim/options.h"
#include "sim/phy.h"

namespace heddle::sim {

class Counters {
 public:
  enum class Set : std::uint8_t { Narrow, Wide };
  using Errors = std::array<std::uint64_t, error_counter_count>;
  using Details = std::array<std::uint64_t, error_detail_count>;

  /// Units of 4 bytes that a MAD of 256 bytes with its headers takes on the wire.
  static constexpr std::uint64_t management_packet_data = 72;

  Counters(std::size_t ports, const Options& options);

  void set_source(CounterSource* source) { source_ = source; }
  [[nodiscard]] CounterSource* source() const { return source_; }

  /// Since the reset of this set, 64 bits wide.
  [[nodiscard]] PortTotals read(PortIndex port, Set set, Picoseconds now) const;
  /// From here on read() of this set counts on from `value`.
  void write(PortIndex port, Set set, const PortTotals& value, Picoseconds now);

  /// Discards of the data plane included.
  [[nodiscard]] Errors errors(PortIndex port, const PortTotals& value, Picoseconds now) const;
  void add_errors(PortIndex port, ErrorCounter counter, std::uint64_t count);
  /// Its counter with it.
  void add_detail(PortIndex port, ErrorDetail detail, std::uint64_t count);
  [[nodiscard]] Details details(PortIndex port) const;
  void set_error(PortIndex port, ErrorCounter counter, std::uint64_t value, Picoseconds now);

  void count_management(PortIndex from, PortIndex to);
  [[nodiscard]] Phy& phy() { return phy_; }

  /// As after power-on.
  void clear(PortIndex port, Picoseconds now);

 private:
  struct Management {
    std::uint64_t xmit = 0;
    std::uint64_t rcv = 0;
  };

  [[nodiscard]] PortTotals raw(PortIndex port, Picoseconds now) const;
  Errors& own_errors(PortIndex port);

  CounterSource* source_ = nullptr;
  std::size_t ports_;
  std::array<std::vector<PortTotals>, 2> bases_;  ///< by Set, then port; empty until the first reset
  std::vector<std::uint32_t> error_slots_;        ///< by port: 1 + position in errors_; empty until needed
  std::vector<Errors> errors_;
  std::unordered_map<PortIndex, Details> details_;  ///< of ports that have any
  Phy phy_;
  std::vector<Management> management_;  ///< empty unless they are counted
};

}  // namespace heddle::sim
