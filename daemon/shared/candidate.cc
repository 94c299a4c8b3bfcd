#include "shared/candidate.h"

#include <algorithm>
#include <utility>

namespace heddle::shared {
namespace {

using What = Operation::What;

}  // namespace

Beat Candidate::beat(Fit fit) {
  ++beats_;
  switch (standing_) {
    case Standing::Follows:
      return follow(fit);
    case Standing::Owns:
      return own();
    case Standing::Lost:
      return {.standing = Standing::Lost};
  }
  return {};
}

Result<void> Candidate::read(Beat& beat, const std::optional<Guard>& guard) {
  const std::string all = options_.prefix + "/";
  auto committed =
      store_.commit({guard,
                     {{.what = What::Read, .key = owner_key()},
                      {.what = What::Read, .key = all, .end = end_of(all), .since = seen_ + 1}}});
  if (!committed) return fail(committed.error());
  if (!committed->done || committed->read.size() != 2) {
    return fail(ErrorCode::Refused, "another daemon has taken the place");
  }
  seen_ = committed->revision;
  beat.owner = committed->read[0].empty() ? "" : committed->read[0].front().value;
  auto& changed = committed->read[1];
  beat.changed.insert(beat.changed.end(), std::make_move_iterator(changed.begin()),
                      std::make_move_iterator(changed.end()));
  return {};
}

Beat Candidate::follow(Fit fit) {
  Beat beat;
  if (auto done = read(beat, std::nullopt); !done) {
    beat.trouble = done.error().message;
    return beat;
  }
  if (fit == Fit::No) return beat;
  if (beat.owner.empty()) {
    take(beat);
  } else if (beats_ % 2 == 0) {
    contend();
  }
  return beat;
}

/// The owner sees that this key was written again. What becomes of it does not matter.
void Candidate::contend() {
  (void)store_.commit({std::nullopt, {{.what = What::Put, .key = contender_key(), .value = options_.name}}});
}

void Candidate::take(Beat& beat) {
  const BootTime before = lease_.now();
  const auto granted = store_.grant(options_.lease);
  if (!granted) {
    beat.trouble = granted.error().message;
    return;
  }
  auto made =
      store_.commit({Guard{owner_key(), 0},
                     {{.what = What::Put, .key = owner_key(), .value = options_.name, .lease = *granted}}});
  if (made && made->done) {
    created_ = made->revision;
    // What the one before stored last, perhaps after the place was seen to be free.
    if (auto done = read(beat, guard()); done) {
      held_ = *granted;
      standing_ = beat.standing = Standing::Owns;
      beat.taken = true;
      lease_.hold_until(deadline(before));
      return;
    }
  }
  if (!made) beat.trouble = made.error().message;
  (void)store_.revoke(*granted);
}

Beat Candidate::lose(std::string why) {
  lease_.end();
  standing_ = Standing::Lost;
  return {.standing = Standing::Lost, .trouble = std::move(why)};
}

Beat Candidate::own() {
  const BootTime before = lease_.now();
  if (!lease_.held()) return lose("the lease was not renewed in time");
  Beat beat{.standing = Standing::Owns, .owner = options_.name};
  auto renewed = store_.renew(held_);
  if (!renewed && renewed.error().code == ErrorCode::NotFound) return lose(renewed.error().message);
  auto still = renewed ? store_.commit({guard(), {{.what = What::Read, .key = contender_key()}}})
                       : Result<Committed>{fail(renewed.error())};
  if (still && !still->done) return lose("another daemon has taken the place");
  if (!still) {
    if (!lease_.held()) return lose("the lease was not renewed in time: " + still.error().message);
    beat.trouble = still.error().message;
    in_doubt_ = true;
    return beat;
  }
  in_doubt_ = false;
  // It may have ended meanwhile, and somebody may have acted on that.
  if (!lease_.held()) return lose("the lease was not renewed in time");
  lease_.hold_until(deadline(before));
  const Revision contended =
      still->read.empty() || still->read[0].empty() ? 0 : still->read[0].front().modified;
  beat.contended = std::exchange(contended_, contended) != contended && contended > created_;
  return beat;
}

void Candidate::resign() {
  lease_.end();
  if (held_ != no_lease) (void)store_.revoke(std::exchange(held_, no_lease));
  standing_ = Standing::Lost;
}

}  // namespace heddle::shared
