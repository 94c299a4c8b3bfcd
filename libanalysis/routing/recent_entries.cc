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
  const Instant began = since(lid, sw);
  by_lid_[lid].push_back({sw, port, began, now, asked});
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
