/// What the map shows of one sweep, in the whole numbers that viewers are sent, and the difference between
/// two such pictures as text. Pure.
///
/// A direction of a link has the number 2 * link + 0 from end a, + 1 from end b. Utilization and congestion
/// are in thousandths, locality likewise (negative where other people's traffic crosses a set). Power, drift
/// and bit errors are as they stand, whatever sweep the rest is of (web/standing.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "load/history.h"
#include "load/locality.h"
#include "load/sample.h"

namespace heddle::web {

using Column = std::vector<std::int64_t>;

/// What a column holds for a figure that nobody knows.
inline constexpr std::int64_t unknown_ratio = -1;
inline constexpr std::int64_t unknown_locality = -2000;

inline constexpr std::int64_t unknown_drift = -1;
inline constexpr std::int64_t unknown_bits = -1;

struct Picture {
  Column utilization;  ///< by direction
  Column congestion;   ///< by direction
  Column errors;       ///< by direction: counted so far at the port that it leaves
  Column state;        ///< by link: PortState of the lower end
  Column locality;     ///< by set, of its total
  Column power;        ///< by link: PowerState
  Column drift;        ///< by direction, of the port that it leaves: Drift
  Column bits;         ///< by direction, as counted where it comes in: bit_errors_shown()
};

/// Of the fabric's links and sets, with nothing known.
[[nodiscard]] Picture blank_picture(const load::Sample& like);
[[nodiscard]] Picture picture_of(const load::Sample& sample);
/// Of an earlier sweep, at its place in `history` (0: the oldest kept); what is not kept is unknown. Locality
/// by the utilizations, of `sets`, if they are there.
[[nodiscard]] Picture picture_of(const load::Sample& like, const load::History& history, std::size_t place,
                                 const load::LocalitySets* sets = nullptr);

/// The entries of `to` that differ from `shown` by at least `least`: pairs of the distance from the entry
/// before and the difference. Takes them over into `shown`. Precondition: the columns are of one length.
[[nodiscard]] std::string difference(Column& shown, const Column& to, std::int64_t least = 1);

/// The smallest difference to be shown so that the texts of utilization and congestion take about `bytes` at
/// most (it goes by the average distance between entries); 1 shows everything.
[[nodiscard]] std::int64_t fitting_difference(const Picture& shown, const Picture& to, std::size_t bytes);

}  // namespace heddle::web
