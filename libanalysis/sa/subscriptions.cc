#include "sa/subscriptions.h"

#include <algorithm>

namespace heddle::sa {
namespace {

/// Any type, trap or producer (IBA 13.4.8.3).
constexpr std::uint16_t any_number = 0xffff;
constexpr std::uint32_t any_producer = 0xffffff;

bool same_wish(const InformInfo& a, const InformInfo& b) {
  return a.gid == b.gid && a.first == b.first && a.last == b.last && a.generic == b.generic &&
         a.type == b.type && a.trap == b.trap && a.producer == b.producer;
}

bool wants(const InformInfo& info, const mad::Notice& notice) {
  if (info.generic != notice.generic) return false;
  if (info.type != any_number && info.type != notice.type) return false;
  if (info.trap != any_number && info.trap != notice.trap) return false;
  if (info.producer != any_producer && info.producer != notice.producer) return false;
  // A GID takes the place of the LIDs; notices name LIDs only, so nothing is kept from such a subscriber.
  const bool all = info.gid != Gid{} || info.first == permissive_lid;
  return all || (notice.issuer >= info.first && notice.issuer <= std::max(info.first, info.last));
}

}  // namespace

std::uint16_t Subscriptions::set(const Subscriber& who, const InformInfo& info) {
  const auto same = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.who == who && same_wish(entry.info, info);
  });
  if (!info.subscribe) {
    if (same == entries_.end()) return status::request_invalid;
    entries_.erase(same);
    return mad::status::ok;
  }
  if (same != entries_.end()) return mad::status::ok;
  const auto count = std::count_if(entries_.begin(), entries_.end(),
                                   [&](const Entry& entry) { return entry.who.at.slid == who.at.slid; });
  if (static_cast<std::size_t>(count) >= per_port_) return status::no_resources;
  entries_.push_back({who, info});
  return mad::status::ok;
}

std::vector<Subscriber> Subscriptions::of(const mad::Notice& notice) const {
  std::vector<Subscriber> found;
  for (const Entry& entry : entries_) {
    if (wants(entry.info, notice) && std::find(found.begin(), found.end(), entry.who) == found.end()) {
      found.push_back(entry.who);
    }
  }
  return found;
}

void Subscriptions::forget(const Subscriber& who) {
  std::erase_if(entries_, [&](const Entry& entry) { return entry.who == who; });
}

}  // namespace heddle::sa
