// The routing side of the governor: stages 3 to 5 of the loop, one change at a time.

#include <fmt/format.h>

#include <algorithm>

#include "regulation/governor_impl.h"

namespace heddle::regulation {

using routing::LegalPaths;

namespace {

/// What is off for an operator, or only to be narrower, brings nothing back.
bool is_spare(const governing::Take& take) { return !take.mode.on() && take.cause == Cause::Regulation; }

}  // namespace

/// Begins what there is to begin, when nothing is under way.
void Governor::Impl::consider() {
  if (stage != Stage::Idle || !is_master_) return;
  std::vector<Take> takes = takes_from_ ? std::vector<Take>{} : operator_takes();
  const bool ready = std::any_of(records.begin(), records.end(),
                                 [](const LinkRecord& link) { return link.state == LinkState::Ready; });
  if (ready || !takes.empty()) begin(std::move(takes));
}

void Governor::Impl::begin(std::vector<Take> takes) {
  target_ = confirmed;
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    if (records[i].state != LinkState::Ready) continue;
    move(records[i], LinkState::Joining);
    target_.insert(LinkIndex{i});
  }
  for (const Take& take : takes) target_.erase(take.link);
  if (!takes.empty()) {
    const std::vector<PortRef> sides = commanded_sides(takes);
    auto side = sides.begin();
    Intent intent{next_change(), now_, {}, {}};
    std::vector<LinkRef> links;
    std::string reasons;
    for (Take& take : takes) {
      LinkRecord& link = at(take.link);
      link.off = {link.ref, *side++, link.full, take.mode, take.cause, now_, take.reason};
      link.reason = take.reason;
      move(link, LinkState::Leaving);
      intent.off.push_back(link.off);
      links.push_back(link.ref);
      reasons += fmt::format("{}{} {}: {}", reasons.empty() ? "" : "; ", name(take.link),
                             power::to_string(take.mode), take.reason);
    }
    change_ = intent.change;
    record(std::move(intent));
    report(ReportKind::Decided, std::move(links), std::move(reasons));
  }
  called_off_.reset();
  retries_ = 0;
  stage = Stage::Writing;
  to_plane_ = plane;
  if (!by_planes()) return write(std::nullopt, Writing::Staged);
  to_plane_ = (plane + 1) % 2;
  write(to_plane_, Writing::Unused);
}

void Governor::Impl::order_migration(unsigned to) {
  stage = Stage::Migrating;
  record(PlaneRecord{to});
  step_ = next_step();
  actions_.emplace_back(Migrate{*step_, to});
}

/// By link, the switch that stays nearer to a manager; without one, the upper. But where the others leave
/// more that can be brought back from its other end, that one.
std::vector<PortRef> Governor::Impl::commanded_sides(const std::vector<Take>& takes) const {
  const auto& graph = network->graph();
  const LegalPaths paths(graph, network->ranks(), &target_);
  const auto way = [&](routing::SwitchIndex s) {
    unsigned least = LegalPaths::far;
    for (const auto manager : network->manager_switches())
      least = std::min<unsigned>(least, paths.distance(manager, s));
    return least;
  };
  HangingParts hanging = hanging_parts();
  std::vector<PortRef> sides;
  for (const Take& take : takes) {
    const LinkRef& link = records[take.link.raw()].ref;
    const auto [a, b] = spare_of(link, link.a);
    const bool at_a =
        b == routing::no_switch ||
        (a != routing::no_switch && (way(a) != way(b) ? way(a) < way(b) : network->ranks().above(a, b)));
    sides.push_back(at_a ? link.a : link.b);
    if (is_spare(take)) hanging.cover(spare_of(link, sides.back()));
  }
  for (std::size_t i = 0; i < takes.size(); ++i) {
    if (!is_spare(takes[i])) continue;
    const LinkRef& link = records[takes[i].link.raw()].ref;
    const HangingParts::Spare near = spare_of(link, sides[i]);
    const HangingParts::Spare far{near.other, near.off_at};
    hanging.uncover(near);
    const bool at_far = hanging.worth(far) > hanging.worth(near);
    hanging.cover(at_far ? far : near);
    if (at_far) sides[i] = sides[i] == link.a ? link.b : link.a;
  }
  return sides;
}

/// With what is off, or on its way there.
HangingParts Governor::Impl::hanging_parts() const {
  HangingParts hanging(*network, target_);
  for (const LinkRecord& link : records) {
    const bool is_going = link.state == LinkState::Leaving || link.state == LinkState::Draining ||
                          link.state == LinkState::Closing || link.state == LinkState::Off;
    // What an operator wants off comes back for nobody.
    if (!is_going || link.off.mode.on() || wish(link.ref) == Wish::Off) continue;
    hanging.cover(spare_of(link.ref, link.off.port));
  }
  return hanging;
}

