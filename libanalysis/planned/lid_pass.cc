#include "planned/lid_pass.h"

#include <algorithm>

namespace heddle::planned {

using routing::Hop;
using routing::SwitchGraph;
using routing::SwitchIndex;
using routing::Target;

Steps::Steps(const SwitchGraph& graph, const routing::Ranks& ranks, const routing::LinkSet& usable) {
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    for (const Hop& hop : graph.hops(SwitchIndex{s}))
      ports_ = std::max<std::size_t>(ports_, hop.out.raw() + 1U);
  }
  steps_.resize(graph.size() * ports_);
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    for (const Hop& hop : graph.hops(SwitchIndex{s})) {
      if (!usable.contains(hop.link)) continue;
      steps_[s * ports_ + hop.out.raw()] = {ranks.above(SwitchIndex{s}, hop.peer) ? Way::Down : Way::Up,
                                            hop.peer.raw()};
    }
  }
}

LidPass::LidPass(const SwitchGraph& graph, const Steps& steps, const routing::Mends& mends)
    : now(graph.size()),
      wanted(graph.size()),
      next(graph.size()),
      steps_{steps},
      mends_{mends},
      works_(graph.size()),
      works_next_(graph.size()),
      mended_(graph.size()) {}

LidPass::Answer LidPass::make(const Target& target) {
  next = now;
  for (const routing::Mends::Mend& mend : mends_.to(mended_for_)) mended_[mend.at.raw()] = 0;
  mended_for_ = target.at;
  for (const routing::Mends::Mend& mend : mends_.to(mended_for_)) mended_[mend.at.raw()] = 1;
  find_working(target);
  bool repairs = false;
  for (std::uint32_t s = 0; s < now.size(); ++s)
    repairs = repairs || (works_[s] == No && now[s] != wanted[s]);
  if (!repairs) return Answer::NeedsStages;
  repair_where_ways_end(target);
  if (any_mixture_is_safe(target)) return Answer::Repaired;
  return empty_what_is_broken() ? Answer::Repaired : Answer::NeedsStages;
}

bool LidPass::only_what_works(const Target& target) {
  find_working(target);
  return empty_what_is_broken();
}

bool LidPass::empty_what_is_broken() {
  bool emptied = false;
  for (std::uint32_t s = 0; s < now.size(); ++s) {
    next[s] = works_[s] == No ? no_path.raw() : now[s];
    emptied = emptied || next[s] != now[s];
  }
  return emptied;
}

/// Finds by switch whether its way leads there by these entries. What one becomes that does not, and all on
/// its way whose end was not known before (path_), `lost` says.
template <class Lost>
void LidPass::follow(const Target& target, const std::vector<std::uint8_t>& entries,
                     std::vector<Works>& found, Lost lost) {
  std::fill(found.begin(), found.end(), Unknown);
  for (std::uint32_t s = 0; s < entries.size(); ++s) {
    path_.clear();
    std::uint32_t at = s;
    Works end = Unknown;
    while (end == Unknown) {
      if (found[at] != Unknown) {
        end = found[at] == BeingFollowed ? No : found[at];  // in a circle
        break;
      }
      found[at] = BeingFollowed;
      path_.push_back(at);
      const Step step = steps_.of(target, at, entries[at]);
      if (step.way == Way::None) end = No;
      if (step.way != Way::None && step.next == nowhere) end = Yes;
      if (end == Unknown) at = step.next;
    }
    if (end == No) end = lost();
    for (const std::uint32_t each : path_) found[each] = end;
  }
}

void LidPass::find_working(const Target& target) {
  follow(target, now, works_, [] { return No; });
}

void LidPass::repair_where_ways_end(const Target& target) {
  for (std::uint32_t s = 0; s < now.size(); ++s) {
    if (works_[s] == No && wanted[s] == no_path.raw()) next[s] = wanted[s];
  }
  while (repair_ends(target)) {
  }
}

/// Of the ways by the entries that are next which lead nowhere, or round, the last entry that is not as
/// wanted yet becomes so; what leads there is followed once more. Whether there was any.
bool LidPass::repair_ends(const Target& target) {
  bool any = false;
  follow(target, next, works_next_, [&] {
    const auto last = std::find_if(path_.rbegin(), path_.rend(),
                                   [this](std::uint32_t each) { return next[each] != wanted[each]; });
    if (last == path_.rend()) return No;
    next[*last] = wanted[*last];
    any = true;
    return Changed;
  });
  return any;
}

bool LidPass::any_mixture_is_safe(const Target& target) const {
  for (std::uint32_t s = 0; s < now.size(); ++s) {
    for (const std::uint8_t port : {now[s], next[s]}) {
      const Step step = steps_.of(target, s, port);
      if (step.way == Way::None || step.next == nowhere) continue;
      if (mended_[s] == 0 && mended_[step.next] != 0) return false;
      if (step.way == Way::Down && !goes_on_safely(target, s, step.next)) return false;
    }
  }
  return true;
}

bool LidPass::goes_on_safely(const Target& target, std::uint32_t s, std::uint32_t over) const {
  for (const std::uint8_t port : {now[over], next[over]}) {
    const Step step = steps_.of(target, over, port);
    if (step.way != Way::Up) continue;
    if (mended_[s] == 0 || !mends_.turns(SwitchIndex{s}, SwitchIndex{over}, SwitchIndex{step.next}))
      return false;
  }
  return true;
}

}  // namespace heddle::planned
