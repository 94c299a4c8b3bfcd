/// Splits a total into whole parts that come closest to wanted shares.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace heddle::qos {

struct Apportionment {
  std::vector<std::uint32_t> parts;
  double error = 0;  ///< largest |part x scale - share|
};

/// The best split of `total` into parts of at least 1: least largest |part x scale - share|. Precondition:
/// total is at least the number of shares.
void apportion(const std::vector<double>& shares, std::uint32_t total, double scale, Apportionment& out);

/// Entries that the parts take, `entry_packets` each at most.
[[nodiscard]] std::uint32_t entries_for(const std::vector<std::uint32_t>& parts, std::uint32_t entry_packets);

/// The same in at most `entries` entries, and with an error of at most `most`; none if there is no such
/// split.
[[nodiscard]] std::optional<Apportionment> apportion_within(const std::vector<double>& shares,
                                                            std::uint32_t total, double scale,
                                                            std::uint32_t entries,
                                                            std::uint32_t entry_packets, double most);

/// All splits with an error of at most `most`, but no more than `count` of them.
[[nodiscard]] std::vector<Apportionment> all_apportionments(const std::vector<double>& shares,
                                                            std::uint32_t total, double scale,
                                                            std::uint32_t entries,
                                                            std::uint32_t entry_packets, double most,
                                                            std::size_t count);

}  // namespace heddle::qos
