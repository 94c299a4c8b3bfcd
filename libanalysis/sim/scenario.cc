#include "sim/scenario.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "fabric/source.h"

namespace heddle::sim {
namespace {

struct PatternRow {
  Pattern pattern;
  std::string_view name;
};
constexpr std::array patterns{
    PatternRow{Pattern::Uniform, "uniform"},
    PatternRow{Pattern::AllToAll, "all-to-all"},
    PatternRow{Pattern::Permutation, "permutation"},
    PatternRow{Pattern::BitReversal, "bit-reversal"},
    PatternRow{Pattern::BitComplement, "bit-complement"},
    PatternRow{Pattern::Transpose, "transpose"},
    PatternRow{Pattern::Tornado, "tornado"},
    PatternRow{Pattern::Neighbour, "neighbour"},
    PatternRow{Pattern::Hotspot, "hotspot"},
    PatternRow{Pattern::Incast, "incast"},
    PatternRow{Pattern::Flows, "flows"},
};

}  // namespace

std::string_view to_string(Pattern pattern) { return patterns.at(static_cast<std::size_t>(pattern)).name; }

std::optional<Pattern> pattern(std::string_view name) {
  for (const auto& row : patterns) {
    if (row.name == name) return row.pattern;
  }
  return std::nullopt;
}

double LoadCurve::at(Picoseconds since_start) const {
  if (points.empty() || period.count() <= 0) return points.empty() ? 1 : points.front().second;
  const double x =
      static_cast<double>(since_start.count() % period.count()) / static_cast<double>(period.count());
  const auto after =
      std::find_if(points.begin(), points.end(), [x](const auto& point) { return x < point.first; });
  if (after == points.begin()) return points.front().second;
  if (after == points.end()) return points.back().second;
  const auto& [x0, y0] = *(after - 1);
  const auto& [x1, y1] = *after;
  return y0 + (y1 - y0) * (x - x0) / (x1 - x0);
}

Result<Scenario> load_scenario(const std::string& source) {
  if (source == "demo") return parse_scenario(demo_scenario(), "demo scenario");
  const auto text = read_text_file(source);
  if (!text) return fail(text.error());
  return parse_scenario(*text, source);
}

}  // namespace heddle::sim
