#include "check/table_block.h"

#include <algorithm>

namespace wire {

void TableBlock::sent(Request request, int process, const Bytes& content, Time now) {
  for (Pending& each : pending_) {
    if (each.request != request) continue;
    each.given_up = 0;  // asked again under the same number
    each.is_past = false;
    return;
  }
  bool is_repeated = false;
  for (Pending& each : pending_) {
    if (each.process != process || each.content != content || each.is_past) continue;
    each.is_repeated = is_repeated = true;
  }
  pending_.push_back({request, now, 0, content, process, {now, process}, is_repeated});
}

void TableBlock::answered(Request request, int process, Time asked, const Bytes& content, Time now) {
  const auto found = std::find_if(pending_.begin(), pending_.end(),
                                  [&](const Pending& each) { return each.request == request; });
  if (found == pending_.end()) {
    // It can have come only before one that was sent, and answered, when it could come no more.
    if (known_ && asked + timing_.flight <= last_asked_) return;
    // A late copy of a Set that was answered before: it has put back what it carried, and nobody knows when.
    if (!known_ || content != settled_)
      pending_.push_back({request, asked, now, content, -1, {asked, process}});
    return;
  }
  const bool has_come = found->has_come;
  pending_.erase(found);
  if (has_come) return;  // what was read told as much
  drop_pending_before(asked);
  settle(content, {asked, process});
  last_answer_ = now;
  last_asked_ = asked;
}

void TableBlock::timed_out(Request request, Time now) {
  for (Pending& each : pending_)
    if (each.request == request) each.given_up = now;
}

void TableBlock::read(Time asked, const Bytes& content) {
  if (known_ && last_answer_ > asked) return;  // may be older than what was confirmed meanwhile
  take_for_come(asked, content);
  const bool in_flight = std::any_of(pending_.begin(), pending_.end(), [&](const Pending& each) {
    return each.may_come() && over_at(each) > asked;
  });
  if (known_ && in_flight) return;
  if (!in_flight) {
    // The last one that was taken would be what is there.
    const bool is_as_before = known_ && content == settled_;
    disproves_ = is_as_before && std::none_of(pending_.begin(), pending_.end(), [&](const Pending& each) {
                   return !each.is_past && each.content == content;
                 });
    for (const Pending& each : pending_)
      if (!each.is_past) replaced_by_ = std::max(replaced_by_, over_at(each));
    is_as_before ? set_aside_before(asked) : drop_pending_before(asked);
  }
  settle(content, {asked, -1});
}

/// What is there can only be that Set's: it has come, and what it replaced is gone.
void TableBlock::take_for_come(Time asked, const Bytes& content) {
  if (!known_ || content == settled_) return;
  const auto by = [&](const Pending& each) { return each.content == content && each.may_come(); };
  const auto set = std::find_if(pending_.begin(), pending_.end(), by);
  if (set == pending_.end() || set->sent >= asked || std::count_if(set, pending_.end(), by) > 1) return;
  set->has_come = true;
  settle(content, set->written);
}

void TableBlock::forget(std::uint8_t filling, Time now) {
  pending_.clear();
  for (auto& entry : entries_) entry.clear();  // and what was under way by them
  settled_.fill(filling);
  settled_written_ = {now, -1};
  known_ = true;
  last_answer_ = now;
}

void TableBlock::drop_pending_before(Time asked) {
  const auto over = [&](const Pending& each) { return over_at(each) <= asked; };
  pending_.erase(std::remove_if(pending_.begin(), pending_.end(), over), pending_.end());
}

/// They have not come, and are too old to. An answer that comes first of all tells that one has, after that.
void TableBlock::set_aside_before(Time asked) {
  for (Pending& each : pending_)
    if (!each.has_come && over_at(each) <= asked) each.is_past = true;
}

/// From when on it cannot arrive any more.
Time TableBlock::over_at(const Pending& each) const {
  const Time alone = each.given_up != 0 ? each.given_up : each.sent + timing_.flight;
  if (timing_.late == 0 || !each.is_repeated) return alone;
  const Time handed_on = handed_on_->by(each.process, each.sent);
  return handed_on != 0 ? std::min(alone, handed_on + timing_.late) : alone;
}

void TableBlock::settle(const Bytes& content, Written written) {
  // Whether one that comes all the same came before this or after it, its answer would not tell.
  if (!known_ || content != settled_)
    pending_.erase(
        std::remove_if(pending_.begin(), pending_.end(), [](const Pending& each) { return each.is_past; }),
        pending_.end());
  settled_ = content;
  settled_written_ = written;
  known_ = true;
}

std::uint16_t TableBlock::value(const Bytes& content, std::size_t index) const {
  return width_ == 1 ? content[index]
                     : static_cast<std::uint16_t>(content[2 * index] << 8 | content[2 * index + 1]);
}

Written TableBlock::written(std::uint16_t entry, std::size_t index) const {
  const auto set = std::find_if(pending_.rbegin(), pending_.rend(), [&](const Pending& each) {
    return each.may_come() && value(each.content, index) == entry;
  });
  return set != pending_.rend() ? set->written : settled_written_;
}

const std::vector<std::size_t>& TableBlock::update(Time now) {
  changed_.clear();
  const Time replaced_at = replaced_by_ != 0 ? std::min(replaced_by_, now) : now;
  std::vector<Candidate> next;
  std::vector<std::uint16_t> present;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    std::vector<Candidate>& before = entries_[i];
    present.clear();
    if (known_) present.push_back(value(settled_, i));
    for (const Pending& each : pending_)
      if (each.may_come()) present.push_back(value(each.content, i));
    std::sort(present.begin(), present.end());
    present.erase(std::unique(present.begin(), present.end()), present.end());
    next.clear();
    for (const std::uint16_t each : present) {
      const auto old = std::find_if(before.begin(), before.end(), [&](const Candidate& candidate) {
        return candidate.value == each && candidate.until == forever;
      });
      next.push_back(old != before.end() ? *old : Candidate{each, now, written(each, i)});
    }
    for (Candidate each : before) {
      const bool stands =
          each.until == forever && std::binary_search(present.begin(), present.end(), each.value);
      if (disproves_ && !stands && each.until == forever) continue;
      each.until = std::min(each.until, replaced_at);
      if (!stands && each.until + timing_.lag > now) next.push_back(each);
    }
    const bool same =
        known_ == was_known_ && next.size() == before.size() &&
        std::equal(next.begin(), next.end(), before.begin(), [](const Candidate& a, const Candidate& b) {
          return a.value == b.value && a.since == b.since && a.until == b.until;
        });
    if (same) continue;
    before = next;
    changed_.push_back(i);
  }
  was_known_ = known_;
  disproves_ = false;
  replaced_by_ = 0;
  return changed_;
}

Time TableBlock::next_expiry() const {
  Time first = 0;
  for (const auto& entry : entries_) {
    for (const Candidate& each : entry) {
      if (each.until == forever) continue;
      const Time gone = each.until + timing_.lag;
      if (first == 0 || gone < first) first = gone;
    }
  }
  return first;
}

}  // namespace wire
