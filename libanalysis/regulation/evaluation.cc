#include "regulation/evaluation.h"

#include <algorithm>

#include "regulation/spread.h"

namespace heddle::regulation {
namespace {

/// Switches x LIDs up to which a trial follows every LID: a 16 x 16 torus with two hosts a switch.
constexpr std::size_t most_walked_entries = 150'000;

}  // namespace

Evaluation::Evaluation(const SelectionProblem& problem, const SelectOptions& options)
    : problem_{problem}, options_{options} {
  const Network& network = *problem.network;
  limit_.assign(network.graph().hop_count(), 0);
  ceiling_ = limit_;
  const double u_on = options.thresholds.u_on.value();
  for (std::uint32_t i = 0; i < network.fabric().links().size(); ++i) {
    const LinkIndex link{i};
    if (network.trunk_of(link) == Network::no_trunk) continue;
    for (const std::uint32_t hop : {network.up_hop(link), network.down_hop(link)}) {
      ceiling_[hop] = u_on * network.capacity(link);
      limit_[hop] = (1 - options.margin.value()) * ceiling_[hop];
    }
  }
  u_on_ = ceiling_;
  if (network.graph().size() * network.graph().host_count() > most_walked_entries) model_ = Model::Spread;
  if (model_ == Model::Tables && options.next_plane != options.plane) next_plane_ = options.next_plane;
}

std::optional<std::vector<double>> Evaluation::loads(const routing::LinkSet& active) {
  ++spent_;
  const Network& network = *problem_.network;
  if (model_ == Model::Spread) {
    const routing::LegalPaths paths(network.graph(), network.ranks(), &active);
    if (broken_rule(network, paths, active)) return std::nullopt;
    return spread_loads(network, paths, active, problem_.traffic->matrix);
  }
  (void)problem_.network->tables(active, options_.plane);
  if (broken_rule(network, network.paths(options_.plane), active)) return std::nullopt;
  return table_loads(active);
}

std::vector<double> Evaluation::table_loads(const routing::LinkSet& active) {
  std::vector<double> loads = walk(active, options_.plane, walk_);
  if (!next_plane_) return loads;
  const std::vector<double> next = walk(active, *next_plane_, next_walk_);
  for (std::size_t h = 0; h < loads.size(); ++h) loads[h] = std::max(loads[h], next[h]);
  return loads;
}

std::vector<double> Evaluation::own_loads(const routing::LinkSet& active, const std::vector<double>& loads) {
  if (!next_plane_) return loads;
  return walk(active, options_.plane, walk_);
}

std::vector<double> Evaluation::walk(const routing::LinkSet& active, unsigned plane,
                                     std::optional<TableWalk>& walk) {
  const auto& tables = problem_.network->tables(active, plane);
  if (!walk) walk.emplace(*problem_.network, tables, plane);
  walk->tables_changed();
  return walk->loads(*problem_.traffic);
}

bool Evaluation::fits(const std::vector<double>& loads) const {
  for (std::uint32_t h = 0; h < loads.size(); ++h) {
    if (!fits(h, loads[h])) return false;
  }
  return true;
}

bool Evaluation::bears(const std::vector<double>& loads) const {
  for (std::size_t h = 0; h < loads.size(); ++h) {
    if (loads[h] > ceiling_[h] * (1 + 1e-9)) return false;
  }
  return true;
}

void Evaluation::allow(const std::vector<double>& loads) {
  for (std::size_t h = 0; h < loads.size(); ++h) {
    limit_[h] = std::max(limit_[h], loads[h]);
    ceiling_[h] = std::max(ceiling_[h], loads[h]);
  }
}

void Evaluation::tighten(double part, const std::vector<double>& least) {
  for (std::size_t h = 0; h < limit_.size(); ++h)
    limit_[h] = std::max(part * limit_[h], std::min(least[h], limit_[h]));
}

}  // namespace heddle::regulation
