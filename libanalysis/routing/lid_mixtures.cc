#include "routing/lid_mixtures.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "routing/outward_stages.h"

namespace heddle::routing {

LidMixtures::LidMixtures(const UpdateOrder& order, const TableChange& change)
    : order_{order},
      change_{change},
      before_{&change.before},
      map_{order.graph},
      forwards_{hops_over(order.graph, order.up)},
      usable_{hops_over(order.graph, order.usable)},
      open_{order.open == nullptr ? usable_ : hops_over(order.graph, order.open)},
      targets_(std::size_t{order.graph.top_lid().raw()} + 1, nullptr),
      row_of_(targets_.size(), unchanged) {
  for (const Target& target : order.graph.targets()) {
    for (unsigned i = 0; i < target.lid_count(); ++i) targets_[std::size_t{target.base.raw()} + i] = &target;
  }
  for (std::size_t hop = 0; hop < usable_.size(); ++hop) {
    usable_[hop] &= forwards_[hop];
    open_[hop] = (open_[hop] & forwards_[hop]) | usable_[hop];
  }
  note(change.stages);
  if (change.besides.recent != nullptr)
    past_ = PastPackets(order.graph, map_, forwards_, change.before, *change.besides.recent);
}

std::vector<Lid> LidMixtures::lids() const {
  std::vector<Lid> result;
  for (std::size_t lid = 0; lid < row_of_.size(); ++lid) {
    if (row_of_[lid] != unchanged) result.emplace_back(static_cast<std::uint16_t>(lid));
  }
  return result;
}

void LidMixtures::add(Lid lid, Led led, Dependencies& into) const {
  const Target* const target = targets_[lid.raw()];
  if (target == nullptr) return;
  for (std::uint32_t s = 0; s < order_.graph.size(); ++s) {
    if (s == target->at.raw()) continue;
    const std::uint32_t old_hop = hop(*before_, s, lid);
    const std::uint32_t new_hop = hop(change_.after, s, lid);
    if (led != Led::After) follow(*target, lid, *before_, old_hop, into);
    if (led != Led::Before) follow(*target, lid, change_.after, new_hop, into);
    if (led != Led::Both || row_of_[lid.raw()] == unchanged) continue;
    const Written here = written(lid, s);
    // By the old entry, then by a new one: unless that waits until such packets are gone.
    if (old_hop != HopMap::none) {
      const Written there = written(lid, map_.peer(old_hop));
      const bool waits = there.waits || is_held_back(lid, old_hop);
      if (!waits || here.stage >= there.stage) follow(*target, lid, change_.after, old_hop, into);
    }
    // By the new entry, then by one that is still old.
    if (new_hop != HopMap::none && here.stage <= written(lid, map_.peer(new_hop)).stage)
      follow(*target, lid, *before_, new_hop, into);
  }
}

/// The new entry of the switch that `by` leads to would send packets back that come by it.
bool LidMixtures::is_held_back(Lid lid, std::uint32_t by) const {
  if (!change_.besides.returns_wait || !order_.mends.has_turns()) return false;
  const std::uint32_t at = map_.peer(by);
  const std::uint32_t wanted = hop(change_.after, at, lid);
  return wanted != HopMap::none && returns(by, wanted) && leads_there(*before_, lid, at);
}

void LidMixtures::follow(const Target& target, Lid lid, const ForwardingTables& onward, std::uint32_t by,
                         Dependencies& into) const {
  if (by == HopMap::none || map_.peer(by) == target.at.raw()) return;
  const std::uint32_t next = hop(onward, map_.peer(by), lid);
  if (next != HopMap::none) into.add(by, next, lid);
}

Stopover LidMixtures::stop_over(std::vector<Lid> lids, ForwardingTables between) {
  Stopover stopover;
  stopover.there = outward_stages(order_, *before_, between, lids).stages;
  stopover.onward = outward_stages(order_, between, change_.after, lids).stages;
  stopover.lids = std::move(lids);
  go_by(std::move(between), stopover);
  return stopover;
}

std::optional<Stopover> LidMixtures::clear(std::span<const Lid> lids) {
  Stopover stopover;
  std::vector<EntryWrite> writes;
  for (const Lid lid : lids) {
    for (std::uint32_t s = 0; s < order_.graph.size(); ++s) {
      const SwitchIndex sw{s};
      if (s == targets_[lid.raw()]->at.raw() || before_->port(sw, lid) == no_path ||
          leads_there(*before_, lid, s) || leads_out(lid, s))
        continue;
      writes.push_back({sw, lid, no_path, Change::Gains});
      if (stopover.lids.empty() || stopover.lids.back() != lid) stopover.lids.push_back(lid);
    }
  }
  if (writes.empty()) return std::nullopt;
  ForwardingTables between = *before_;
  (void)routing::apply(writes, between);
  stopover.there.push_back(std::move(writes));
  stopover.onward = outward_stages(order_, between, change_.after, stopover.lids).stages;
  go_by(std::move(between), stopover);
  return stopover;
}

/// By entries that do not change, to a port that leads to no switch of the graph.
bool LidMixtures::leads_out(Lid lid, std::uint32_t s) const {
  for (std::size_t hops = 0; hops <= order_.graph.size(); ++hops) {
    const PortNum out = before_->port(SwitchIndex{s}, lid);
    if (out == no_path || out != change_.after.port(SwitchIndex{s}, lid)) return false;
    const std::uint32_t by = map_.hop(s, out.raw());
    if (by == HopMap::none) return true;
    if (forwards_[by] == 0) return false;
    s = map_.peer(by);
  }
  return false;
}

void LidMixtures::go_by(ForwardingTables between, const Stopover& stopover) {
  for (const Lid lid : stopover.lids) {
    const auto row = written_.begin() + static_cast<std::ptrdiff_t>(row_of_[lid.raw()] * order_.graph.size());
    std::fill_n(row, order_.graph.size(), Written{});
  }
  note(stopover.onward);
  between_ = std::move(between);
  before_ = &between_;
}

std::vector<PastPackets::Wait> LidMixtures::past() const {
  std::vector<PastPackets::Wait> waits = past_.waits();
  std::stable_partition(waits.begin(), waits.end(),
                        [&](const auto& each) { return !returns(each.held, each.wanted); });
  return waits;
}

template <class F>
void LidMixtures::for_each_meeting(Lid lid, F&& f) const {
  const Target* const target = targets_[lid.raw()];
  if (target == nullptr || row_of_[lid.raw()] == unchanged) return;
  for (const std::uint32_t held : past_.hops(lid)) {
    const std::uint32_t at = map_.peer(held);
    if (at == target->at.raw() || written(lid, at).waits || is_held_back(lid, held)) continue;
    const std::uint32_t next = hop(change_.after, at, lid);
    if (next != HopMap::none) f(held, next);
  }
}

void LidMixtures::add_meetings(Lid lid, Dependencies& into) const {
  for_each_meeting(lid, [&](std::uint32_t held, std::uint32_t wanted) { into.add(held, wanted, lid); });
}

bool LidMixtures::is_past_foreign() const {
  if (std::any_of(past_.waits().begin(), past_.waits().end(),
                  [&](const auto& each) { return is_unusual(each.held, each.wanted); }))
    return true;
  bool unusual = false;
  for (const Lid lid : past_.lids())
    for_each_meeting(lid, [&](std::uint32_t held, std::uint32_t wanted) {
      unusual = unusual || is_unusual(held, wanted);
    });
  return unusual;
}

bool LidMixtures::is_whole(Lid lid, Over over, const ForwardingTables& tables) const {
  const std::vector<char>& allowed = over == Over::Usable ? usable_ : open_;
  const std::uint32_t end = targets_[lid.raw()]->at.raw();
  if (tables.port(SwitchIndex{end}, lid) != change_.after.port(SwitchIndex{end}, lid)) return false;
  for (std::uint32_t s = 0; s < order_.graph.size(); ++s) {
    if (hop(tables, s, lid) == HopMap::none && hop(change_.after, s, lid) == HopMap::none) continue;
    std::uint32_t at = s;
    for (std::size_t hops = 0; at != end; ++hops) {
      const std::uint32_t by = hop(tables, at, lid);
      if (by == HopMap::none || allowed[by] == 0 || hops > order_.graph.size()) return false;
      at = map_.peer(by);
    }
  }
  return true;
}

bool LidMixtures::leads_there(const ForwardingTables& tables, Lid lid, std::uint32_t s) const {
  const std::uint32_t end = targets_[lid.raw()]->at.raw();
  for (std::size_t hops = 0; s != end; ++hops) {
    const std::uint32_t by = hop(tables, s, lid);
    if (by == HopMap::none || hops > order_.graph.size()) return false;
    s = map_.peer(by);
  }
  return tables.port(SwitchIndex{end}, lid) != no_path;
}

bool LidMixtures::is_broken(Lid lid) const {
  if (order_.up == nullptr) return false;
  for (std::uint32_t s = 0; s < order_.graph.size(); ++s) {
    const std::uint32_t hop = map_.hop(s, before_->port(SwitchIndex{s}, lid).raw());
    if (hop != HopMap::none && forwards_[hop] == 0) return true;
  }
  return false;
}

bool LidMixtures::any_foreign(std::span<const Lid> lids) const {
  return any_foreign(*before_, lids) || any_foreign(change_.after, lids);
}

/// A switch after the other, whose row of the tables and its neighbours' then stay in the cache.
bool LidMixtures::any_foreign(const ForwardingTables& tables, std::span<const Lid> lids) const {
  for (std::uint32_t s = 0; s < order_.graph.size(); ++s) {
    for (const Lid lid : lids) {
      const Target* const target = targets_[lid.raw()];
      if (target == nullptr || s == target->at.raw()) continue;
      const std::uint32_t by = hop(tables, s, lid);
      if (by == HopMap::none || map_.peer(by) == target->at.raw()) continue;
      const std::uint32_t next = hop(tables, map_.peer(by), lid);
      if (next != HopMap::none && turns_up(by, next)) return true;
    }
  }
  return false;
}

/// From a way down into a way up that is no mend's.
bool LidMixtures::turns_up(std::uint32_t held, std::uint32_t wanted) const {
  const SwitchIndex from{map_.from(held)};
  const SwitchIndex over{map_.peer(held)};
  const SwitchIndex to{map_.peer(wanted)};
  return order_.ranks.above(from, over) && order_.ranks.above(to, over) &&
         !order_.mends.turns(from, over, to);
}

/// Mends count on nobody going back where he came from (turns.h).
bool LidMixtures::is_unusual(std::uint32_t held, std::uint32_t wanted) const {
  return turns_up(held, wanted) || (returns(held, wanted) && order_.mends.has_turns());
}

void LidMixtures::note(std::span<const std::vector<EntryWrite>> stages) {
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    for (const EntryWrite& write : stages[stage]) note(write, static_cast<std::uint16_t>(stage));
  }
}

void LidMixtures::note(const EntryWrite& write, std::uint16_t stage) {
  std::uint32_t& row = row_of_[write.lid.raw()];
  if (row == unchanged) {
    row = static_cast<std::uint32_t>(written_.size() / order_.graph.size());
    written_.resize(written_.size() + order_.graph.size());
  }
  written_[row * order_.graph.size() + write.sw.raw()] = {
      stage, write.change == Change::Loses || write.change == Change::Follows};
}

}  // namespace heddle::routing
