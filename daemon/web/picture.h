/// What the map shows of one sweep, in the whole numbers that viewers are sent, and the difference between
/// two such pictures as text. Pure.
///
/// A direction of a link has the number 2 * link + 0 from end a, + 1 from end b. Utilization and congestion
/// are in thousandths, locality likewise (negative where other people's traffic crosses a set).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "load/history.h"
#include "load/sample.h"

namespace heddle::web {

using Column = std::vector<std::int64_t>;

/// What a column holds for a figure that nobody knows.
inline constexpr std::int64_t unknown_ratio = -1;
inline constexpr std::int64_t unknown_locality = -2000;

struct Picture {
  Column utilization;  ///< by direction
  Column congestion;   ///< by direction
  Column errors;       ///< by direction: counted so far at the port that it leaves
  Column state;        ///< by link: PortState of the lower end
  Column locality;     ///< by set, of its total
};

/// Of the fabric's links and sets, with nothing known.
[[nodiscard]] Picture blank_picture(const load::Sample& like);
[[nodiscard]] Picture picture_of(const load::Sample& sample);
/// Utilization and congestion of an earlier sweep, at its place in `history` (0: the oldest kept); what is
/// not kept is unknown.
[[nodiscard]] Picture picture_of(const load::Sample& like, const load::History& history, std::size_t place);

/// The entries of `to` that differ from `shown` by at least `least`: pairs of the distance from the entry
/// before and the difference. Takes them over into `shown`. Precondition: the columns are of one length.
[[nodiscard]] std::string difference(Column& shown, const Column& to, std::int64_t least = 1);

/// The smallest difference to be shown so that the texts of utilization and congestion take about `bytes` at
/// most (it goes by the average distance between entries); 1 shows everything.
[[nodiscard]] std::int64_t fitting_difference(const Picture& shown, const Picture& to, std::size_t bytes);

}  // namespace heddle::web
