// What becomes of a change that fails, is not wanted any more, or loses its links.

#include <fmt/format.h>

#include <algorithm>

#include "regulation/governor_impl.h"

namespace heddle::regulation {

void Governor::Impl::step_failed(const std::string& why, const std::vector<LinkRef>& links) {
  step_.reset();
  if (stage == Stage::Mending) {
    trouble = fmt::format("writing tables over all links that are on: {}; next try in {} s", why,
                          seconds(options.retry_after));
    report(ReportKind::Failed, {}, trouble);
    deadline_ = now_ + options.retry_after;
    return;
  }
  if (retries_ < options.retries) {
    ++retries_;
    switch (stage) {
      case Stage::Writing:
        if (!by_planes()) return write(std::nullopt, Writing::Staged);
        return write(to_plane_, Writing::Unused);
      case Stage::Migrating:
        return order_migration(settles_plane_ ? plane : to_plane_);
      case Stage::Rewriting:
        return write((to_plane_ + 1) % 2, Writing::Unused);
      case Stage::Closing:
        return close_ports();
      default:
        return;
    }
  }
  if (stage == Stage::Closing) {
    report(ReportKind::Failed, links, fmt::format("turning links off: {}; they are brought back", why));
    std::vector<LinkRef> failed = links;
    if (failed.empty()) {
      for (const LinkRecord& link : records) {
        if (link.state == LinkState::Closing) failed.push_back(link.ref);
      }
    }
    return ports_closed(failed);
  }
  if (settles_plane_) {
    // Nothing is wrong with the tables: changes go on in stages.
    report(ReportKind::Failed, {},
           fmt::format("moving all traffic to plane {}: {}; tables are written in stages", plane, why));
    settles_plane_ = false;
    return finish("");
  }
  report(ReportKind::Failed, {}, fmt::format("{}: {}", to_string(stage), why));
  if (stage == Stage::Migrating) plane_is_certain_ = false;
  takes_from_ = now_ + options.retry_after;
  mend(why);
}

void Governor::Impl::call_off(const std::string& why) {
  if (!change_ || stage == Stage::Closing) return;
  // Stages that take ways away wait for packets under way; going back to all links takes none away.
  if (stage == Stage::Writing && !by_planes()) return mend(why);
  if (stage != Stage::Draining) {
    called_off_ = why;
    return;
  }
  forget_step();
  std::vector<LinkRef> kept;
  for (LinkRecord& link : records) {
    if (link.state != LinkState::Draining) continue;
    move(link, LinkState::Ready);
    link.reason = why;
    kept.push_back(link.ref);
  }
  report(ReportKind::CalledOff, kept, why);
  finish(why);
}

void Governor::Impl::call_off_for_load(const std::string& why) {
  forget_look();
  const auto yields = [this](const LinkRecord& link) {
    const bool leaves = link.state == LinkState::Leaving || link.state == LinkState::Draining;
    return leaves && !link.wanted && wish(link.ref) != Wish::Off;
  };
  if (std::ranges::any_of(records, yields)) call_off(why);
}

/// All traffic is moved to the plane where it is said to be, before anything relies on that.
void Governor::Impl::handle(const MovementChanged& event) {
  if (stage != Stage::Idle || event.movement == options.movement || options.planes != 2) return;
  options.movement = event.movement;
  plane_is_certain_ = false;
  if (event.movement == Movement::Staged || !network) return;
  settles_plane_ = true;
  retries_ = 0;
  order_migration(plane);
}

/// What leaves stays after all, and the tables of all planes are written in stages over all that is on.
void Governor::Impl::mend(const std::string& why) {
  drop_change(why);
  stage = Stage::Mending;
  retries_ = 0;
  order_mend();
}

void Governor::Impl::order_mend() {
  target_ = confirmed;
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    LinkRecord& link = records[i];
    if (is_on(link)) {
      if (link.state != LinkState::Active) move(link, LinkState::Joining);
      target_.insert(LinkIndex{i});
    } else {
      target_.erase(LinkIndex{i});
    }
  }
  write(std::nullopt, Writing::Staged);
}

void Governor::Impl::forget_step() {
  if (step_) actions_.emplace_back(Cancel{*step_});
  step_.reset();
  deadline_.reset();
}

/// Ends the change under way wherever it stands; what it had in hand is on, or is treated as off and brought
/// back. No order is outstanding afterwards, and the tables are as they may be.
void Governor::Impl::drop_change(const std::string& why) {
  if (stage == Stage::Migrating && step_) plane_is_certain_ = false;
  settles_plane_ = false;
  forget_step();
  std::vector<LinkRef> kept;
  std::vector<OffRecord> off;
  for (LinkRecord& link : records) {
    if (link.state == LinkState::Leaving || link.state == LinkState::Draining) kept.push_back(link.ref);
    if (link.state == LinkState::Closing) {
      move(link, LinkState::Off);
      link.off_since = now_;
      off.push_back(link.off);
      link.wanted = true;
      link.reason = "it is not certain that the port was set: " + why;
    } else if (link.state == LinkState::Leaving || link.state == LinkState::Draining ||
               link.state == LinkState::Joining) {
      move(link, LinkState::Ready);
    }
  }
  if (change_) record(Outcome{*change_, now_, std::move(off), {}, why});
  change_.reset();
  called_off_.reset();
  stage = Stage::Idle;
  if (!kept.empty()) report(ReportKind::CalledOff, std::move(kept), why);
}

}  // namespace heddle::regulation