HangingParts::Spare Governor::Impl::spare_of(const LinkRef& link, const PortRef& off_at) const {
  const auto at = [this](const PortRef& port) {
    return network->graph().find(network->fabric().find_node(port.node));
  };
  return {at(off_at), at(off_at == link.a ? link.b : link.a)};
}

void Governor::Impl::write(std::optional<unsigned> to_plane, Writing writing) {
  step_ = next_step();
  actions_.emplace_back(WriteTables{*step_, to_plane, target_, writing});
}

void Governor::Impl::step_done() {
  step_.reset();
  retries_ = 0;
  switch (stage) {
    case Stage::Writing:
      if (!by_planes()) return tables_confirmed();
      return order_migration(to_plane_);
    case Stage::Migrating:
      if (settles_plane_) {
        settles_plane_ = false;
        plane_is_certain_ = true;
        return finish("");
      }
      // What is still on its way in the old plane must not meet half-written tables.
      plane = to_plane_;
      stage = Stage::Rewriting;
      deadline_ = now_ + std::max(options.drain, options.packet_life);
      return;
    case Stage::Rewriting:
      return tables_confirmed();
    case Stage::Mending:
      tables_confirmed();
      if (plane_is_certain_ || options.movement == Movement::Staged) return;
      settles_plane_ = true;
      return order_migration(plane);
    case Stage::Closing:
      return ports_closed({});
    case Stage::Idle:
    case Stage::Draining:
      return;
  }
}

void Governor::Impl::tables_confirmed() {
  confirmed = target_;
  trouble.clear();
  window_.clear();
  std::vector<LinkRef> joined;
  std::vector<LinkRef> left;
  for (LinkRecord& link : records) {
    if (link.state == LinkState::Joining) {
      move(link, LinkState::Active);
      joined.push_back(link.ref);
    } else if (link.state == LinkState::Leaving) {
      move(link, LinkState::Draining);
      left.push_back(link.ref);
    }
  }
  if (!joined.empty()) report(ReportKind::Confirmed, joined, "in the tables of all planes");
  if (left.empty()) return finish("");
  stage = Stage::Draining;
  deadline_ = now_ + std::max(options.drain, options.packet_life);
  if (called_off_) {
    const std::string why = *called_off_;
    call_off(why);
  }
}

void Governor::Impl::routing_tick() {
  if (!deadline_ || *deadline_ > now_) return;
  deadline_.reset();
  switch (stage) {
    case Stage::Rewriting:
      return write((to_plane_ + 1) % 2, Writing::Unused);
    case Stage::Draining:
      return look_then_close();
    case Stage::Mending:
      return order_mend();
    default:
      return;
  }
}

void Governor::Impl::close_ports() {
  SetPorts order{next_step(), {}};
  for (const LinkRecord& link : records) {
    if (link.state == LinkState::Closing) order.ports.push_back({link.ref, link.off.port, link.off.mode, {}});
  }
  step_ = order.step;
  actions_.emplace_back(std::move(order));
}

void Governor::Impl::ports_closed(const std::vector<LinkRef>& failed) {
  Outcome outcome{*change_, now_, {}, {}, ""};
  std::vector<LinkRef> done;
  std::size_t uncertain = 0;
  for (LinkRecord& link : records) {
    if (link.state != LinkState::Closing) continue;
    outcome.off.push_back(link.off);
    link.off_since = now_;
    if (std::find(failed.begin(), failed.end(), link.ref) != failed.end()) {
      move(link, LinkState::Off);
      forget_clock(link);
      link.wanted = true;
      link.reason = "it is not certain that the port was set";
      ++uncertain;
      continue;
    }
    count_transition(link);
    link.mode = link.off.mode;
    done.push_back(link.ref);
    if (link.mode.on()) {
      if (link.mode == link.full) {
        outcome.off.pop_back();
        outcome.on.push_back(link.ref);
      }
      move(link, LinkState::Ready);
    } else {
      move(link, LinkState::Off);
      forget_clock(link);
      link.went_alone = true;
    }
  }
  if (uncertain > 0) outcome.note = fmt::format("{} did not confirm", uncertain);
  change_.reset();
  record(std::move(outcome));
  if (!done.empty()) report(ReportKind::Confirmed, done, "as ordered");
  tell_unused(done);
  stage = Stage::Idle;
}

void Governor::Impl::finish(std::string note) {
  if (change_) record(Outcome{*change_, now_, {}, {}, std::move(note)});
  change_.reset();
  called_off_.reset();
  stage = Stage::Idle;
}

}  // namespace heddle::regulation
