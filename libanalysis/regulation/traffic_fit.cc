#include "regulation/traffic_fit.h"

#include <algorithm>
#include <cmath>

namespace heddle::regulation {

using routing::HopMap;
using routing::SwitchIndex;
using routing::TargetKind;

namespace {

/// Visits of an entry, in all passes together: some 10 ms.
constexpr std::size_t most_visits = 2'000'000;
/// Passes after which progress is judged.
constexpr unsigned stretch = 10;

}  // namespace

TrafficFit::TrafficFit(const Network& network, std::span<const double> sent, std::span<const double> received,
                       const TrafficMatrix& matrix)
    : network_{network}, hops_{network.graph()} {
  const auto n = static_cast<std::uint32_t>(matrix.size());
  for (std::uint32_t s = 0; s < n; ++s) {
    for (std::uint32_t d = 0; d < n; ++d) {
      if (s != d && matrix.at(s, d) > 0) pairs_.push_back({s, d, matrix.at(s, d)});
    }
  }
  for (const auto& sums : {sent, received}) {
    for (std::uint32_t i = 0; i < n; ++i)
      rows_.push_back({sums[i], 0, network.graph().hosts_at(network.host_switches()[i]) != 1});
  }
}

void TrafficFit::observe(const Observation& seen, std::span<const double> share) {
  const auto& graph = network_.graph();
  const auto first_row = static_cast<std::uint32_t>(rows_.size());
  for (const double load : seen.loads->hop) rows_.push_back({load, 0, false});
  Crossing& crossing = crossings_.emplace_back();
  for (const Pair& pair : pairs_) {
    const SwitchIndex to = network_.host_switches()[pair.to];
    for (const std::uint32_t t : graph.targets_at(to)) {
      const routing::Target& target = graph.targets()[t];
      if (target.kind != TargetKind::Host || share[t] <= 0) continue;
      const unsigned step = network_.planes();
      const unsigned begin = seen.plane % target.lid_count();
      const unsigned lids = (target.lid_count() - begin + step - 1) / step;
      for (unsigned i = begin; i < target.lid_count(); i += step) {
        const Lid lid{static_cast<std::uint16_t>(target.base.raw() + i)};
        std::uint32_t at = network_.host_switches()[pair.from].raw();
        for (std::size_t steps = 0; at != to.raw() && steps < graph.size(); ++steps) {
          const std::uint32_t hop = hops_.hop(at, seen.tables->port(SwitchIndex{at}, lid).raw());
          if (hop == HopMap::none) break;
          if (!std::isnan(seen.loads->hop[hop]))
            crossing.entries.push_back({first_row + hop, static_cast<float>(share[t] / lids)});
          at = hops_.peer(hop);
        }
      }
    }
    crossing.first.push_back(static_cast<std::uint32_t>(crossing.entries.size()));
  }
}

void TrafficFit::cap() {
  std::vector<Pair> kept;
  std::vector<Crossing> crossings(crossings_.size());
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    Pair pair = pairs_[p];
    for (const Crossing& crossing : crossings_) {
      for (const Entry& entry : crossing.of(p)) {
        pair.rate = std::min(pair.rate, rows_[entry.row].measured / static_cast<double>(entry.weight));
      }
    }
    if (pair.rate <= 0) continue;
    kept.push_back(pair);
    for (std::size_t c = 0; c < crossings.size(); ++c) {
      const auto entries = crossings_[c].of(p);
      crossings[c].entries.insert(crossings[c].entries.end(), entries.begin(), entries.end());
      crossings[c].first.push_back(static_cast<std::uint32_t>(crossings[c].entries.size()));
    }
  }
  pairs_ = std::move(kept);
  crossings_ = std::move(crossings);
}

void TrafficFit::expect() {
  for (Row& row : rows_) row.expected = 0;
  const std::size_t n = network_.host_switches().size();
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    const Pair& pair = pairs_[p];
    rows_[pair.from].expected += pair.rate;
    rows_[n + pair.to].expected += pair.rate;
    for (const Crossing& crossing : crossings_) {
      for (const Entry& entry : crossing.of(p))
        rows_[entry.row].expected += static_cast<double>(entry.weight) * pair.rate;
    }
  }
}

double TrafficFit::wrong(std::size_t first, std::size_t count) const {
  double difference = 0;
  double sum = 0;
  for (const Row& row : std::span(rows_).subspan(first, count)) {
    if (std::isnan(row.measured)) continue;
    sum += row.measured;
    if (!row.is_limit || row.expected > row.measured) difference += std::abs(row.expected - row.measured);
  }
  return sum > 0 ? difference / sum : 0;
}

void TrafficFit::correct() {
  ratio_.assign(rows_.size(), 1);
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const Row& row = rows_[r];
    if (row.expected <= 0 || (row.is_limit && row.expected <= row.measured)) continue;
    ratio_[r] = std::min(row.measured / row.expected, 1e3);
  }
  const std::size_t n = network_.host_switches().size();
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    Pair& pair = pairs_[p];
    double sum = ratio_[pair.from] + ratio_[n + pair.to];
    double weight = 2;
    for (const Crossing& crossing : crossings_) {
      for (const Entry& entry : crossing.of(p)) {
        sum += static_cast<double>(entry.weight) * ratio_[entry.row];
        weight += static_cast<double>(entry.weight);
      }
    }
    pair.rate *= sum / weight;
  }
}

double TrafficFit::run(unsigned passes) {
  std::size_t visits = 2 * pairs_.size();
  for (const Crossing& crossing : crossings_) visits += crossing.entries.size();
  const std::size_t most = std::min<std::size_t>(passes, most_visits / std::max<std::size_t>(1, visits));
  const std::size_t hosts = 2 * network_.host_switches().size();
  double before = 0;
  expect();
  for (std::size_t pass = 0; pass < most; ++pass) {
    const double all = wrong(0, rows_.size());
    if (all < 1e-3 || (pass > 0 && pass % stretch == 0 && all > 0.98 * before)) break;
    if (pass % stretch == 0) before = all;
    correct();
    expect();
  }
  return wrong(hosts, network_.graph().hop_count());
}

void TrafficFit::store(TrafficMatrix& matrix) const {
  matrix = TrafficMatrix{matrix.size()};
  for (const Pair& pair : pairs_) matrix.set(pair.from, pair.to, pair.rate);
}

}  // namespace heddle::regulation
