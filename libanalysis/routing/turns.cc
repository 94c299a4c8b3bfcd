#include "routing/turns.h"

#include <algorithm>

namespace heddle::routing {

bool Turns::comes_back_down(SwitchIndex s) const {
  const auto known = comes_back_down_.find(s.raw());
  if (known != comes_back_down_.end()) return known->second;
  std::vector<SwitchIndex> ways_up{s};  // switches that legal paths lead up to from `s`
  std::vector<SwitchIndex> below(graph_.size(), no_switch);
  bool result = false;
  for (std::size_t i = 0; i < ways_up.size() && !result; ++i) {
    const SwitchIndex at = ways_up[i];
    for (const Hop& hop : graph_.hops(at)) {
      if (!ranks_.above(hop.peer, at) || below[hop.peer.raw()] == at) continue;
      result = below[hop.peer.raw()] != no_switch;
      if (result) break;
      below[hop.peer.raw()] = at;
      ways_up.push_back(hop.peer);
    }
  }
  comes_back_down_.emplace(s.raw(), result);
  return result;
}

bool Turns::possible(const Turn& turn) const {
  if (allowed(turn)) return true;
  return full_.distance(turn.to, turn.from) == LegalPaths::far && !refused_.contains(key(turn));
}

bool Turns::allow(std::span<const Turn> turns) {
  std::vector<Turn> taken;
  const auto take = [&](const Turn& turn) {
    if (allowed(turn)) return true;
    if (possible(turn) && allow_one(turn)) {
      taken.push_back(turn);
      return true;
    }
    // It may be refused because of what was taken with it.
    if (taken.empty()) refused_.insert(key(turn));
    return false;
  };
  for (const Turn& turn : turns) {
    if (take(turn) && take({turn.to, turn.over, turn.from})) continue;
    for (const Turn& back : taken) forget(back);
    return false;
  }
  return true;
}

void Turns::keep(std::span<const Turn> turns) {
  for (const Turn& turn : turns) {
    if (exceptional(turn) && possible(turn) && !allowed(turn)) (void)allow_one(turn);
  }
}

bool Turns::allow_one(const Turn& turn) {
  if (closes_a_circle(turn)) return false;
  allowed_.insert(key(turn));
  auto& beside = by_from_[turn.from.raw()];
  if (beside.empty()) froms_.push_back(turn.from);
  beside.push_back(turn);
  return true;
}

void Turns::forget(const Turn& turn) {
  allowed_.erase(key(turn));
  auto& beside = by_from_[turn.from.raw()];
  std::erase_if(beside, [&](const Turn& each) { return key(each) == key(turn); });
  if (beside.empty()) std::erase(froms_, turn.from);
}

bool Turns::closes_a_circle(const Turn& turn) const {
  std::unordered_set<std::uint64_t> seen;
  std::vector<Turn> open{turn};
  while (!open.empty()) {
    const Turn at = open.back();
    open.pop_back();
    if (leads(at, turn)) return true;
    for (const SwitchIndex from : froms_) {
      if (from != at.to && full_.distance(at.to, from) == LegalPaths::far) continue;
      for (const Turn& next : by_from_[from.raw()]) {
        if (leads(at, next) && seen.insert(key(next)).second) open.push_back(next);
      }
    }
  }
  return false;
}

}  // namespace heddle::routing
