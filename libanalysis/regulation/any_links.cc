#include "regulation/any_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "regulation/holding.h"

namespace heddle::regulation {

using routing::LinkSet;

namespace {

/// What may get through less than with all links on, as a share of what is sent: of the sample on average,
/// and of one pattern of it.
constexpr double hardly_less = 0.003;
constexpr double hardly_less_of_one = 0.015;
/// What the search for gravity may reckon with more than that, in steps of this factor.
constexpr double room_step = 1.12;
constexpr unsigned room_steps = 8;
/// What trials of a set without some more may follow (switches x hosts x patterns), all together, some ten
/// seconds, and in one step, some tenths of one.
constexpr double most_entries_followed = 1e11;
constexpr double most_entries_of_a_step = 5e8;
constexpr unsigned most_thinnings = 1000;
/// Of so many, one after the other, none can go: where much is sent, all are needed.
constexpr unsigned most_failed = 200;
/// Likewise, of parts of a choice.
constexpr double most_entries_of_parts = 1.2e9;
constexpr unsigned least_parts = 3;
constexpr unsigned most_parts = 16;
constexpr std::size_t first_thinned = 16;

}  // namespace

AnyLinks::AnyLinks(const SelectionProblem& problem, const SelectOptions& options, const MeasuredLoads& rates,
                   const LinkSet& all)
    : problem_{problem},
      options_{options},
      network_{*problem.network},
      rates_{rates},
      any_{*problem.network, rates},
      limit_(network_.graph().hop_count(), 0) {
  for (const Trunk& trunk : network_.trunks()) {
    for (const LinkIndex link : trunk.links) {
      for (const std::uint32_t hop : {network_.up_hop(link), network_.down_hop(link)})
        limit_[hop] = options.thresholds.u_on.value() * network_.capacity(link);
    }
  }
  with_all_ = loads_over(all);
  for (const AnyTraffic::Loads& loads : with_all_) {
    for (std::size_t h = 0; h < limit_.size(); ++h) limit_[h] = std::max(limit_[h], loads.mean[h]);
  }
}

AnyLinks::Loads AnyLinks::loads_over(const LinkSet& active) {
  std::vector<unsigned> planes{options_.plane};
  if (options_.next_plane && *options_.next_plane != options_.plane) planes.push_back(*options_.next_plane);
  Loads result;
  for (std::size_t p = 0; p < planes.size(); ++p) {
    if (tried_.size() == p) tried_.emplace_back(planes[p]);
    result.push_back(tried_[p].loads(any_, problem_.network->tables(active, planes[p])));
  }
  return result;
}

bool AnyLinks::is_borne(const Loads& loads) const {
  for (std::size_t p = 0; p < loads.size(); ++p) {
    double sum = 0;
    for (std::size_t i = 0; i < loads[p].shed.size(); ++i) {
      const double more = std::max(0.0, loads[p].shed[i] - with_all_[p].shed[i]);
      if (more > hardly_less_of_one) return false;
      sum += more;
    }
    if (sum > hardly_less * static_cast<double>(loads[p].shed.size())) return false;
    for (std::size_t h = 0; h < limit_.size(); ++h) {
      if (loads[p].mean[h] > limit_[h] * (1 + 1e-9)) return false;
    }
  }
  return true;
}

AnyTraffic::Loads AnyLinks::greater(Loads loads) {
  AnyTraffic::Loads all = std::move(loads.front());
  for (const AnyTraffic::Loads& more : std::span(loads).subspan(1)) {
    for (std::size_t h = 0; h < all.most.size(); ++h) {
      all.mean[h] = std::max(all.mean[h], more.mean[h]);
      if (more.most[h] <= all.most[h]) continue;
      all.most[h] = more.most[h];
      all.most_by[h] = more.most_by[h];
    }
  }
  return all;
}

AnyLinks::Outcome AnyLinks::outcome(const LinkSet& active) {
  AnyTraffic::Loads loads = greater(loads_over(active));
  std::vector<Holding> held = held_over(active, loads);
  return {std::move(loads.most), std::move(held)};
}

/// A link may carry of a pattern what it can, or what it would with all links on.
std::vector<Holding> AnyLinks::held_over(const LinkSet& active, const AnyTraffic::Loads& loads) const {
  std::vector<double> of_mean(limit_.size(), 0);
  std::vector<double> of_one(limit_.size(), 0);
  for (const Trunk& trunk : network_.trunks()) {
    for (const LinkIndex link : trunk.links) {
      for (const std::uint32_t hop : {network_.up_hop(link), network_.down_hop(link)}) {
        double most = network_.capacity(link);
        for (const AnyTraffic::Loads& all : with_all_) most = std::max(most, all.most[hop]);
        of_mean[hop] = loads.mean[hop] / limit_[hop];
        of_one[hop] = loads.most[hop] / most;
      }
    }
  }
  return held(problem_, active, of_mean, of_one, loads.most, [&](const WaysUp& ways) -> std::string {
    if (ways.without_one(ways.first) > 1)
      return fmt::format("on an average of the patterns no link is to carry more than {:.0f} %",
                         100 * options_.thresholds.u_on.value());
    if (ways.without_one(ways.second) > 1)
      return fmt::format("hardly less is to get through than with all links on, of {}",
                         any_.kind(loads.most_by[ways.second.hop]));
    return std::string{nothing_found};
  });
}

std::optional<LinkSet> AnyLinks::choose() {
  while (step()) {
  }
  return best_;
}

bool AnyLinks::step() {
  if (at_ == At::End) return false;
  if (at_ == At::Begin) {
    best_ = *problem_.available;
    high_ = room_steps;
    at_ = At::Room;
  }
  if (candidate_) {
    judge();
    return true;
  }
  if (low_ == high_) {
    at_ == At::Thinning ? thin_out() : begin_thinning();
    return at_ != At::End;
  }
  candidate_ = for_gravity(std::pow(room_step, middle()));
  if (candidate_) return true;
  best_.reset();
  at_ = At::End;
  return false;
}

void AnyLinks::judge() {
  if (bears(*candidate_)) {
    high_ = middle();
    best_ = std::move(candidate_);
  } else {
    low_ = middle() + 1;
  }
  candidate_.reset();
}

/// What links carry at present is of one pattern only, and left out.
std::optional<LinkSet> AnyLinks::for_gravity(double room) const {
  MeasuredLoads loads = rates_;
  for (auto* rates : {&loads.sent, &loads.received}) {
    for (double& rate : *rates) rate *= room;
  }
  loads.hop.assign(network_.graph().hop_count(), std::numeric_limits<double>::quiet_NaN());
  loads.waiting = loads.hop;
  const Traffic traffic = gravity_traffic(network_, loads);
  SelectionProblem problem = problem_;
  problem.loads = &loads;
  problem.traffic = &traffic;
  SelectOptions options = options_;
  options.policy = SelectPolicy::General;
  auto selection = select_links(problem, options);
  if (!selection) return std::nullopt;
  return std::move(selection->active);
}

double AnyLinks::entries_followed() const {
  const auto& graph = network_.graph();
  return static_cast<double>(graph.size()) * static_cast<double>(graph.host_count()) *
         static_cast<double>(std::max<std::size_t>(1, any_.patterns().size()));
}

unsigned AnyLinks::trials_of_parts() const {
  return static_cast<unsigned>(std::clamp(most_entries_of_parts / std::max(1.0, entries_followed()),
                                          double{least_parts}, double{most_parts}));
}

void AnyLinks::begin_thinning() {
  at_ = At::Thinning;
  const double most = most_entries_followed / std::max(1.0, entries_followed());
  thinning_.left = static_cast<unsigned>(std::min<double>(most_thinnings, most));
  thinning_.stays.assign(problem_.exempt.size(), 0);
  thinning_.candidates = least_loaded_first(loads_over(*best_));
  thinning_.at_a_time = first_thinned;
}

void AnyLinks::thin_out() {
  const double most = most_entries_of_a_step / std::max(1.0, entries_followed());
  const auto trials = static_cast<unsigned>(std::max(1.0, std::min<double>(most, thinning_.left)));
  for (unsigned i = 0; i < trials; ++i) {
    if (thinning_.left == 0 || thinning_.candidates.empty() || thinning_.failed == most_failed) {
      at_ = At::End;
      return;
    }
    --thinning_.left;
    try_without_some();
  }
}

/// Many at a time while that goes well. Precondition: best_ bears the sample.
void AnyLinks::try_without_some() {
  Thinning& thinning = thinning_;
  thinning.at_a_time = std::min(thinning.at_a_time, thinning.candidates.size());
  LinkSet fewer = *best_;
  for (const LinkIndex link : std::span(thinning.candidates).first(thinning.at_a_time)) fewer.erase(link);
  const auto loads = broken_rule(network_, fewer) ? std::nullopt : std::optional{loads_over(fewer)};
  if (loads && is_borne(*loads)) {
    best_ = std::move(fewer);
    thinning.candidates = least_loaded_first(*loads);
    thinning.at_a_time *= 2;
    thinning.failed = 0;
  } else if (thinning.at_a_time == 1) {
    thinning.stays[thinning.candidates.front().raw()] = 1;
    thinning.candidates.erase(thinning.candidates.begin());
    ++thinning.failed;
  } else {
    thinning.at_a_time /= 2;
  }
}

std::vector<LinkIndex> AnyLinks::least_loaded_first(const Loads& loads) const {
  const std::vector<double> most = greater(loads).most;
  std::vector<std::pair<double, LinkIndex>> candidates;
  for (const Trunk& trunk : network_.trunks()) {
    for (const LinkIndex link : trunk.links) {
      if (!best_->contains(link) || problem_.exempt[link.raw()] != Exempt::No ||
          thinning_.stays[link.raw()] != 0)
        continue;
      candidates.emplace_back(std::max(most[network_.up_hop(link)], most[network_.down_hop(link)]), link);
    }
  }
  std::ranges::sort(candidates);
  std::vector<LinkIndex> links;
  links.reserve(candidates.size());
  for (const auto& [load, link] : candidates) links.push_back(link);
  return links;
}

}  // namespace heddle::regulation
