/// The last sweeps of every link and direction, for profiles on the page and in reports. Bounded: `depth`
/// sweeps, 4 bytes per port and sweep, and 8 for a port that counted errors in a sweep. A direction is named
/// by the port that it leaves from. Columns belong to PortRefs, so that a change of the fabric moves nothing.
/// One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "fabric/fabric.h"
#include "load/sample.h"

namespace heddle::load {

struct HistoryPoint {
  Instant at;
  float utilization = unknown;
  float congestion = unknown;
};

class History {
 public:
  /// depth > 0.
  explicit History(std::size_t depth);

  /// Keeps the columns of ports that are in `fabric` and have been in the last one, and forgets the others.
  void rebase(std::shared_ptr<const Fabric> fabric);
  /// Of the same fabric as the last rebase().
  void append(const Sample& sample);

  /// Of the last rebase(); null before.
  [[nodiscard]] const std::shared_ptr<const Fabric>& fabric() const { return fabric_; }
  [[nodiscard]] std::size_t depth() const { return depth_; }
  [[nodiscard]] std::size_t sweeps() const { return filled_; }
  [[nodiscard]] std::size_t bytes() const;
  /// Oldest first, at most the last `most` sweeps; empty for a port that never had a cable.
  [[nodiscard]] std::vector<HistoryPoint> profile(PortIndex port, std::size_t most = SIZE_MAX) const;
  /// When the sweeps that are kept ended, oldest first.
  [[nodiscard]] std::vector<Instant> times() const;
  /// What the sweep at this place of times() said of a port.
  [[nodiscard]] HistoryPoint point(std::size_t place, PortIndex port) const;
  /// By PortIndex: errors that had been counted when the sweep at this place of times() ended. As now where
  /// the port was not known yet. Precondition: place < sweeps().
  [[nodiscard]] std::vector<std::uint64_t> errors(std::size_t place) const;

 private:
  [[nodiscard]] std::size_t row_of(std::size_t place) const {
    return (next_ + depth_ - filled_ + place) % depth_;
  }

  /// Fixed point, 1 = `one`; values up to 1.3 fit.
  struct Cell {
    std::uint16_t utilization;
    std::uint16_t congestion;
  };
  static constexpr std::uint32_t no_column = 0xffffffffU;
  static constexpr std::uint64_t never_read = UINT64_MAX;
  struct Growth {
    std::uint32_t column;
    std::uint32_t errors;
  };

  void widen(std::size_t columns);

  std::size_t depth_;
  std::size_t width_ = 0;                   ///< columns
  std::size_t filled_ = 0;                  ///< rows in use
  std::size_t next_ = 0;                    ///< row to be written next
  std::vector<Cell> cells_;                 ///< row by row
  std::vector<Instant> at_;                 ///< by row
  std::vector<std::uint64_t> errors_;       ///< by column, at the last sweep
  std::vector<std::vector<Growth>> grown_;  ///< by row: since the sweep before
  std::shared_ptr<const Fabric> fabric_;
  std::vector<std::uint32_t> column_;  ///< by PortIndex
  std::vector<std::uint32_t> free_;    ///< columns that nobody has; their cells say unknown
};

}  // namespace heddle::load
