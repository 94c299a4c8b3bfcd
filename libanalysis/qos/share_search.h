/// Finds the packet counts that come closest to wanted shares: the part of the design that has a proof.
///
/// All packets have one size. A round of the high table sends high[i] packets of class i, a round of the low
/// table low[j] packets in `low_entries` grants, and between two grants the high table sends `stride`
/// packets. So, whatever the order of the entries, the low table's part is f = U / (U + stride x entries) for
/// grants of an entry (U the sum of low), or 1 / (1 + stride) for grants of a packet; class shares are (1 -
/// f) high[i] / sum(high) and f low[j] / U. The search is complete: totals are cut off only where a lower
/// bound says that no split of them is better.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "qos/iba_arbiter.h"

namespace heddle::qos {

struct Stride {
  HighLimit limit;
  std::uint32_t packets = 0;  ///< high packets from one grant to the next
};

/// What is looked at before a search is called incomplete.
struct SearchEffort {
  std::uint64_t pairs = 200'000;  ///< of a high total and a low side
  std::uint64_t ties = 20'000;    ///< of those, with the error that was found
  std::size_t lows = 200'000;     ///< low sides
};
/// Of some milliseconds.
inline constexpr SearchEffort brief_search{.pairs = 2'000, .ties = 200, .lows = 5'000};

struct ShareProblem {
  std::vector<double> high;  ///< wanted shares; all together sum to 1
  std::vector<double> low;
  std::uint32_t high_entries = max_entries;
  std::uint32_t low_entries = max_entries;
  std::uint32_t entry_packets = 255;  ///< most packets of one entry
  std::vector<Stride> strides;
  LowGrant grant = LowGrant::Entry;
  double most_error = 1;  ///< of use
  SearchEffort effort;
};

struct Counts {
  std::vector<std::uint32_t> high;
  std::vector<std::uint32_t> low;
  std::uint32_t low_entries = 0;  ///< 0: no low table
  Stride stride;
  double low_part = 0;  ///< of the link
  double error = 0;     ///< largest |share - wanted|
};

/// What else is asked for. Both are pure.
struct Acceptance {
  /// Whether counts can be had; asked for counts that would be the best so far.
  std::function<bool(const Counts&)> counts;
  /// Whether any counts with this low side (`high` is empty, `error` unknown) may be had.
  std::function<bool(const Counts&)> low_side;
};

struct ShareSearch {
  std::vector<Counts>
      best;  ///< of equal error, by how short their distances may be; not all of them if there are many
  bool complete = true;    ///< no counts that are accepted have a smaller error
  bool all_listed = true;  ///< `best` holds all that have this error
};

/// Precondition: high is not empty, as many entries as classes.
[[nodiscard]] ShareSearch search_shares(const ShareProblem& problem, const Acceptance& accept);

/// No arrangement of these counts has a smaller largest distance.
[[nodiscard]] std::uint64_t least_distance(const ShareProblem& problem, const Counts& counts);

}  // namespace heddle::qos
