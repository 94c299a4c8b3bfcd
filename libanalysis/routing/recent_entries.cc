#include "routing/recent_entries.h"

#include <algorithm>

namespace heddle::routing {

void RecentEntries::replaced(Lid lid, NodeGuid sw, PortNum port, Instant asked, Instant now) {
  if (unknown_until_ != Instant::min()) {
    unknown_until_ = std::max(unknown_until_, now);
    return;
  }
  if (count_ == most) {
    by_lid_.clear();
    count_ = 0;
    unknown_until_ = now;
    return;
  }
  Entry gone{sw, port, since(lid, sw), now, asked};
  std::vector<Entry>& entries = by_lid_[lid];
  if (entries.size() >= most_apart) {
    const auto same =
        std::ranges::find_if(entries, [&](const Entry& each) { return each.sw == sw && each.port == port; });
    if (same != entries.end()) {
      gone.since = same->since;
      entries.erase(same);
      --count_;
    }
  }
  entries.push_back(gone);
  ++count_;
}

void RecentEntries::forget_until(Instant then) {
  if (unknown_until_ <= then) unknown_until_ = Instant::min();
  for (auto& [lid, entries] : by_lid_)
    count_ -= std::erase_if(entries, [&](const Entry& each) { return each.until <= then; });
  std::erase_if(by_lid_, [](const auto& each) { return each.second.empty(); });
}

std::span<const RecentEntries::Entry> RecentEntries::of(Lid lid) const {
  const auto found = by_lid_.find(lid);
  if (found == by_lid_.end()) return {};
  return found->second;
}

Instant RecentEntries::since(Lid lid, NodeGuid sw) const {
  const auto entries = of(lid);
  const auto last =
      std::find_if(entries.rbegin(), entries.rend(), [&](const Entry& each) { return each.sw == sw; });
  return last == entries.rend() ? Instant::min() : last->succeeded;
}

}  // namespace heddle::routing
