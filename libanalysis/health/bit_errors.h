/// Bit error rates of the direction that comes in at each port, over two windows that slide: raw, before
/// errors are corrected, and effective, after it. With PAM4 (HDR and later) raw errors never cease and mean
/// nothing; what could not be corrected is what counts (NVIDIA/NVSentinel#642).
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "health/finding.h"
#include "health/options.h"
#include "health/phy_reading.h"
#include "health/sliding.h"

namespace heddle::health {

/// None: not known. Of a code word that could not be corrected one bit is counted, of one that was, each
/// symbol that was wrong: both are lower bounds.
struct BitErrorRates {
  std::optional<double> raw;
  std::optional<double> effective;
};

struct PortBitErrors {
  PortRef port;
  BitErrorRates window;
  BitErrorRates long_window;
  std::uint64_t uncorrectable = 0;       ///< in the window
  std::uint64_t uncorrectable_long = 0;  ///< in the long one
};

/// Each rate of the window in which it is higher; one that is known in neither is not known.
[[nodiscard]] inline BitErrorRates worse_window(const PortBitErrors& port) {
  // None is less than any rate.
  return {std::max(port.window.raw, port.long_window.raw),
          std::max(port.window.effective, port.long_window.effective)};
}

class BitErrorWatch {
 public:
  explicit BitErrorWatch(const Options& options);

  void on_round(const PhyRound& round);
  /// `since` is not filled in.
  [[nodiscard]] const std::vector<Finding>& findings() const { return findings_; }
  /// Of every port that was read in the last round; shared, since others look at it later.
  [[nodiscard]] const std::shared_ptr<const std::vector<PortBitErrors>>& ports() const { return ports_; }

 private:
  enum : std::size_t { Corrected, Uncorrectable, Kinds };
  struct Port {
    Sliding<Kinds> windows;
    std::uint64_t corrected = 0;
    std::uint64_t uncorrectable = 0;
    Instant first{};  ///< reading; none before
    Instant last{};
    bool read = false;
    bool corrected_full = false;
    bool uncorrectable_full = false;
  };

  void take(Port& port, const PhyReading& reading);
  [[nodiscard]] PortBitErrors rates_of(const Port& port, PortIndex index) const;
  void judge(const PortBitErrors& port, PortIndex index);

  Options options_;
  StepClock clock_;
  std::shared_ptr<const Fabric> fabric_;
  std::vector<Port> by_port_;  ///< by PortIndex of fabric_
  std::shared_ptr<const std::vector<PortBitErrors>> ports_;
  std::vector<Finding> findings_;
};

}  // namespace heddle::health
