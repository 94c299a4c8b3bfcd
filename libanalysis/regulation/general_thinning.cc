// From any set, fewer links: those with the least load per watt go first, many at once while that goes well.

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "regulation/general_search.h"

namespace heddle::regulation {

using routing::LinkSet;

namespace {

/// Links that are tried together at first.
constexpr std::size_t first_batch = 8;
/// Entries that all trials may follow: about a second.
constexpr double most_followed = 2e8;
constexpr unsigned trials_per_effort = 5;
/// What a link that is above u_on with all links on may get when others leave, times what it has then: half
/// of what estimates may be wrong by. Everything that leaves anywhere moves some thousandths of such loads.
constexpr double a_little_more = 1.05;

}  // namespace

void GeneralSearch::thin_out(Found& found) {
  const std::vector<double> before = let_be(found.loads);
  std::vector<std::uint8_t> stays(watts_.size(), 0);
  std::vector<LinkIndex> candidates = least_loaded_first(found, stays);
  std::size_t size = first_batch;
  for (unsigned trials = thinning_trials(); trials > 0 && !candidates.empty(); --trials) {
    size = std::min(size, candidates.size());
    const std::span<LinkIndex> batch = std::span(candidates).first(size);
    LinkSet fewer = found.active;
    for (const LinkIndex link : batch) fewer.erase(link);
    auto loads = loads_by_tables(fewer);
    if (loads && no_fuller(*loads, before)) {
      found = {std::move(fewer), std::move(*loads)};
      candidates = least_loaded_first(found, stays);
      size *= 2;
    } else if (size == 1) {
      stays[candidates.front().raw()] = 1;
      candidates.erase(candidates.begin());
    } else {
      if (loads) put_last(batch, switches_at(*loads, before));
      size /= 2;
    }
  }
}

/// What leaves beside a link that gets too full is most often why: the others first.
void GeneralSearch::put_last(std::span<LinkIndex> links, const std::vector<std::uint8_t>& crowded) const {
  std::stable_partition(links.begin(), links.end(), [&](LinkIndex link) {
    const Trunk& trunk = network_.trunks()[network_.trunk_of(link)];
    return crowded[trunk.lower.raw()] == 0 && crowded[trunk.upper.raw()] == 0;
  });
}

unsigned GeneralSearch::thinning_trials() const {
  const auto& graph = network_.graph();
  const double followed = static_cast<double>(graph.size()) * static_cast<double>(graph.host_count());
  return static_cast<unsigned>(
      std::min<double>(trials_per_effort * options_.effort, most_followed / std::max(1.0, followed)));
}

/// What hops may carry besides their limits: these loads, and a little more where no link makes it less.
std::vector<double> GeneralSearch::let_be(std::vector<double> loads) const {
  for (std::uint32_t h = 0; h < loads.size(); ++h) {
    if (evaluation_.is_full_with_all(h))
      loads[h] = std::max(loads[h], a_little_more * evaluation_.ceilings()[h]);
  }
  return loads;
}

/// Nothing where a rule is broken.
std::optional<std::vector<double>> GeneralSearch::loads_by_tables(const LinkSet& active) {
  if (evaluation_.model() == Evaluation::Model::Tables) return evaluation_.loads(active);
  if (broken_rule(network_, active)) return std::nullopt;
  return evaluation_.table_loads(active);
}

/// No link above its limit but by what it was above it before.
bool GeneralSearch::no_fuller(const std::vector<double>& loads, const std::vector<double>& before) const {
  for (std::uint32_t h = 0; h < loads.size(); ++h) {
    if (!evaluation_.fits(h, loads[h]) && loads[h] > before[h] * (1 + 1e-9)) return false;
  }
  return true;
}

/// By switch: whether one of its links is too full.
std::vector<std::uint8_t> GeneralSearch::switches_at(const std::vector<double>& loads,
                                                     const std::vector<double>& before) const {
  std::vector<std::uint8_t> result(ranks_.size(), 0);
  const auto is_full = [&](std::uint32_t h) {
    return !evaluation_.fits(h, loads[h]) && loads[h] > before[h] * (1 + 1e-9);
  };
  for (const Trunk& trunk : network_.trunks()) {
    const bool full = std::ranges::any_of(trunk.links, [&](LinkIndex link) {
      return is_full(network_.up_hop(link)) || is_full(network_.down_hop(link));
    });
    if (full) result[trunk.lower.raw()] = result[trunk.upper.raw()] = 1;
  }
  return result;
}

std::vector<LinkIndex> GeneralSearch::least_loaded_first(const Found& found,
                                                         const std::vector<std::uint8_t>& stays) const {
  std::vector<std::pair<double, LinkIndex>> candidates;
  for (const Trunk& trunk : network_.trunks()) {
    for (const LinkIndex link : trunk.links) {
      if (!found.active.contains(link) || !regulated(link) || stays[link.raw()] != 0) continue;
      const double load = std::max(found.loads[network_.up_hop(link)], found.loads[network_.down_hop(link)]);
      candidates.emplace_back(load / (watts(link) + cages_.darkens(link, found.active)), link);
    }
  }
  std::sort(candidates.begin(), candidates.end());
  std::vector<LinkIndex> links;
  for (const auto& [load, link] : candidates) links.push_back(link);
  return links;
}

}  // namespace heddle::regulation
