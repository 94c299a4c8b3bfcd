#include "check/table_block.h"

#include <algorithm>

namespace wire {
namespace {

/// What libumad2sim's server asks again by itself ends after four times 200 ms; a request whose program was
/// killed is never heard of, and cannot arrive later than this.
constexpr Time longest_flight = 1'500'000'000;

}  // namespace

void TableBlock::sent(Request request, int process, const Bytes& content, Time now) {
  for (Pending& each : pending_) {
    if (each.request != request) continue;
    each.given_up = 0;  // asked again under the same number
    return;
  }
  pending_.push_back({request, now, 0, content, process});
}

void TableBlock::answered(Request request, Time asked, const Bytes& content, Time now, Time lag) {
  const auto found = std::find_if(pending_.begin(), pending_.end(),
                                  [&](const Pending& each) { return each.request == request; });
  if (found == pending_.end()) {
    // A late copy of a Set that was answered before: it has put back what it carried, and nobody knows when.
    if (!known_ || content != settled_) pending_.push_back({request, asked, now, content, -1});
    return;
  }
  // The server hands on what one program sends in its order.
  for (Pending& each : pending_) {
    const bool repeated = each.process == found->process && each.content == found->content;
    if (repeated && each.sent < asked && each.overtaken == 0) each.overtaken = now;
  }
  pending_.erase(found);
  drop_pending_before(asked, now, lag);
  settle(content, now, lag);
  last_answer_ = now;
}

void TableBlock::timed_out(Request request, Time now) {
  for (Pending& each : pending_)
    if (each.request == request) each.given_up = now;
}

void TableBlock::read(Time asked, const Bytes& content, Time now, Time lag) {
  if (known_ && last_answer_ > asked) return;  // may be older than what was confirmed meanwhile
  const bool in_flight = std::any_of(pending_.begin(), pending_.end(),
                                     [&](const Pending& each) { return !is_over(each, asked); });
  if (known_ && in_flight) return;
  if (!in_flight) drop_pending_before(asked, now, lag);
  settle(content, now, lag);
}

void TableBlock::forget(std::uint8_t filling, Time now) {
  pending_.clear();
  past_.clear();
  settled_.fill(filling);
  known_ = true;
  last_answer_ = now;
}

void TableBlock::drop_pending_before(Time asked, Time now, Time lag) {
  const auto over = [&](const Pending& each) { return is_over(each, asked); };
  for (const Pending& each : pending_)
    if (lag > 0 && over(each)) past_.push_back({each.content, now, now + lag});
  pending_.erase(std::remove_if(pending_.begin(), pending_.end(), over), pending_.end());
}

/// Whether it cannot arrive after a request that was sent at `asked`.
bool TableBlock::is_over(const Pending& each, Time asked) const {
  if (late_ > 0 && each.overtaken != 0 && each.overtaken + late_ <= asked) return true;
  return each.given_up != 0 ? each.given_up <= asked : each.sent + longest_flight <= asked;
}

void TableBlock::settle(const Bytes& content, Time now, Time lag) {
  if (known_ && content == settled_) return;
  if (known_ && lag > 0) past_.push_back({settled_, now, now + lag});
  settled_ = content;
  known_ = true;
}

std::uint16_t TableBlock::value(const Bytes& content, std::size_t index) const {
  return width_ == 1 ? content[index]
                     : static_cast<std::uint16_t>(content[2 * index] << 8 | content[2 * index + 1]);
}

const std::vector<std::size_t>& TableBlock::update(Time now) {
  past_.erase(std::remove_if(past_.begin(), past_.end(), [&](const Past& each) { return each.until <= now; }),
              past_.end());
  changed_.clear();
  std::vector<Candidate> next;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const std::vector<Candidate>& before = entries_[i];
    next.clear();
    const auto add = [&](const Bytes& content, Time until) {
      const std::uint16_t wanted = value(content, i);
      const auto has = [&](const Candidate& each) { return each.value == wanted; };
      if (const auto there = std::find_if(next.begin(), next.end(), has); there != next.end()) {
        there->until = std::max(there->until, until);
        return;
      }
      const auto old = std::find_if(before.begin(), before.end(), has);
      next.push_back({wanted, old != before.end() ? old->since : now, until});
    };
    if (known_) add(settled_, forever);
    for (const Pending& each : pending_) add(each.content, forever);
    for (const Past& each : past_) add(each.content, each.replaced);
    const bool same =
        known_ == was_known_ && next.size() == before.size() &&
        std::equal(next.begin(), next.end(), before.begin(), [](const Candidate& a, const Candidate& b) {
          return a.value == b.value && a.until == b.until;
        });
    if (same) continue;
    entries_[i] = next;
    changed_.push_back(i);
  }
  was_known_ = known_;
  return changed_;
}

Time TableBlock::next_expiry() const {
  Time first = 0;
  for (const Past& each : past_)
    if (first == 0 || each.until < first) first = each.until;
  return first;
}

}  // namespace wire
