// What happens to the fabric and to the daemon: faults, mastership, restarts.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "regulation/governor_impl.h"

namespace heddle::regulation {

/// Loses what was on; what was off is off.
void Governor::Impl::lose(LinkIndex link, const std::string& why) {
  LinkRecord& record = at(link);
  if (!is_on(record)) return;
  record.reason = why;
  record.mode = power::off_mode;
  unavoidable_.clear();
  move(record, LinkState::Lost);
}

void Governor::Impl::handle(const LinkLost& event) {
  const auto link = find(event.link);
  if (!link || !is_on(at(*link))) return;
  const std::string why = name(*link) + " is down";
  lose(*link, "down");
  report(ReportKind::Lost, {event.link}, why);
  repair(why);
}

void Governor::Impl::handle(const LinkFound& event) {
  const auto link = find(event.link);
  if (link && at(*link).state == LinkState::Off && !at(*link).wanted) {
    // Ordered on all the same: whoever writes tables knows it as closed. What an operator wants off goes
    // off from there.
    const std::string why = "it is up, though this daemon had turned it off";
    report(ReportKind::Back, {event.link}, why);
    // Unless it came by an earlier order of ours, after that was given up.
    at(*link).went_alone = at(*link).ordered_on.has_value();
    want(*link, why);
    at(*link).retry_at.reset();
    return;
  }
  if (!link || at(*link).state != LinkState::Lost) return;
  LinkRecord& record = at(*link);
  const auto known = memory.off.find(event.link);
  const bool reduced = known != memory.off.end() && known->second.mode.on();
  record.mode = reduced ? known->second.mode : record.full;
  move(record, LinkState::Ready);
  report(ReportKind::Back, {event.link}, name(*link) + " is up again");
  came_back_ = name(*link) + " is up again";
}

/// What was to go while others were gone, and parts hosts now that they are back: an operator who did not
/// force it off did not mean that.
void Governor::Impl::keep_what_is_needed(const std::string& why) {
  const auto goes = [this](const LinkRecord& link) {
    const bool leaves = link.state == LinkState::Leaving || link.state == LinkState::Draining ||
                        link.state == LinkState::Closing;
    const bool forced = wish(link.ref) == Wish::Off && off_order(link.ref).forced;
    return leaves && !forced && drain_of(link.ref) == nullptr;
  };
  if (std::ranges::none_of(records, goes)) return;
  // What is coming on may be up already, and be what they are back by.
  routing::LinkSet with =
      links_where([this](const LinkRecord& link) { return is_on(link) || link.state == LinkState::Opening; });
  routing::LinkSet without = with;
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    if (!goes(records[i])) continue;
    with.insert(LinkIndex{i});
    without.erase(LinkIndex{i});
  }
  if (pairs_apart(*network, without) > pairs_apart(*network, with)) mend(why);
}

void Governor::Impl::handle(const SwitchesLost& event) {
  if (!network) return;
  std::vector<NodeGuid> lost;
  for (const NodeGuid node : event.nodes) {
    if (lost_switches.insert(node).second) lost.push_back(node);
  }
  if (lost.empty()) return;
  const bool is_missed = std::ranges::count_if(lost, [this](NodeGuid node) { return lose_switch(node); }) > 0;
  if (is_missed) repair(fmt::format("switch {} is gone", name_of_switch(lost.front())));
}

bool Governor::Impl::lose_switch(NodeGuid guid) {
  std::vector<LinkRef> links;
  bool is_missed = !is_drained(guid);
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    LinkRecord& link = records[i];
    if (link.ref.a.node != guid && link.ref.b.node != guid) continue;
    peers_of_lost_[guid].push_back(link.ref.a.node == guid ? link.ref.b : link.ref.a);
    forget_clock(link);
    if (link.state == LinkState::Opening) {
      // Ordered with others, perhaps at the end that is out of sight: by itself, and at the other end.
      move(link, LinkState::Off);
      link.wanted = true;
    }
    if (!is_on(link)) continue;
    is_missed = is_missed || network->trunk_of(LinkIndex{i}) != Network::no_trunk;
    lose(LinkIndex{i}, "its switch is gone");
    links.push_back(link.ref);
  }
  report(ReportKind::Lost, std::move(links),
         fmt::format("switch {} is {}", name_of_switch(guid),
                     is_drained(guid) ? "drained, and out of sight" : "gone"));
  return is_missed;
}

