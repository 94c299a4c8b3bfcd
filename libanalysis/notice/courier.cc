#include "notice/courier.h"

#include <algorithm>
#include <utility>

namespace heddle::notice {

void Courier::waits(bool anything, Instant now) {
  if (!anything) {
    waiting_since_.reset();
  } else if (!waiting_since_) {
    waiting_since_ = now;
  }
}

std::optional<Instant> Courier::next() const {
  if (under_way_) return std::nullopt;
  std::optional<Instant> when;
  if (waiting_since_) {
    when = *waiting_since_ + options_.spacing;
  } else if (repeats_ && options_.refresh) {
    when = last_ ? *last_ + *options_.refresh : Instant{};
  }
  if (when && not_before_) when = std::max(*when, *not_before_);
  return when;
}

void Courier::delivered(Instant now) {
  under_way_ = false;
  if (alone_ > 0) --alone_;
  failures_ = 0;
  why_.clear();
  last_ = now;
  not_before_ = now + options_.spacing;
}

void Courier::failed(std::string why, Instant now) {
  under_way_ = false;
  why_ = std::move(why);
  const FabricClock::duration most = options_.longest_retry;
  FabricClock::duration wait = options_.first_retry;
  for (unsigned i = 0; i < failures_ && wait < most; ++i) wait *= 2;
  ++failures_;
  not_before_ = now + std::max(std::min(wait, most), options_.spacing);
}

void Courier::refused(std::string why, std::size_t notices, Instant now) {
  under_way_ = false;
  if (notices > 1) {
    alone_ = notices;
  } else if (alone_ > 0) {
    --alone_;
  }
  ++failures_;
  why_ = std::move(why);
  not_before_ = now + options_.spacing;
}

}  // namespace heddle::notice
