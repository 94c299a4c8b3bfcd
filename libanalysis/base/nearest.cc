#include "base/nearest.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace heddle {
namespace {

constexpr std::size_t most_slips = 2;

/// Insertions, deletions and replacements that turn one word into the other (Levenshtein, 1966).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string_view> nearest(std::string_view word, const std::vector<std::string_view>& known) {
  std::optional<std::string_view> best;
  std::size_t least = most_slips + 1;
  for (const std::string_view candidate : known) {
    const std::size_t slips = distance(word, candidate);
    if (slips >= least) continue;
    least = slips;
    best = candidate;
  }
  return best;
}

}  // namespace heddle