std::string Governor::Impl::name_of_switch(NodeGuid guid) const {
  const NodeIndex node = network->fabric().find_node(guid);
  return node == no_node ? to_string(guid) : name(node);
}

void Governor::Impl::handle(const SwitchFound& event) {
  if (!network || lost_switches.erase(event.node) == 0) return;
  std::vector<LinkRef> links;
  for (LinkRecord& link : records) {
    if (link.ref.a.node != event.node && link.ref.b.node != event.node) continue;
    if (std::exchange(link.in_vain, false) && link.retry_at) link.retry_at = now_;
    if (link.state == LinkState::Opening && link.off.port.node == event.node) {
      // It was ordered at the other end, while this one, which is disabled, was out of sight.
      move(link, LinkState::Off);
      link.wanted = true;
    }
    if (link.state != LinkState::Lost) continue;
    if (lost_switches.contains(link.ref.a.node) || lost_switches.contains(link.ref.b.node)) continue;
    link.mode = link.full;
    move(link, LinkState::Ready);
    links.push_back(link.ref);
  }
  came_back_ = to_string(event.node) + " is there again";
  report(ReportKind::Back, std::move(links), *came_back_);
}

/// After a fault: tables over what is left, at once; and what is missing for the rules comes back.
void Governor::Impl::repair(const std::string& why) {
  if (is_master_) {
    mend(why);
  } else {
    drop_change(why);
  }
  want_ways_to_lost_switches(why);
  if (!rules_hold(on_links())) want_all(why);
}

void Governor::Impl::want_all(const std::string& why) {
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    if (wish(records[i].ref) != Wish::Off) want(LinkIndex{i}, why);
  }
}

/// Whoever writes the tables can take another order only while nothing is off (planned/lost_cables.h).
void Governor::Impl::handle(const PairsApart& event) {
  apart_in_force_ = event.pairs;
  const auto why = network ? parted() : std::nullopt;
  if (!why) return;
  if (stage != Stage::Idle && stage != Stage::Mending && is_master_) mend(*why);
  want_all(*why);
}

std::optional<std::string> Governor::Impl::parted() const {
  if (apart_in_force_ == 0 || !memory.drains.empty() || !forced().empty()) return std::nullopt;
  return fmt::format("{} pairs of switches with hosts have no path by the tables, over all that is up",
                     apart_in_force_);
}

CutOff Governor::Impl::cut_off() const {
  CutOff result;
  if (!network) return result;
  result.hosts = cut_off_hosts(*network, on_links());
  result.lost_switches.assign(lost_switches.begin(), lost_switches.end());
  for (const LinkRecord& link : records) {
    if (dead(link) && !link.in_vain && (link.wanted || link.state == LinkState::Opening) &&
        side_in_sight(link))
      ++result.coming;
  }
  return result;
}

void Governor::Impl::handle(const LinkTroubled& event) {
  troubles_[event.link] = event.what;
  refresh_exemptions();
  const auto link = find(event.link);
  report(ReportKind::Excluded, {event.link},
         fmt::format("{} is left on: {}", name(event.link), event.what.reason));
  if (!link || !network) return;
  const LinkState state = at(*link).state;
  if (state == LinkState::Leaving || state == LinkState::Draining) call_off(event.what.reason);
}

void Governor::Impl::handle(const LinkHealed& event) {
  if (troubles_.erase(event.link) == 0) return;
  refresh_exemptions();
  report(ReportKind::Back, {event.link}, name(event.link) + " is regulated again");
}

void Governor::Impl::handle(const MastershipLost&) {
  if (!is_master_) return;
  is_master_ = false;
  report(ReportKind::Lost, {}, "another subnet manager is master");
  if (!network) return;
  trouble.clear();  // tables are another one's
  drop_change("mastership is lost");
  if (options.after_loss == AfterLoss::BringBack) bring_back(Whose::Regulation, "mastership is lost");
}

