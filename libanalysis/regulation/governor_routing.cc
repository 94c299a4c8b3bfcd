// The routing side of the governor: stages 3 to 5 of the loop, one change at a time.

#include <fmt/format.h>

#include <algorithm>

#include "regulation/governor_impl.h"

namespace heddle::regulation {

using routing::LegalPaths;

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
    const LegalPaths paths(network->graph(), network->ranks(), &target_);
    Intent intent{next_change(), now_, {}, {}};
    std::vector<LinkRef> links;
    std::string reasons;
    for (Take& take : takes) {
      LinkRecord& link = at(take.link);
      link.off = {link.ref,   commanded_side(take.link, paths), link.full, take.mode, take.cause, now_,
                  take.reason};
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

/// The switch that stays nearer to a manager; without one, the upper. But what is all that could bring the
/// nearer one back is turned on from its other end.
PortRef Governor::Impl::commanded_side(LinkIndex link, const LegalPaths& paths) const {
  const Fabric& fabric = network->fabric();
  const Link& cable = fabric.link(link);
  const auto& graph = network->graph();
  const auto a = graph.find(cable.a.node);
  const auto b = graph.find(cable.b.node);
  if (a == routing::no_switch) return fabric.ref(cable.b);
  if (b == routing::no_switch) return fabric.ref(cable.a);
  const auto way = [&](routing::SwitchIndex s) {
    unsigned least = LegalPaths::far;
    for (const auto manager : network->manager_switches())
      least = std::min<unsigned>(least, paths.distance(manager, s));
    return least;
  };
  const bool a_first = way(a) != way(b) ? way(a) < way(b) : network->ranks().above(a, b);
  const auto near = a_first ? a : b;
  const auto far = a_first ? b : a;
  const auto has_hosts = [&](routing::SwitchIndex s) { return graph.hosts_at(s) != 0; };
  const bool is_far_in_need = hangs_by_one(far) && (has_hosts(far) || !has_hosts(near));
  const bool at_far = hangs_by_one(near) && !is_far_in_need && is_reached_without(near, far);
  return fabric.ref(a_first != at_far ? cable.a : cable.b);
}

/// Whether that switch is gone with one neighbour, and nothing that is off there can be turned on from its
/// other end.
bool Governor::Impl::hangs_by_one(routing::SwitchIndex s) const {
  const auto managers = network->manager_switches();
  if (std::find(managers.begin(), managers.end(), s) != managers.end()) return false;
  std::set<routing::SwitchIndex> neighbours;
  for (const routing::Hop& hop : network->graph().hops(s)) {
    if (target_.contains(hop.link)) neighbours.insert(hop.peer);
    const LinkRecord& link = records[hop.link.raw()];
    const bool is_going = link.state == LinkState::Leaving || link.state == LinkState::Draining ||
                          link.state == LinkState::Closing || link.state == LinkState::Off;
    if (is_going && !link.off.mode.on() && link.off.port.node != network->graph().guid(s)) return false;
  }
  return neighbours.size() == 1;
}

bool Governor::Impl::is_reached_without(routing::SwitchIndex gone, routing::SwitchIndex wanted) const {
  const auto managers = network->manager_switches();
  std::vector<routing::SwitchIndex> reached(managers.begin(), managers.end());
  std::set<routing::SwitchIndex> known(managers.begin(), managers.end());
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (const routing::Hop& hop : network->graph().hops(reached[i])) {
      if (!target_.contains(hop.link) || hop.peer == gone || !known.insert(hop.peer).second) continue;
      reached.push_back(hop.peer);
    }
  }
  return known.contains(wanted);
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
