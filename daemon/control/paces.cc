#include "control/paces.h"

#include <algorithm>

namespace heddle::control {
namespace {

/// By how much a steady pace may vary: a scraper's clock is exact, but its requests wait for their turn.
Paces::Span slack(Paces::Span gap) {
  return std::min<Paces::Span>(gap / 20, std::chrono::milliseconds{500}) + std::chrono::milliseconds{50};
}

/// Whoever asks again sooner is no scraper by that alone.
constexpr std::chrono::seconds shortest{1};

}  // namespace

void Paces::asked(const std::string& key, const Peer& peer, Time at) {
  const std::pair who{key, peer};
  auto it = paces_.find(who);
  if (it == paces_.end()) {
    make_room();
    paces_.emplace(who, Pace{.last = at, .gap = usual, .next = true});
    return;
  }
  Pace& pace = it->second;
  const Span gap = at - std::exchange(pace.last, at);
  const Span before = std::exchange(pace.gap, gap);
  const bool first_gap = !std::exchange(pace.seen, true);
  pace.next = first_gap ? gap >= shortest : std::max(gap, before) - std::min(gap, before) <= slack(before);
}

std::vector<Paces::Due> Paces::due(Time from, Time by) {
  std::vector<Due> due;
  for (auto& [who, pace] : paces_) {
    const Time next = pace.last + pace.gap;
    if (!pace.next || next >= by) continue;
    pace.next = false;
    const Time until = next + slack(pace.gap);
    if (until < from) continue;
    // Keys stand together.
    if (due.empty() || due.back().key != who.first) {
      due.push_back({who.first, until});
    } else {
      due.back().until = std::max(due.back().until, until);
    }
  }
  return due;
}

void Paces::make_room() {
  if (paces_.size() < most_) return;
  paces_.erase(std::ranges::min_element(paces_, {}, [](const auto& each) { return each.second.last; }));
}

}  // namespace heddle::control
