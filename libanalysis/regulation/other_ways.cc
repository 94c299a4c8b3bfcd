#include "regulation/other_ways.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "regulation/trunk_policy.h"

namespace heddle::regulation {

OtherWays::OtherWays(const SelectionProblem& problem)
    : problem_{problem}, lacks_(problem.network->graph().size()) {}

void OtherWays::find_trunks() {
  up_from_.resize(lacks_.size());
  down_from_.resize(lacks_.size());
  const auto& trunks = problem_.network->trunks();
  for (std::uint32_t t = 0; t < trunks.size(); ++t) {
    up_from_[trunks[t].lower.raw()].push_back(t);
    down_from_[trunks[t].upper.raw()].push_back(t);
  }
}

void OtherWays::lacks(routing::SwitchIndex lower, double bits, const std::string& reason) {
  Lack& lack = lacks_[lower.raw()];
  lack.bits += bits;
  if (lack.reason.empty()) lack.reason = reason;
}

std::vector<LinkDecision> OtherWays::bring(std::vector<std::uint8_t> taken, Reach reach) {
  if (std::ranges::none_of(lacks_, [](const Lack& lack) { return lack.bits > 0; })) return {};
  taken_ = std::move(taken);
  find_trunks();
  // From the top: what a switch cannot have is what those below it lack.
  for (const routing::SwitchIndex at : problem_.network->ranks().order()) {
    bring_ways_up(at);
    if (reach == Reach::Anywhere) pass_on(at);
  }
  if (reach == Reach::Anywhere) bring_any();
  return std::move(brought_);
}

void OtherWays::bring(const std::vector<LinkIndex>& links, Lack& lack, const char* what) {
  for (const LinkIndex link : quickest_first(problem_, links)) {
    if (lack.bits <= 0) return;
    if (taken_[link.raw()] != 0 || !problem_.available->contains(link) || problem_.current->contains(link))
      continue;
    taken_[link.raw()] = 1;
    lack.bits -= problem_.network->capacity(link);
    brought_.push_back(
        {link, Turn::On, power::mode_of(problem_.network->fabric().link(link)), what + (": " + lack.reason)});
  }
}

void OtherWays::bring_ways_up(routing::SwitchIndex at) {
  for (const std::uint32_t t : up_from_[at.raw()])
    bring(problem_.network->trunks()[t].links, lacks_[at.raw()], "another way up beside a trunk");
}

void OtherWays::bring_any() {
  if (nowhere_.bits <= 0) return;
  for (const Trunk& trunk : problem_.network->trunks())
    bring(trunk.links, nowhere_, "another way round a trunk");
}

double OtherWays::trunk_load_of(const Trunk& trunk) const {
  const double load = trunk_load(problem_, trunk).busiest;
  return std::isnan(load) ? 0 : load;
}

/// To those whose traffic it is, by what they send and get through this switch.
void OtherWays::pass_on(routing::SwitchIndex at) {
  Lack& lack = lacks_[at.raw()];
  if (lack.bits <= 0) return;
  double all = 0;
  for (const std::uint32_t t : down_from_[at.raw()]) all += trunk_load_of(problem_.network->trunks()[t]);
  if (all <= 0) {
    nowhere_.bits += lack.bits;
    if (nowhere_.reason.empty()) nowhere_.reason = lack.reason;
    return;
  }
  for (const std::uint32_t t : down_from_[at.raw()]) {
    const Trunk& trunk = problem_.network->trunks()[t];
    lacks(trunk.lower, lack.bits * trunk_load_of(trunk) / all, lack.reason);
  }
}

}  // namespace heddle::regulation