void Governor::Impl::handle(const MastershipRegained&) {
  if (is_master_) return;
  is_master_ = true;
  report(ReportKind::Back, {}, "this subnet manager is master again");
  if (network) mend("mastership is regained");
}

/// What the journal says, against what the fabric shows: changes that were open are undone.
void Governor::Impl::handle(const Restarted& event) {
  memory = event.memory;
  // The calendar may have been set back meanwhile. What was done is past all the same.
  for (auto& [ref, off] : memory.off) off.since = std::min(off.since, now_);
  for (auto& [id, intent] : memory.open) {
    for (OffRecord& off : intent.off) off.since = std::min(off.since, now_);
  }
  if (memory.mode) mode = *memory.mode;
  refresh_wakes();
  plane = options.movement == Movement::Planes ? memory.plane % 2 : 0;
  const auto open_changes = memory.open;
  std::vector<LinkRef> back;
  std::vector<LinkRef> still_off;
  std::vector<LinkIndex> undo;
  const auto is_down = [&](const LinkRef& link) {
    return std::find(event.down.begin(), event.down.end(), link) != event.down.end();
  };
  refresh_exemptions();
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    LinkRecord& link = records[i];
    std::optional<OffRecord> of_change;
    bool comes = false;
    for (const auto& [id, intent] : open_changes) {
      for (const OffRecord& off : intent.off) {
        if (off.link == link.ref) of_change = off;
      }
      if (std::find(intent.on.begin(), intent.on.end(), link.ref) != intent.on.end()) comes = true;
    }
    const auto known = memory.off.find(link.ref);
    const bool down = is_down(link.ref);
    if (!of_change && !comes && known == memory.off.end()) {
      if (down) move(link, LinkState::Lost);
      continue;
    }
    if (known != memory.off.end()) link.off = known->second;
    if (of_change) link.off = *of_change;
    link.full = link.off.full;
    link.reason = link.off.reason;
    // The Set may be under way: it is out of use until that is past.
    const bool may_go_off = of_change && !of_change->mode.on();
    if (!down && !may_go_off && !(known != memory.off.end() && known->second.mode.on())) {
      if (known != memory.off.end()) back.push_back(link.ref);
      link.mode = link.full;
      if (!is_on(link)) move(link, LinkState::Ready);
      continue;
    }
    if (!down && !may_go_off) {
      link.mode = link.off.mode;
      continue;
    }
    link.mode = power::off_mode;
    link.off_since = link.off.since;
    move(link, LinkState::Off);
    link.went_alone = !of_change && !comes;
    if (of_change || comes) {
      undo.push_back(LinkIndex{i});
    } else {
      still_off.push_back(link.ref);
    }
  }
  for (const auto& [id, intent] : open_changes) {
    Outcome outcome{id, now_, {}, {}, "undone after a restart"};
    for (const LinkIndex i : undo) {
      const LinkRecord& link = at(i);
      const bool own = std::any_of(intent.off.begin(), intent.off.end(),
                                   [&](const OffRecord& off) { return off.link == link.ref; });
      if (own) outcome.off.push_back(link.off);
    }
    for (const OffRecord& off : intent.off) {
      // It may have been the last one to what is behind it, and gone off.
      if (find(off.link)) continue;
      outcome.off.push_back(off);
      if (wish(off.link) != Wish::Off) strangers_.insert(off.link);
    }
    record(std::move(outcome));
  }
  if (!back.empty()) record(Outcome{next_change(), now_, {}, back, "found on after a restart"});
  report(ReportKind::Recovered, still_off,
         fmt::format("after a restart: {} links off on purpose, {} found on, {} changes undone",
                     still_off.size(), back.size(), open_changes.size()));
  if (!network) return;
  // Wherever an interrupted write stopped, staged tables over all that is on end it.
  confirmed = on_links();
  find_unused();
  plane_is_certain_ = false;
  for (const LinkIndex i : undo) want(i, "an interrupted change is undone");
  forget_replaced();
  if (is_master_) mend("after a restart");
  if (mode != Mode::Enforce) bring_back(Whose::Regulation, "regulation does not enforce");
}

}  // namespace heddle::regulation
